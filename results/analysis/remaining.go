package analysis

import (
	"math"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
)

// RemainingSummary is how good the predictions of a model were after a part of the
// runs; Part is 0 for all parts together.
type RemainingSummary struct {
	Model   string
	Part    float64
	Runs    int     // that reached their target; with Part 0, predictions
	MeanAbs float64 // of the relative errors, in percent
	Covered float64 // part of the runs that fell inside the interval
	Level   float64 // of the interval
}

// Remaining summarises remaining.csv by model and part, in the order of the file;
// for each model, all parts come first.
func Remaining(rows []record.RemainingRow) []RemainingSummary {
	var models []string
	parts := []float64{0}
	for _, r := range rows {
		models, parts = include(models, r.Model), include(parts, r.Part)
	}
	var out []RemainingSummary
	for _, m := range models {
		for _, p := range parts {
			if s := remainingOf(rows, m, p); s.Runs > 0 {
				out = append(out, s)
			}
		}
	}
	return out
}

func remainingOf(rows []record.RemainingRow, model string, part float64) RemainingSummary {
	s := RemainingSummary{Model: model, Part: part}
	for _, r := range rows {
		if r.Model != model || part != 0 && r.Part != part || !stats.Finite(r.ErrorPct) {
			continue
		}
		s.Runs++
		s.Level = r.Level
		s.MeanAbs += math.Abs(r.ErrorPct)
		if r.Covered {
			s.Covered++
		}
	}
	s.MeanAbs /= float64(s.Runs)
	s.Covered /= float64(s.Runs)
	return s
}

// Unreached are the jobs that ended without their target loss: a row of each.
func Unreached(rows []record.RemainingRow) []record.RemainingRow {
	type id struct{ cell, job string }
	seen := map[id]bool{}
	var out []record.RemainingRow
	for _, r := range rows {
		if at := (id{r.Cell, r.Job}); !r.Reached && !seen[at] {
			seen[at] = true
			out = append(out, r)
		}
	}
	return out
}

// include adds a value to a list that does not have it.
func include[T comparable](list []T, v T) []T {
	for _, x := range list {
		if x == v {
			return list
		}
	}
	return append(list, v)
}
