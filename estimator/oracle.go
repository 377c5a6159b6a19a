package estimator

func init() {
	RegisterSource(RunTimeSource{
		Name: "oracle", Rank: 20, True: true,
		Doc: "the true ones (`oracle`)",
	})
}
