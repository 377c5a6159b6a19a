package measure

// Migrations counts the times that jobs moved to other nodes.
var Migrations = Register(Metric{
	Rank: 360, Name: "migrations", Title: "migrations", Count: true, OfAllJobs: true,
	Doc:     "number of times that a paused job continued on other nodes or GPUs",
	Compute: func(t *Totals) float64 { return float64(t.collector.migrations) },
})
