package analysis

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
)

// Warnings about the quality of a comparison are shown next to it.
func TestQualityBesideVerdicts(t *testing.T) {
	build := func(change func(replicate int, c *record.Cell, candidate bool)) record.ComparisonRow {
		e := &record.Experiment{}
		e.Plan.Compares = []record.Compare{{Metric: "mean_slowdown", Baseline: "a", Level: 0.95}}
		for _, policy := range []string{"a", "b"} {
			for r := 1; r <= 10; r++ {
				value := 5 + 0.1*float64(r%3)
				if policy == "b" {
					value = 8 + 0.2*float64(r%4)
				}
				c := record.Cell{CellRef: record.CellRef{Cell: fmt.Sprint(policy, r), Policy: policy, Replicate: r},
					Metrics: MetricsOf(map[string]float64{"jobs": 2, "finished": 2, "mean_slowdown": value})}
				e.Plan.Cells = append(e.Plan.Cells, c.CellRef)
				if change(r, &c, policy == "b"); c.Cell != "" {
					e.Cells = append(e.Cells, c)
				}
			}
		}
		rows, err := Comparisons(e)
		if err != nil || len(rows) != 1 {
			t.Fatal(rows, err)
		}
		return rows[0]
	}
	for _, c := range []struct {
		want   string
		change func(replicate int, c *record.Cell, candidate bool)
	}{
		{"10 pairs, p", func(int, *record.Cell, bool) {}},
		{"7 pairs (3 of 10 dropped: different jobs finished)", func(r int, c *record.Cell, candidate bool) {
			if r <= 3 && candidate {
				c.Metrics.Set(measure.Finished, 1)
				c.Failures = []measure.Failure{{Job: "x"}}
			}
		}},
		{"8 pairs (2 not complete)", func(r int, c *record.Cell, candidate bool) {
			if r <= 2 && candidate {
				c.Cell = ""
			}
		}},
		{"10 pairs (1 disturbed by other programs; 2 with jobs that take no time, which are left out)",
			func(r int, c *record.Cell, candidate bool) {
				switch {
				case r == 4 && candidate:
					c.Warnings = []record.Warning{{Code: record.BusyMachine}}
				case r <= 2:
					c.Warnings = []record.Warning{{Code: record.NoLength}}
				}
			}},
		{"10 pairs (one differs from all others)", func(r int, c *record.Cell, candidate bool) {
			if r == 1 && candidate {
				c.Metrics.Set(measure.MeanSlowdown, 60)
			}
		}},
	} {
		row := build(c.change)
		if said := Comparison(record.Plan{}, row); !strings.Contains(said, c.want) {
			t.Errorf("%q, want %q", said, c.want)
		}
	}
	if one := build(func(int, *record.Cell, bool) {}); math.IsNaN(one.Skewness) || one.Missing != 0 {
		t.Errorf("%+v", one)
	}
}
