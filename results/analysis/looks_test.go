package analysis

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
)

// The intervals of an unfinished run have the level of an unplanned look, with and without planned looks. At a planned
// look and at the end, they have that look's level. If all of a fixed number of replicates are there, they have the
// whole error.
func TestIntervalsOfLooks(t *testing.T) {
	const most, have = 12, 6
	looks, more := stats.Looks(most), []int{have, most}
	look := func(looks []int, planned, pairs int, level float64) float64 {
		return stats.LookAt(looks, planned, pairs, 0.95).Level(level)
	}
	unplanned := look(looks, most, have, 1-0.05*interim)
	for name, c := range map[string]struct {
		looks           []int
		planned, pairs  int
		missing, beyond bool // missing: cells of the plan that are missing; beyond: replicates after the plan
		level           float64
	}{
		"unfinished":                    {pairs: have, missing: true, level: unplanned},
		"unfinished, with looks":        {looks: looks, pairs: have, missing: true, level: unplanned},
		"at a look":                     {looks: looks, pairs: have, beyond: true, level: look(looks, most, have, 0.95)},
		"the last look":                 {looks: looks, pairs: most, level: look(looks, most, most, 0.95)},
		"a fixed number":                {pairs: most, level: 0.95},
		"replicates were added":         {looks: more, planned: have, pairs: most, level: look(more, have, most, 0.95)},
		"replicates are being added":    {looks: more, planned: have, pairs: 8, missing: true, level: look(looks, most, 8, 1-0.05*interim)},
		"a look before they were added": {looks: more, planned: have, pairs: have, beyond: true, level: 0.95},
	} {
		e := alikePolicies(rand.New(rand.NewPCG(1, 2)), drawnMetrics[0], 2, most, 0)
		e.Plan.Replicates = most
		e.Plan.Compares[0].Looks, e.Plan.Compares[0].Planned = c.looks, c.planned
		var b, o []float64
		var cells []record.Cell
		for _, cell := range e.Cells {
			if cell.Replicate > c.pairs {
				if c.missing {
					e.Missing = append(e.Missing, cell.CellRef)
				}
				continue
			}
			cells = append(cells, cell)
			if v := drawnMetrics[0].metric.Of(&cell.Metrics); cell.Policy == "p0" {
				b = append(b, v)
			} else {
				o = append(o, v)
			}
		}
		if e.Cells = cells; c.beyond {
			e.Plan.Cells = nil
			for _, cell := range cells {
				e.Plan.Cells = append(e.Plan.Cells, cell.CellRef)
			}
		}
		rows, err := Comparisons(e)
		if err != nil || len(rows) != 1 {
			t.Fatal(len(rows), err)
		}
		want := stats.ComparePairs(b, o, c.level)
		if r := rows[0]; r.Pairs != c.pairs || math.Abs(r.DifferenceLow-want.DifferenceLow) > 1e-9 || math.Abs(r.DifferenceHigh-want.DifferenceHigh) > 1e-9 {
			t.Errorf("%s: %d pairs, %g to %g; want %d, %g to %g", name, r.Pairs, r.DifferenceLow, r.DifferenceHigh, c.pairs,
				want.DifferenceLow, want.DifferenceHigh)
		}
	}
}

// Runs with equal results are significant from some number on. If that number is enough for a single look but not for
// this look, the answer must not say that it is enough.
func TestAlikeRunsNeedMoreThanThereAre(t *testing.T) {
	for pairs, want := range map[int]int{4: 6, 6: 12} {
		r := record.ComparisonRow{Pairs: pairs, Method: stats.SignFlips, Level: 0.95}
		if n, least := lacks(&r); n != want || !least {
			t.Errorf("of %d runs: %d, %v", pairs, n, least)
		}
	}
}
