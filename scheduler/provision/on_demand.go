package provision

import "github.com/tfexp/tfexp/scheduler/policy"

func init() {
	register(policy.ProvisioningChoice{
		Choice: policy.Choice{
			Name: "on_demand", Title: "On demand", Place: 2, Doc: "servers on demand, from the first tick to the last",
		},
		Strategy: Func(Always), OnDemand: true,
	})
}

// Always is on demand from the first tick to the last.
func Always(View) Market { return OnDemand }
