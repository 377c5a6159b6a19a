package estimator

var _ = RegisterSource(RunTimeSource{
	Name: "requested", Rank: 30, Asked: true,
	Doc: "the jobs' limits (`requested`)",
})
