package main

import (
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/stages/plot"
)

// longestWait is a metric that only this test registers. It is computed from each job, not from sums.
var longestWait = measure.Register(measure.Metric{
	Rank: 1000, Name: "longest_wait_s", Title: "longest wait", Unit: "s",
	Doc: "the longest time for which a job held no resources", Shown: measure.Shown{Summary: 1000, Cells: 1000},
	EachJob: true,
	Compute: func(t *measure.Totals) float64 {
		longest := 0.0
		for o := range t.Outcomes() {
			longest = max(longest, o.Waiting)
		}
		return longest
	},
})

func init() {
	// bars is a kind of picture that only this test registers: a bar for each policy.
	plot.Register(plot.Kind{
		PictureKind: table.PictureKind{
			Rank: 1000, Name: "bars", Doc: "a bar for each policy", OnRequest: "which is there for a test",
			Args: []schema.Arg{{Name: "metric", Type: schema.String, DefaultDoc: "`mean_jct`"}},
		},
		Draw: func(d *plot.Data, a plot.Ask) ([]plot.Figure, error) {
			m, ok := measure.MetricByName(a.Metric)
			if !ok {
				m = measure.MeanJCT
			}
			var bars []float64
			for _, v := range d.Variants {
				bars = append(bars, v.Values(m)...)
			}
			return []plot.Figure{{
				Picture: plot.Picture{Name: "bars-" + m.Name, Kind: "bars", Title: "Bars of " + m.Title,
					Caption: "Bars, one a cell: " + m.Title + "."},
				Width: 200, Height: 100,
				Paint: func(c draw.Canvas) {
					for i, x := range bars {
						left := vg.Length(10 * i)
						c.FillPolygon(nil, []vg.Point{{X: left}, {X: left + 8}, {X: left + 8, Y: vg.Length(x)},
							{X: left, Y: vg.Length(x)}})
					}
				},
			}}, nil
		},
	})
}

const newMetricFile = `
experiment "waits" { replicates = 3 }

job "long" {
  builtin "mlp" {}
  epochs = 3
  runtime { epoch = exponential("10s") }
}

workload "w" {
  submit {
    job          = job.long
    count        = 6
    interarrival = exponential("10s")
  }
}

hardware "sim" {
  engine  = "simulated"
  threads = 1
}

policy "fcfs" { order = "fcfs" }
policy "las" {
  order   = "las"
  quantum = "5s"
}

compare "longest_wait" { baseline = policy.fcfs }

threshold "longest_wait" { max = "10h" }

plot "bars" { metric = "longest_wait" }
plot "metrics" { metric = "longest_wait" }
`

// A metric and a picture each need only one registered value. Then the language, its reference, the tables, the
// pictures and the report support them.
func TestNewMetricAndPicture(t *testing.T) {
	inHelp(t, "compare", "`longest_wait_s`")
	inHelp(t, "plot", "- `bars`: a bar for each policy")
	inHelp(t, "plot.metric", "`bars`: `mean_jct`")
	if m, ok := measure.MetricByName("longest_wait_s"); !ok || m.Label() != "longest wait (s)" {
		t.Errorf("the registered metric is %q", m.Label())
	}
	s := inSandbox(t, newMetricFile)
	contains(t, "the summary", s.run(), "longest wait")
	for name, texts := range map[string][]string{
		"metrics.csv":     {"," + longestWait.Name + ","},
		"comparisons.csv": {longestWait.Name + ",w,sim,fcfs,las,3,"},
		"report.html":     {"Bars, one a cell: longest wait.", "longest wait (", "longest wait of fcfs is "},
		"plots/bars-" + longestWait.Name + ".svg": {"<svg"},
	} {
		s.holds(name, texts...)
	}
}

// A metric that is computed from each job also has a value in a cell of 100,000 jobs. Without such a metric, the cell
// does not keep jobs that are over.
func TestNewMetricOfManyJobs(t *testing.T) {
	s := inSandbox(t, strings.NewReplacer("= 6\n", "= 100000\n", `"10s")`, `"1s")`, `"10h"`, `"10000h"`, "{ replicates = 3 }",
		"{\n  replicates = 1\n  records = \"metrics\"\n}", "  quantum = \"5s\"\n", "", `"las"`, `"sjf"`).Replace(newMetricFile))
	s.run()
	for _, row := range s.table("metrics.csv") {
		if v, err := strconv.ParseFloat(row[longestWait.Name], 64); err != nil || v < 1 {
			t.Errorf("the longest wait of %s is %q", row["policy"], row[longestWait.Name])
		}
	}
}
