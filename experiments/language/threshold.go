package language

import "github.com/tfexp/tfexp/experiments/schema"

// EstimateError is the threshold that is about estimates: the mean absolute
// error_pct of estimates.csv.
const EstimateError = "estimate_error_pct"

func thresholdBlock() *schema.Block {
	return &schema.Block{
		Name: "threshold", Label: "metric: a column of metrics.csv, with or without its `_s`; or `" + EstimateError + "`",
		Offered: append(metricLabels(), EstimateError),
		Doc: "A bound on the results: on average over the replicates, for every policy, workload and hardware. If no " +
			"cell has failed and a threshold is missed, `tfexp run` ends with exit status 5. `" + EstimateError +
			"` is the mean absolute error of the estimates of `model` (not of `models`), in percent of the actual run " +
			"times.",
		Example: `threshold "mean_jct" {
  policy = policy.rr
  max    = "12s"
}

threshold "estimate_error_pct" { max = 8 }`,
		Args: []schema.Arg{
			{
				Name: "policy", Type: schema.PolicyRef, DefaultDoc: "all policies",
				Doc: "The policy to which the threshold applies.", Example: `policy.rr`,
			},
			{
				Name: "max", Type: schema.Bound,
				Doc: "The largest allowed value: a duration if the metric is a time, else a number.", Example: `"12s"`,
			},
			{Name: "min", Type: schema.Bound, Doc: "The smallest allowed value.", Example: `0.8`},
			{
				Name: "fidelity_pct", Type: schema.Number, Min: schema.Limit(0), Max: schema.Limit(1e6),
				Doc: "The largest allowed difference between the metric of real cells and of their simulation: the " +
					"mean absolute error, in percent.",
				Example: `10`,
			},
		},
	}
}
