package estimator

func init() {
	RegisterSource(RunTimeSource{
		Name: "fitted", Rank: 10, Fitted: true,
		Doc: "from samples (`fitted`)",
	})
}
