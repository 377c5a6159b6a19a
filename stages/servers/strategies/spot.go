package strategies

import (
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages/servers/rental"
)

var _ = register(Choice{
	Choice: policy.Choice{
		Name: "spot", Title: "Spot only", Place: 3, Doc: "spot servers if any are available; otherwise the job waits",
	},
	Strategy: Func(SpotOnly), Spot: true,
})

// SpotOnly uses spot servers whenever they are available, and otherwise waits. It can miss the deadline.
func SpotOnly(v rental.View) rental.Market {
	if v.Available {
		return rental.Spot
	}
	return rental.Nothing
}
