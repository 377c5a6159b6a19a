package remaining

import "github.com/tfexp/tfexp/estimator"

var lossCurve = estimator.RegisterSource(estimator.RunTimeSource{
	Name: "loss_curve", Rank: 60, Fitted: true, Follows: true,
	Doc: "as `online`; and for jobs with a `target_loss`, the time at which their losses will reach it " +
		"(`loss_curve`)",
})
