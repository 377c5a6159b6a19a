package measure

// Profiling is the cost of samples to the cluster while its jobs wait.
var Profiling = Register(Metric{
	Rank: 365, Name: "profiling_s", Title: "profiling", Unit: "s",
	Doc:     "total time that jobs ran as samples for the policy (`profiling` of policies)",
	Compute: func(t *Totals) float64 { return t.collector.profiling.Seconds() },
})
