package reference

import (
	"math"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
)

// TestBeside: a number stands beside the mean over the cells that it is about; one of no finished cell has none.
func TestBeside(t *testing.T) {
	var cells []record.Cell
	for replicate := 1; replicate <= 3; replicate++ {
		c := record.Cell{CellRef: record.CellRef{Replicate: replicate}}
		c.Metrics.Set(measure.MeanJCT, float64(10*replicate))
		cells = append(cells, c)
	}
	variants := []analysis.Variant{
		{Policy: "fcfs", Hardware: "h", Axes: []record.Setting{{Name: "servers", Value: "1"}}, Cells: cells},
		{Policy: "fcfs", Hardware: "h", Axes: []record.Setting{{Name: "servers", Value: "2"}}},
		{Policy: "fcfs", Hardware: "other", Cells: cells[:1]},
	}
	row := func(value float64, at ...string) record.ReferenceRow {
		r := record.ReferenceRow{Values: []record.ReferenceValue{{Metric: "mean_jct_s", Value: value}}}
		for _, s := range at {
			name, value, _ := strings.Cut(s, "=")
			r.At = append(r.At, record.Setting{Name: name, Value: value})
		}
		return r
	}
	rows := beside(record.Reference{Name: "paper", Rows: []record.ReferenceRow{
		row(25, "servers=1", "hardware=h"), row(40, "servers=1", "hardware=h", "replicate=3"), row(7, "servers=2",
			"hardware=h"),
		row(12.5),
	}}, variants)
	want := []struct {
		cells                 int
		ours, difference, pct float64
	}{{3, 20, -5, -20}, {1, 30, -10, -25}, {0, math.NaN(), math.NaN(), math.NaN()}, {4, 17.5, 5, 40}}
	same := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 || math.IsNaN(a) && math.IsNaN(b) }
	for i, w := range want {
		r := rows[i]
		if r.Cells != w.cells || !same(r.Ours, w.ours) || !same(r.Difference, w.difference) || !same(r.ErrorPct,
			w.pct) {
			t.Errorf("row %d: %+v, want %+v", i, r, w)
		}
	}
	half := append(variants, analysis.Variant{Policy: "sjf", Hardware: "h", Axes: variants[0].Axes, Cells: cells[:1]})
	relative := beside(record.Reference{RelativeTo: "fcfs", Rows: []record.ReferenceRow{
		row(0.4, "servers=1", "hardware=h", "policy=sjf"),
	}}, half)
	if r := relative[0]; !same(r.Ours, 0.5) || !same(r.Difference, 0.1) || r.Cells != 1 {
		t.Errorf("relative to fcfs: %+v, want 10 of 20, which is 0.1 above", r)
	}
	said := strings.Join(sentences(record.Reference{Name: "paper"}, rows), " ")
	if !strings.Contains(said, "28.3% off on average, by at most 10.") || !strings.Contains(said,
		"1 of its numbers have no finished cell") {
		t.Errorf("sentences: %s", said)
	}
}
