package strategies

import (
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages/servers/rental"
)

var _ = register(Choice{
	Choice: policy.Choice{
		Name: "failover", Title: "Failover", Place: 6,
		Doc: "a spot server in the first region that has one, otherwise a server on demand; a job keeps " +
			"its server until it is taken away",
	},
	Strategy: Func(Failover), Spot: true, OnDemand: true,
})

// Failover keeps the present server. If the job has no server, Failover chooses a spot server if any region has one,
// else a server on demand. It ignores the deadline.
func Failover(v rental.View) rental.Market {
	switch {
	case v.Held != rental.Nothing:
		return v.Held
	case v.Available:
		return rental.Spot
	}
	return rental.OnDemand
}
