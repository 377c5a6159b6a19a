package estimator

var _ = RegisterSource(RunTimeSource{
	Name: "noisy", Rank: 40, Fitted: true, Call: true,
	Doc: "fitted ones with an error (`noisy(sigma)`, the standard deviation of the log error)",
})
