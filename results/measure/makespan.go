package measure

// How long all jobs took together.
var (
	Makespan = Register(Metric{
		Rank: 40, Name: "makespan_s", Title: "makespan", Unit: "s",
		Shown:   Shown{Cells: 6, Summary: 4, Fidelity: 1, Panels: 3},
		Doc:     "last end of a job − first arrival of a job",
		Compute: func(t *Totals) float64 { return t.Makespan },
	})
	Throughput = Register(Metric{
		Rank: 50, Name: "throughput_per_h", Title: "throughput", Unit: "jobs/h", HigherBetter: true,
		Shown:   Shown{Series: 5},
		Doc:     "finished jobs / makespan",
		Compute: func(t *Totals) float64 { return float64(t.Finished) / t.Makespan * 3600 },
	})
)
