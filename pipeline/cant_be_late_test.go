package pipeline_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	_ "github.com/tfexp/tfexp/stages/all"
	"github.com/tfexp/tfexp/stages/reference"
)

// TestCantBeLate runs the shipped experiment, in which the scheduler rents servers in the recorded windows. Each of
// the 120 costs equals the published cost to a tenth of a cent.
func TestCantBeLate(t *testing.T) {
	spec, diags := decode.File(filepath.Join("..", "experiments", "papers", "cant_be_late.hcl"),
		decode.Options{Host: experiments.HostFacts{Threads: 2, Cores: 2}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	spec.Plots = nil
	out := t.TempDir()
	p, err := pipeline.New(spec, pipeline.Options{Out: out})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(out, "cant_be_late")
	e, err := record.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := reference.References.Read(dir)
	if err != nil || len(rows) != 120 {
		t.Fatalf("%d rows, want 120; %v", len(rows), err)
	}
	for _, r := range rows {
		if r.Cells != 1 || !(math.Abs(r.Difference) <= 1e-3) {
			t.Errorf("%s costs %.4f $, want %.4f", r.Place, r.Ours, r.Expected)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, record.ReportFile))
	if err != nil || !strings.Contains(string(text), "Costs of the authors") {
		t.Errorf("the section of the report: %s %v", text, err)
	}
	cost := map[string]float64{}
	for i := range e.Cells {
		c := &e.Cells[i]
		cost[c.Policy+" "+c.Axes[0].Value] += measure.Cost.Of(&c.Metrics)
		if late := measure.MissedDeadlines.Of(&c.Metrics); late != 0 {
			t.Errorf("%s: %g deadlines are missed", c.Cell, late)
		}
	}
	for _, deadline := range []string{"52", "70"} {
		if a, b := cost["patient "+deadline], cost["uniform_progress "+deadline]; !(a < b) {
			t.Errorf("deadline of %s h: patient costs %.2f $, uniform progress %.2f $", deadline, a/20, b/20)
		}
	}
}
