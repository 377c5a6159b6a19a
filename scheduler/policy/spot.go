package policy

import "github.com/tfexp/tfexp/scheduler"

var _ = registerStrategy(ProvisioningChoice{
	Choice: Choice{
		Name: "spot", Title: "Spot only", Place: 3, Doc: "spot servers whenever there are any, and nothing else",
	},
	Strategy: RentalFunc(SpotOnly), Spot: true,
})

// SpotOnly takes spot servers whenever there are any, and nothing else: it can miss the
// deadline.
func SpotOnly(v scheduler.RentalView) scheduler.RentalMarket {
	if v.Available {
		return scheduler.Spot
	}
	return scheduler.Nothing
}
