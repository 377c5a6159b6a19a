package measure

// Metrics of slowdowns: the completion time of a job / its run time alone on its full request. Jobs whose run time is
// unknown are left out.
var (
	MeanSlowdown = Register(Metric{
		Rank: 130, Name: "mean_slowdown", Title: "mean slowdown",
		Doc:     "mean of the slowdowns",
		Grouped: true, OfJob: func(o *Outcome) float64 { return o.Slowdown },
		Compute: func(t *Totals) float64 { return t.Slowdown.Mean() },
	})
	P95Slowdown = Register(Metric{
		Rank: 140, Name: "p95_slowdown", Title: "p95 slowdown",
		Doc:     "95th percentile of the slowdowns",
		Compute: func(t *Totals) float64 { return t.Slowdown.Quantile(0.95) },
	})
	JainFairness = Register(Metric{
		Rank: 150, Name: "jain_fairness", Title: "Jain fairness", HigherBetter: true, Most: 1,
		Shown:   Shown{Cells: 9, Summary: 7, Spare: 3},
		Doc:     "Jain's index over the slowdowns: 1 when all are equal",
		Compute: func(t *Totals) float64 { return t.Slowdown.Jain() },
	})
	MeanBoundedSlowdown = Register(Metric{
		Rank: 180, Name: "mean_bounded_slowdown", Title: "mean bounded slowdown", Least: 1,
		// A job of no length has no meaningful slowdown, so the bounded one is shown.
		Shown:   Shown{Cells: 8, Summary: 6, Spare: 2, Panels: 5},
		Doc:     "mean of the bounded slowdowns",
		Grouped: true, OfJob: func(o *Outcome) float64 { return o.BoundedSlowdown },
		Compute: func(t *Totals) float64 { return t.BoundedSlowdown.Value() },
	})
)
