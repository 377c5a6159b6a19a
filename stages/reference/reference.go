// Package reference is the stage that compares published numbers, such as a paper's, with an experiment's own.
package reference

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/tfexp/tfexp/stages/experiment"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages"
)

// Asked are the numbers of others of an experiment.
var Asked = stages.RegisterPlanMember("references", 50, func(x stages.PlanMemberInput) []Reference {
	part, _ := experiment.PartOf[references](x.Parts)
	return part
})

var _ = stages.Register(&stages.Stage{
	Name:   "reference",
	Reads:  []stages.Artifact{stages.Cells, stages.Tables},
	Writes: []stages.Artifact{stages.ExtraTables, stages.Sections},
	Files:  []string{References.File},
	Key: func(*stages.Run) ([]stages.KeyLine, error) {
		return []stages.KeyLine{{Label: "reference", Value: version}}, nil
	},
	Idle:   func(r *stages.Run) bool { return len(Asked.Of(r.Plan)) == 0 },
	Always: true,
	Run: func(_ context.Context, r *stages.Run) error {
		e, err := r.Results()
		if err != nil {
			return err
		}
		return write(e)
	},
})

const (
	// version is part of the key: raise it when the table is written differently.
	version = "1"
	// mostRows bounds the rows of the report; references.csv has all.
	mostRows = 200
)

// References exists only where the experiment has published numbers.
var References = table.Register[ReferencedRow]("references.csv", nil)

// ReferencedRow is a row of references.csv: a published number next to ours.
type ReferencedRow struct {
	Reference string  `csv:"reference"`
	Place     string  `csv:"at"`
	Metric    string  `csv:"metric"`
	Expected  float64 `csv:"expected"`
	// Cells is the number of cells that ours is the mean of, with its interval; NaN without any.
	Cells int     `csv:"cells"`
	Ours  float64 `csv:"ours"`
	Low   float64 `csv:"low"`
	High  float64 `csv:"high"`
	// Difference is Ours − Expected, and ErrorPct that in percent of Expected.
	Difference float64 `csv:"difference"`
	ErrorPct   float64 `csv:"error_pct"`
}

// write writes references.csv of an experiment.
func write(e *record.Experiment) error {
	rows, _ := all(e)
	return References.Replace(e.Dir, rows)
}

// all returns the numbers of all references next to the cells' own, and remarks on them.
func all(e *record.Experiment) (rows []ReferencedRow, said []string) {
	variants := analysis.Variants(e)
	for _, ref := range Asked.Of(&e.Plan) {
		own := beside(ref, variants)
		rows, said = append(rows, own...), append(said, sentences(ref, own)...)
	}
	return rows, said
}

var part = analysis.Register(analysis.Part{
	Name: "section-references", Title: "Beside published numbers", InReport: analysis.Verdicts + 100,
	Tell: func(e *record.Experiment) (s table.Section, err error) {
		rows, said := all(e)
		if len(rows) == 0 {
			return s, nil
		}
		t := table.New(3, "reference", "of", "metric", "theirs", "ours", "difference", "difference (%)", "cells")
		for _, r := range rows[:min(len(rows), mostRows)] {
			ours := "–"
			if r.Cells > 0 {
				ours = table.Interval(stats.Interval{Mean: r.Ours, Low: r.Low, High: r.High, N: r.Cells})
			}
			t.Add(r.Reference, r.Place, title(r.Metric), table.Number(r.Expected), ours, table.Number(r.Difference),
				table.Number(r.ErrorPct), strconv.Itoa(r.Cells))
		}
		if len(rows) > mostRows {
			said = append(said, fmt.Sprintf("The table has the first %d of %d numbers.", mostRows, len(rows)))
		}
		s.Report = []table.Item{{Plain: true, Sentences: said}, {Table: t, Folded: true}}
		return s, nil
	},
})

func title(metric string) string {
	if m, ok := measure.MetricByName(metric); ok {
		return m.Label()
	}
	return metric
}

// beside returns the numbers of a reference next to the numbers of the corresponding cells.
func beside(ref Reference, variants []analysis.Variant) []ReferencedRow {
	var out []ReferencedRow
	for _, row := range ref.Rows {
		for _, v := range row.Values {
			m, ok := measure.MetricByName(v.Metric)
			if !ok {
				continue
			}
			iv, place := stats.MeanInterval(values(row.At, variants, m), analysis.DefaultLevel), record.AxesLabel(row.At)
			if ref.RelativeTo != "" {
				base := stats.MeanInterval(values(of(row.At, ref.RelativeTo), variants, m), analysis.DefaultLevel).Mean
				iv.Mean, iv.Low, iv.High = iv.Mean/base, iv.Low/base, iv.High/base
				place += " relative to " + ref.RelativeTo
			}
			out = append(out, ReferencedRow{
				Reference: ref.Name, Place: place, Metric: m.Name, Expected: v.Value, Cells: iv.N, Ours: iv.Mean,
				Low: iv.Low, High: iv.High, Difference: iv.Mean - v.Value, ErrorPct: 100 * (iv.Mean/v.Value - 1),
			})
		}
	}
	return out
}

// of returns a place with another policy.
func of(at []record.Setting, policy string) []record.Setting {
	at = slices.DeleteFunc(slices.Clone(at), func(s record.Setting) bool { return s.Name == "policy" })
	return append(at, record.Setting{Name: "policy", Value: policy})
}

// values returns the values of a metric in the complete cells at some values of axes.
func values(at []record.Setting, variants []analysis.Variant, m measure.Metric) []float64 {
	var out []float64
	for i := range variants {
		v := &variants[i]
		if !v.Meets(at) {
			continue
		}
		for k := range v.Cells {
			c := &v.Cells[k]
			if ofReplicate(at, c.Replicate) {
				if x := m.Of(&c.Metrics); stats.Finite(x) {
					out = append(out, x)
				}
			}
		}
	}
	return out
}

// ofReplicate reports whether a place allows cells of a replicate.
func ofReplicate(at []record.Setting, replicate int) bool {
	for _, s := range at {
		if s.Name == "replicate" && s.Value != strconv.Itoa(replicate) {
			return false
		}
	}
	return true
}

// sentences describe the distance of our numbers from a reference, by metric.
func sentences(ref Reference, rows []ReferencedRow) []string {
	text := ref.Name + ":"
	if ref.Doc != "" {
		text += " " + ref.Doc
	}
	out := []string{text}
	for _, m := range measure.AllMetrics() {
		var relative stats.Mean
		largest, n, missing := 0.0, 0, 0
		for _, r := range rows {
			switch {
			case r.Metric != m.Name:
			case r.Cells == 0:
				missing++
			default:
				n++
				largest = max(largest, math.Abs(r.Difference))
				if stats.Finite(r.ErrorPct) {
					relative.Add(math.Abs(r.ErrorPct))
				}
			}
		}
		if n == 0 {
			continue
		}
		line := fmt.Sprintf("%s of %s: ours is %s%% off on average, by at most %s.", m.Label(), ref.Name,
			table.Number(relative.Value()), table.Number(largest))
		if missing > 0 {
			line += fmt.Sprintf(" %d of its numbers have no finished cell.", missing)
		}
		out = append(out, line)
	}
	return out
}
