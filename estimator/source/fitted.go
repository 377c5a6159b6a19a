package source

func init() {
	Register(Source{
		Name: "fitted", Rank: 10, Fitted: true,
		Doc: "from samples (`fitted`)",
	})
}
