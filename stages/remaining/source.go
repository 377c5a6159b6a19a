package remaining

import "github.com/tfexp/tfexp/estimator"

var lossCurve = estimator.RegisterSource(estimator.RunTimeSource{
	Name: "loss_curve", Rank: 60, Fitted: true, Follows: true,
	Doc: "the same, and from the losses of jobs with a `target_loss` when they will reach it (`loss_curve`)",
})
