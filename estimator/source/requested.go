package source

func init() {
	Register(Source{
		Name: "requested", Rank: 30, Asked: true,
		Doc: "the jobs' limits (`requested`)",
	})
}
