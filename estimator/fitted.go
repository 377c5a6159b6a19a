package estimator

var _ = RegisterSource(RunTimeSource{
	Name: "fitted", Rank: 10, Fitted: true,
	Doc: "from samples (`fitted`)",
})
