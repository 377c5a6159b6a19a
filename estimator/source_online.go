package estimator

var _ = RegisterSource(RunTimeSource{
	Name: "online", Rank: 50, Fitted: true, Follows: true,
	Doc: "ones that begin as fitted and follow what jobs report while they run (`online`, or `online(sigma)` to " +
		"begin with such an error)",
})
