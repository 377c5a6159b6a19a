package estimator

var _ = RegisterSource(RunTimeSource{
	Name: "oracle", Rank: 20, True: true,
	Doc: "the true ones (`oracle`)",
})
