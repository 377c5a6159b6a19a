package measure

// Counts of jobs and of their events.
var (
	Jobs = Register(Metric{
		Rank: 10, Name: "jobs", Title: "jobs", HigherBetter: true, Count: true, OfAllJobs: true, Shown: Shown{Cells: 1},
		Doc: "jobs of the workload", Grouped: true,
		Compute: func(t *Totals) float64 { return float64(t.Jobs) },
	})
	Finished = Register(Metric{
		Rank: 20, Name: "finished", Title: "finished jobs", HigherBetter: true, Count: true, OfAllJobs: true, Shown: Shown{Cells: 2},
		Doc: "jobs that finished", Grouped: true,
		Compute: func(t *Totals) float64 { return float64(t.Finished) },
	})
	Failed = Register(Metric{
		Rank: 30, Name: "failed", Title: "failed jobs", Count: true, OfAllJobs: true,
		Doc: "jobs that ended without finishing", Grouped: true,
		Compute: func(t *Totals) float64 { return float64(t.Failed) },
	})
	Preemptions = Register(Metric{
		Rank: 160, Name: "preemptions", Title: "preemptions", Count: true, OfAllJobs: true,
		Shown: Shown{Cells: 10, Summary: 8, Spare: 5, Panels: 6},
		Doc:   "number of pauses of running jobs", Grouped: true,
		Compute: func(t *Totals) float64 { return float64(t.Preemptions) },
	})
	Resizes = Register(Metric{
		Rank: 170, Name: "resizes", Title: "resizes", Count: true, OfAllJobs: true,
		Doc: "number of resizes of running jobs", Grouped: true,
		Compute: func(t *Totals) float64 { return float64(t.Resizes) },
	})
)
