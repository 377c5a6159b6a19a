package decode

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// EstimateError is the threshold of the mean absolute error_pct in estimates.csv.
const EstimateError = "estimate_error_pct"

// thresholdArgs are the arguments of a threshold block.
//
// A bound on the mean of a metric over the replicates, for every policy, workload and hardware. If no cell has failed
// and a threshold is missed, `tfexp run` ends with exit status 5. `estimate_error_pct` is the mean absolute error of
// the estimates of `model` (not of `models`), in percent of the actual run times.
//
//	threshold "mean_jct" {
//	  policy = policy.rr
//	  max    = "12s"
//	}
//
//	threshold "estimate_error_pct" { max = 8 }
type thresholdArgs struct {
	// The policy to which the threshold applies.
	//
	// Default: all policies.
	//
	//	policy = policy.rr
	Policy string `arg:"policy" type:"policy"`
	// The largest allowed value: a duration if the metric is a time, else a number.
	//
	//	max = "12s"
	Max cty.Value `arg:"max" type:"bound"`
	// The smallest allowed value.
	//
	//	min = 0.8
	Min cty.Value `arg:"min" type:"bound"`
	// The largest allowed mean difference between real cells and their simulations, in percent.
	//
	//	fidelity_pct = 10
	FidelityPct *float64 `arg:"fidelity_pct" min:"0" max:"1000000"`
}

func thresholdBlock() *schema.Block {
	return schema.BlockFor[thresholdArgs](schema.Block{
		Name: "threshold", Label: "metric: a column of metrics.csv, with or without its `_s`; or `" + EstimateError + "`",
		Offered: append(metricLabels(), EstimateError),
	})
}

// thresholds decodes the threshold blocks.
func (d *Decoder) thresholds(cells []experiment.Cell) []experiment.Threshold {
	var list []experiment.Threshold
	for _, n := range d.Root.All("threshold") {
		var v thresholdArgs
		a := d.Decode(n, d.Global, &v)
		if n.Label == "" { // a missing label has been reported already
			continue
		}
		t := experiment.Threshold{Metric: n.Label, Range: eval.RangeOf(n.Header)}
		if t.Metric != EstimateError {
			if t.Metric = d.Metric(n.Label, n.LabelAt); t.Metric == "" {
				continue
			}
		} else {
			a.Unread("Estimates do not depend on the policy; {} is for metrics.", "policy", "fidelity_pct")
		}
		t.Min, t.Max = language.Bound(a, "min", t.Metric), language.Bound(a, "max", t.Metric)
		t.FidelityPct = v.FidelityPct
		t.Policy = d.PolicyThatRuns(a, "policy", cells)
		if t.FidelityPct != nil && a.OK && !slices.ContainsFunc(cells, func(c experiment.Cell) bool {
			return c.Hardware.Real() && (t.Policy == "" || c.Policy.Name == t.Policy)
		}) && !d.Failed() {
			a.Unread("{} compares real cells with their simulation, and all of these cells are simulated.", "fidelity_pct")
		}
		switch {
		case !a.OK || n.Broken:
		case a.Lacks("min") && a.Lacks("max") && a.Lacks("fidelity_pct"):
			a.Fail(n.Header, "Threshold without a bound", "%s needs max, min or fidelity_pct.", n.Title())
		case t.Min != nil && t.Max != nil && *t.Min > *t.Max:
			a.Fail(a.At("min"), "Contradicting arguments", "min is above max, so no value is within both bounds.")
		}
		if a.OK {
			list = append(list, t)
		}
	}
	return list
}
