package estimator

var _ = RegisterSource(RunTimeSource{
	Name: "loss_curve", Rank: 60, Fitted: true, Follows: true, Losses: true,
	Doc: "the same, and from the losses of jobs with a `target_loss` when they will reach it (`loss_curve`)",
})
