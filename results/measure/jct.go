package measure

// Job completion times: finish − arrival.
var (
	MeanJCT = Register(Metric{
		Rank: 70, Name: "mean_jct_s", Title: "mean JCT", Unit: "s",
		Shown:   Shown{Cells: 3, Summary: 1, Fidelity: 2, Panels: 1, Series: 1},
		Doc:     "mean job completion time",
		Grouped: true, OfJob: func(o *Outcome) float64 { return o.JCT },
		Compute: func(t *Totals) float64 { return t.JCT.Mean() },
	})
	MedianJCT = Register(Metric{
		Rank: 80, Name: "median_jct_s", Title: "median JCT", Unit: "s",
		Doc:     "median job completion time",
		Compute: func(t *Totals) float64 { return t.JCT.Quantile(0.5) },
	})
	P95JCT = Register(Metric{
		Rank: 90, Name: "p95_jct_s", Title: "p95 JCT", Unit: "s",
		Shown: Shown{Cells: 4, Summary: 2, Spare: 1, Fidelity: 6},
		Doc:   "95th percentile of the job completion times", Grouped: true,
		Compute: func(t *Totals) float64 { return t.JCT.Quantile(0.95) },
	})
)
