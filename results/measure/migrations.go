package measure

// Migrations counts the times that jobs moved to other nodes.
var Migrations = Register(Metric{
	Rank: 360, Name: "migrations", Title: "migrations", Count: true, OfAllJobs: true,
	Doc:     "how often paused jobs went on on other nodes, or with other GPUs",
	Compute: func(t *Totals) float64 { return float64(t.collector.migrations) },
})
