package strategies

import (
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages/servers/rental"
)

var _ = register(Choice{
	Choice: policy.Choice{
		Name: "failover", Title: "Failover", Place: 6,
		Doc: "a spot server in the first of the regions that has one, else one on demand; a job keeps its server until " +
			"it is taken away",
	},
	Strategy: Func(Failover), Spot: true, OnDemand: true,
})

// Failover keeps the server that it has. Without one it takes a spot server wherever
// there is one, region after region, and else one on demand. It looks at no deadline.
func Failover(v rental.View) rental.Market {
	switch {
	case v.Held != rental.Nothing:
		return v.Held
	case v.Available:
		return rental.Spot
	}
	return rental.OnDemand
}
