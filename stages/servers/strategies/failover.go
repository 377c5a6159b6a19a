package strategies

import (
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/provisioning"
)

var _ = register(policy.ProvisioningChoice{
	Choice: policy.Choice{
		Name: "failover", Title: "Failover", Place: 6,
		Doc: "a spot server in the first of the regions that has one, else one on demand; a job keeps its server until " +
			"it is taken away",
	},
	Strategy: Func(Failover), Spot: true, OnDemand: true,
})

// Failover keeps the server that it has. Without one it takes a spot server wherever
// there is one, region after region, and else one on demand. It looks at no deadline.
func Failover(v provisioning.View) provisioning.Market {
	switch {
	case v.Held != provisioning.Nothing:
		return v.Held
	case v.Available:
		return provisioning.Spot
	}
	return provisioning.OnDemand
}
