package measure

// Reconfigurations counts the attempts that ended for a change of settings.
var Reconfigurations = Register(Metric{
	Rank: 340, Name: "reconfigurations", Title: "reconfigurations", Count: true, OfAllJobs: true,
	Doc:     "number of restarts of running jobs by their controllers, with other settings",
	Compute: func(t *Totals) float64 { return float64(t.collector.reconfigurations) },
})
