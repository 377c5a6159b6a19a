package measure

// The parts of a job's completion time.
var (
	MeanWaiting = Register(Metric{
		Rank: 100, Name: "mean_waiting_s", Title: "mean waiting time", Unit: "s",
		Shown:   Shown{Cells: 5, Summary: 3, Fidelity: 3, Panels: 2},
		Doc:     "mean waiting time of jobs",
		Grouped: true, OfJob: func(o *Outcome) float64 { return o.Waiting },
		Compute: func(t *Totals) float64 { return t.Waiting.Mean() },
	})
	MedianWaiting = Register(Metric{
		Rank: 101, Name: "median_waiting_s", Title: "median waiting time", Unit: "s",
		Doc:     "median waiting time of jobs",
		Compute: func(t *Totals) float64 { return t.Waiting.Quantile(0.5) },
	})
	P95Waiting = Register(Metric{
		Rank: 102, Name: "p95_waiting_s", Title: "p95 waiting time", Unit: "s",
		Doc: "95th percentile of the waiting times of jobs", Grouped: true,
		Compute: func(t *Totals) float64 { return t.Waiting.Quantile(0.95) },
	})
	MaxWaiting = Register(Metric{
		Rank: 104, Name: "max_waiting_s", Title: "longest waiting time", Unit: "s",
		Doc: "longest waiting time of a job", Grouped: true,
		Compute: func(t *Totals) float64 { return t.Waiting.Quantile(1) },
	})
	MeanFirstRunDelay = Register(Metric{
		Rank: 110, Name: "mean_first_run_delay_s", Title: "mean first-run delay", Unit: "s",
		Shown:   Shown{Series: 2},
		Doc:     "mean of first start − arrival",
		Grouped: true, OfJob: func(o *Outcome) float64 { return o.FirstRunDelay },
		Compute: func(t *Totals) float64 { return t.FirstRunDelay.Value() },
	})
	MeanService = Register(Metric{
		Rank: 120, Name: "mean_service_s", Title: "mean service time", Unit: "s",
		Shown:   Shown{Fidelity: 5, Series: 3},
		Doc:     "mean time in which jobs held resources",
		Grouped: true, OfJob: func(o *Outcome) float64 { return o.Service },
		Compute: func(t *Totals) float64 { return t.Service.Value() },
	})
)
