package decode

import (
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// compareArgs are the arguments of a compare block.
//
// Compares a baseline with other values of the same axis, paired by replicate: a policy with all other policies, for
// example. Without any compare block, mean JCT, mean waiting time and makespan are compared with the first policy. A
// cell in which nothing is drawn at random, such as the replay of a log, counts once, whatever the number of
// replicates: its difference is stated without an interval. The metrics are {metrics}.
//
//	compare "mean_jct" {
//	  baseline = policy.fcfs
//	  metrics  = ["p95_jct", "makespan"]
//	}
//
//	compare "mean_waiting" {
//	  baseline = policy.fcfs
//	  by       = "class"
//	}
//
//	compare "mean_jct" {
//	  baseline = { policy = policy.fcfs, hardware = hardware.here }
//	}
type compareArgs struct {
	// The baseline: a policy, a hardware or a workload; or values of axes by name, such as `{ sigma = 0 }`. `policy`,
	// `hardware` and `workload` are axes too. The baseline is compared with all variants that differ from it in these
	// axes, and in no others. With several, all other combinations of them are compared with this one; all other axes
	// are alike on both sides.
	//
	//	baseline = policy.fcfs
	Baseline []schema.Setting `arg:"baseline,required" type:"baseline"`
	// More metrics to compare in the same way.
	//
	//	metrics = ["p95_jct", "makespan"]
	Metrics []string `arg:"metrics"`
	// Compares within each group of jobs: {groupings}. Only for {grouped}.
	//
	// Default: all jobs together.
	//
	//	by = "class"
	By string `arg:"by"`
	// The length of the parts of a log that a block bootstrap draws, to give a replay an interval. It says how much the
	// answer depends on which days the log happens to have, if days are independent; a day or a week is usual. A log of
	// fewer than ten stretches has none. Only for means over jobs: {means}.
	//
	// Default: no interval.
	//
	//	block = "24h"
	Block time.Duration `arg:"block,positive"`
	// The level of the confidence interval.
	//
	//	level = 0.99
	Level float64 `arg:"level" default:"0.95" min:"0.5" max:"0.9999"`
}

func compareBlock() *schema.Block {
	b := schema.BlockFor[compareArgs](schema.Block{
		Name: "compare", Label: "metric: a column of metrics.csv, with or without its `_s`", Offered: metricLabels(),
	})
	schema.Find(b.Args, "by").Allowed = groupings()
	return b.ReplaceWords("{metrics}", listed(language.Metrics()), "{groupings}", groupingsDoc(), "{grouped}",
		listed(Grouped()),
		"{means}", listed(OverJobs()))
}

// baselineAt reports whether some cell has the values of axes that a baseline names. If not, it reports the missing
// axis or value.
func (d *Decoder) baselineAt(a *eval.Args, at []schema.Setting, cells []experiment.Cell) bool {
	for _, s := range at {
		var values, axes []string
		for _, c := range cells {
			for _, axis := range c.Settings() {
				axes = include(axes, axis.Name)
				if axis.Name == s.Name {
					values = include(values, axis.Value)
				}
			}
		}
		switch {
		case len(values) == 0:
			d.Suggest(a.At("baseline"), schema.Nearest(s.Name, axes), fmt.Sprintf("Unknown axis %q", s.Name),
				"No cell has an axis %q. The axes are %s.", s.Name, schema.AllOf(axes))
			a.OK = false
		case !slices.Contains(values, s.Value):
			a.Fail(a.At("baseline"), "Baseline that never runs", "The axis %q has no value %q, but %s.",
				s.Name, s.Value, schema.AllOf(values))
		}
	}
	return a.OK
}

// include appends a text to a list, unless the list has it.
func include(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// compares decodes the compare blocks. It returns one comparison for each metric of a block.
func (d *Decoder) compares(cells []experiment.Cell) []experiment.Compare {
	var list []experiment.Compare
	for _, n := range d.Root.All("compare") {
		var v compareArgs
		a := d.Decode(n, d.Global, &v)
		c := experiment.Compare{At: v.Baseline, Level: v.Level, By: v.By, Block: v.Block, Range: eval.RangeOf(n.Header)}
		var metrics []string
		if n.Label != "" { // a missing label has been reported already
			metrics = d.comparedMetrics(n, a, &v)
		}
		if !a.OK || len(metrics) == 0 || len(c.At) == 0 || !d.blockOfLog(a, cells) ||
			!d.Failed() && !d.baselineAt(a, c.At, cells) {
			continue
		}
		if len(c.At) == 1 && c.At[0].Name == "policy" {
			c.Baseline, c.At = c.At[0].Value, nil
		}
		for _, c.Metric = range metrics {
			if slices.ContainsFunc(list, func(o experiment.Compare) bool {
				return o.Metric == c.Metric && o.Baseline == c.Baseline && o.By == c.By && slices.Equal(o.At, c.At)
			}) {
				d.Errorf(n.Header, "Duplicate comparison", "%s is already compared with this baseline.", c.Metric)
				continue
			}
			list = append(list, c)
		}
	}
	return list
}

// comparedMetrics returns the columns that a compare block compares: its label and its metrics. It reports columns
// that cannot be compared with the block's other arguments.
func (d *Decoder) comparedMetrics(n *eval.Node, a *eval.Args, v *compareArgs) []string {
	var metrics []string
	names, at := []string{n.Label}, []hcl.Range{n.LabelAt}
	if more := v.Metrics; len(more) > 0 {
		names, at = append(names, more...), append(at, eval.ElementRanges(n.Attr("metrics").Expr, len(more))...)
	}
	for i, name := range names {
		metric := d.Metric(name, at[i])
		switch {
		case metric == "":
			a.OK = false
		case v.By != "" && !slices.Contains(Grouped(), metric):
			a.Fail(at[i], "Metric of all jobs", "%s is not available by %s; %s are.",
				metric, v.By, schema.AllOf(Grouped()))
		case v.Block > 0 && !slices.Contains(OverJobs(), metric):
			a.Fail(at[i], "Metric that cannot be resampled", "%s is not a mean over jobs; block is for %s.", metric,
				schema.AllOf(OverJobs()))
		default:
			metrics = append(metrics, metric)
		}
	}
	return metrics
}

// blockOfLog checks that a block bootstrap, if requested, has a log of jobs to resample.
func (d *Decoder) blockOfLog(a *eval.Args, cells []experiment.Cell) bool {
	if !a.IsSet("block") || d.Failed() {
		return true
	}
	if e := d.Root.First("experiment"); e != nil && eval.Get[string](d.EvalArgs(e, d.Global), "records") == "metrics" {
		a.Unread("{} resamples jobs, and records = \"metrics\" keeps none.", "block")
	}
	replays := func(c experiment.Cell) bool { return c.Workload.Trace != nil && len(c.Workload.Submits) == 0 }
	if !slices.ContainsFunc(cells, replays) {
		a.Unread("{} resamples a log, but no workload consists of a trace only: replicates give the interval.", "block")
	}
	return a.OK
}
