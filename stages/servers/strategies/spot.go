package strategies

import (
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/provisioning"
)

var _ = register(policy.ProvisioningChoice{
	Choice: policy.Choice{
		Name: "spot", Title: "Spot only", Place: 3, Doc: "spot servers whenever there are any, and nothing else",
	},
	Strategy: Func(SpotOnly), Spot: true,
})

// SpotOnly takes spot servers whenever there are any, and nothing else: it can miss the
// deadline.
func SpotOnly(v provisioning.View) provisioning.Market {
	if v.Available {
		return provisioning.Spot
	}
	return provisioning.Nothing
}
