package strategies

import (
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages/servers/rental"
)

var _ = register(Choice{
	Choice: policy.Choice{
		Name: "on_demand", Title: "On demand", Place: 2, Doc: "servers on demand all the time",
	},
	Strategy: Func(Always), OnDemand: true,
})

// Always chooses a server on demand at every tick.
func Always(rental.View) rental.Market { return rental.OnDemand }
