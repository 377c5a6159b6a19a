package provision

import "github.com/tfexp/tfexp/scheduler/policy"

func init() {
	register(policy.ProvisioningChoice{
		Choice: policy.Choice{
			Name: "spot", Title: "Spot only", Place: 3, Doc: "spot servers whenever there are any, and nothing else",
		},
		Strategy: Func(SpotOnly), Spot: true,
	})
}

// SpotOnly takes spot servers whenever there are any, and nothing else: it can miss the
// deadline.
func SpotOnly(v View) Market {
	if v.Available {
		return Spot
	}
	return Nothing
}
