// Package reference is the stage that compares published numbers with an experiment's results.
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

// Asked is the member of plan.json with the published numbers.
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
	// version is part of the key: increase it when the table changes.
	version = "1"
	// mostRows is the largest number of rows in the report; references.csv has all.
	mostRows = 200
)

// References is a table that exists only if the experiment has published numbers.
var References = table.Register[ReferencedRow]("references.csv", nil)

// ReferencedRow is a row of references.csv: a published number and the experiment's result.
type ReferencedRow struct {
	Reference string  `csv:"reference"`
	Place     string  `csv:"at"`
	Metric    string  `csv:"metric"`
	Expected  float64 `csv:"expected"`
	// Cells is the number of cells over which Ours is the mean. Ours and its interval are NaN if there are no cells.
	Cells int     `csv:"cells"`
	Ours  float64 `csv:"ours"`
	Low   float64 `csv:"low"`
	High  float64 `csv:"high"`
	// Difference is Ours − Expected. ErrorPct is Difference in percent of Expected.
	Difference float64 `csv:"difference"`
	ErrorPct   float64 `csv:"error_pct"`
}

// write writes references.csv of an experiment.
func write(e *record.Experiment) error {
	rows, _ := all(e)
	return References.Replace(e.Dir, rows)
}

// all returns the rows of all references, and remarks about them.
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

// beside returns the rows of a reference.
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

// of returns the same values of axes, with another policy.
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

// ofReplicate reports whether values of axes allow a replicate.
func ofReplicate(at []record.Setting, replicate int) bool {
	for _, s := range at {
		if s.Name == "replicate" && s.Value != strconv.Itoa(replicate) {
			return false
		}
	}
	return true
}

// sentences describes the difference between results and a reference, by metric.
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
		line := fmt.Sprintf("%s of %s: results differ from the published numbers by %s%% on average, and by at most %s.",
			m.Label(), ref.Name, table.Number(relative.Value()), table.Number(largest))
		if missing > 0 {
			line += fmt.Sprintf(" %d of its numbers have no finished cell.", missing)
		}
		out = append(out, line)
	}
	return out
}
