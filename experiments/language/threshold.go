package language

import "github.com/tfexp/tfexp/experiments/schema"

// EstimateError is the threshold that is about estimates: the mean absolute
// error_pct of estimates.csv.
const EstimateError = "estimate_error_pct"

var thresholdBlock = &schema.Block{
	Name: "threshold", Label: "metric: a column of metrics.csv, with or without its `_s`; or `" + EstimateError + "`",
	Doc: "A bound that the results must keep: every policy's mean over the replicates, on every workload and hardware. When no cell has failed and a threshold is missed, `tfexp run` ends with exit status 5. `" + EstimateError + "` is the mean absolute error of the estimates that are used (not of those that `models` compares with them), in percent of the actual run times.",
	Example: `threshold "mean_jct" {
  policy = policy.rr
  max    = "12s"
}

threshold "estimate_error_pct" { max = 8 }`,
	Args: []schema.Arg{
		{Name: "policy", Type: schema.PolicyRef, DefaultDoc: "all policies", Doc: "The policy that it is about.", Example: `policy.rr`},
		{Name: "max", Type: schema.Bound, Doc: "The most: a duration where the metric is a time, else a number.", Example: `"12s"`},
		{Name: "min", Type: schema.Bound, Doc: "The least.", Example: `0.8`},
		{Name: "fidelity_pct", Type: schema.Number, Min: schema.Limit(0), Max: schema.Limit(1e6), Doc: "The most by which the metric of real cells and that of their simulation may differ: the mean absolute error, in percent.", Example: `10`},
	},
}
