package reference

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/resultstest"
	"github.com/tfexp/tfexp/results/table"
)

// TestBeside checks that a published number is compared with the mean over its cells, and with nothing if no cell has
// finished.
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
	row := func(value float64, at ...string) Row {
		r := Row{Values: []Value{{Metric: "mean_jct_s", Value: value}}}
		for _, s := range at {
			name, value, _ := strings.Cut(s, "=")
			r.At = append(r.At, record.Setting{Name: name, Value: value})
		}
		return r
	}
	rows := beside(Reference{Name: "paper", Rows: []Row{
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
	relative := beside(Reference{RelativeTo: "fcfs", Rows: []Row{
		row(0.4, "servers=1", "hardware=h", "policy=sjf"),
	}}, half)
	if r := relative[0]; !same(r.Ours, 0.5) || !same(r.Difference, 0.1) || r.Cells != 1 {
		t.Errorf("relative to fcfs: %+v, want 10 of 20, which is 0.1 above", r)
	}
	wide := beside(Reference{RelativeTo: "sjf", Rows: []Row{row(2, "servers=1", "hardware=h", "policy=fcfs")}}, half)[0]
	if !same(wide.Ours, 2) || wide.Place != "servers=1 hardware=h policy=fcfs relative to sjf" || !same(wide.Low, rows[0].Low/10) ||
		!same(wide.High, rows[0].High/10) || !(wide.Low < 2 && 2 < wide.High) {
		t.Errorf("relative to sjf: %+v; without: %+v", wide, rows[0])
	}
	if strange := beside(Reference{Rows: []Row{{Values: []Value{{Metric: "beauty"}}}}}, half); strange != nil {
		t.Errorf("a metric that there is not: %+v", strange)
	}
	said := strings.Join(sentences(Reference{Name: "paper"}, rows), " ")
	if !strings.Contains(said, "28.3% on average, and by at most 10.") || !strings.Contains(said,
		"1 of its numbers have no finished cell") {
		t.Errorf("sentences: %s", said)
	}
	all := sentences(Reference{Name: "paper", Doc: "table 3"}, rows[:1])
	if len(all) != 2 || all[0] != "paper: table 3" || strings.Contains(all[1], "no finished cell") || !strings.Contains(all[1], "by 20.0% on average") {
		t.Errorf("of one number: %q", all)
	}
	if all := sentences(Reference{Name: "paper"}, rows[2:3]); len(all) != 1 || all[0] != "paper:" {
		t.Errorf("of none with a cell: %q", all)
	}
}

// The section has as many numbers as fit. Without a reference there is no section.
func TestRewrite(t *testing.T) {
	dir := resultstest.Small().Write(t)
	plan := func(refs []Reference) []table.Item {
		t.Helper()
		e, err := record.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		Asked.Set(&e.Plan, refs)
		raw, err := json.Marshal(e.Plan)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, record.PlanFile), raw, 0o644); err != nil {
			t.Fatal(err)
		}
		if e, err = record.Open(dir); err != nil {
			t.Fatal(err)
		}
		if err := write(e); err != nil {
			t.Fatal(err)
		}
		told, err := part.Tell(e)
		if err != nil {
			t.Fatal(err)
		}
		return told.Report
	}
	ref := Reference{Name: "paper"}
	add := func(n int, policy string) {
		for range n {
			ref.Rows = append(ref.Rows, Row{At: []record.Setting{{Name: "policy", Value: policy}},
				Values: []Value{{Metric: "mean_jct_s", Value: 4}}})
		}
	}
	add(mostRows-1, "fcfs")
	add(1, "unknown")
	all := plan([]Reference{ref})
	if len(all) != 2 || len(all[1].Table.Rows) != mostRows || strings.Contains(strings.Join(all[0].Sentences, " "), "The table has") {
		t.Fatalf("%+v", all)
	}
	row := all[1].Table.Rows[0]
	if row[0] != "paper" || row[1] != "policy=fcfs" || row[3] != "4" || row[4] == "–" || row[7] != "5" || row[2] != "mean JCT (s)" {
		t.Errorf("the first row is %q", row)
	}
	if row := all[1].Table.Rows[mostRows-1]; row[4] != "–" || row[7] != "0" {
		t.Errorf("the row without a cell is %q", row)
	}
	add(1, "fcfs")
	if all = plan([]Reference{ref}); len(all[1].Table.Rows) != mostRows ||
		!strings.Contains(strings.Join(all[0].Sentences, " "), "The table has the first 200 of 201 numbers.") {
		t.Errorf("%d rows, %q", len(all[1].Table.Rows), all[0].Sentences)
	}
	if all := plan(nil); len(all) != 0 {
		t.Errorf("without a reference: %+v", all)
	}
	if got := title("beauty"); got != "beauty" {
		t.Errorf("a metric that there is not is called %s", got)
	}
}
