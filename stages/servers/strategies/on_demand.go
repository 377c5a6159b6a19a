package strategies

import (
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/provisioning"
)

var _ = register(policy.ProvisioningChoice{
	Choice: policy.Choice{
		Name: "on_demand", Title: "On demand", Place: 2, Doc: "servers on demand, from the first tick to the last",
	},
	Strategy: Func(Always), OnDemand: true,
})

// Always is on demand from the first tick to the last.
func Always(provisioning.View) provisioning.Market { return provisioning.OnDemand }
