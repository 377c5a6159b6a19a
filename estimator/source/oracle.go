package source

func init() {
	Register(Source{
		Name: "oracle", Rank: 20, True: true,
		Doc: "the true ones (`oracle`)",
	})
}
