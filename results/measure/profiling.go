package measure

// Profiling is the cost of samples to the cluster while its jobs wait.
var Profiling = Register(Metric{
	Rank: 365, Name: "profiling_s", Title: "profiling", Unit: "s",
	Doc:     "how long jobs ran as samples before the policy knew them, all together (`profiling` of policies)",
	Compute: func(t *Totals) float64 { return t.collector.profiling.Seconds() },
})
