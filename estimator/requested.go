package estimator

func init() {
	RegisterSource(RunTimeSource{
		Name: "requested", Rank: 30, Asked: true,
		Doc: "the jobs' limits (`requested`)",
	})
}
