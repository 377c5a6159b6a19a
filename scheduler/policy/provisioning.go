package policy

import (
	"slices"

	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/provisioning"
)

// FixedServers leaves it to the node blocks when servers are rented, and where.
const FixedServers Provisioning = "fixed"

var _ = RegisterProvisioning(ProvisioningChoice{Choice: Choice{
	Name: FixedServers, Title: "Fixed servers", Place: 1, Doc: "as the node blocks say, whatever happens to jobs",
}})

// Provisioned returns the provisioning of a policy; nil for one that leaves it to the
// nodes.
func (p Policy) Provisioned() *ProvisioningChoice {
	if c := provisionings.find(p.answered().Provisioning); c != nil && c.Strategy != nil {
		return c
	}
	return nil
}

// Markets returns the markets from which the policy rents servers for its jobs; none where it leaves that to the nodes.
func (p Policy) Markets() (markets []string) {
	c := p.Provisioned()
	if c != nil && c.Spot {
		markets = append(markets, cluster.MarketSpot)
	}
	if c != nil && c.OnDemand {
		markets = append(markets, cluster.MarketOnDemand)
	}
	return markets
}

// Regions returns the regions in which the policy rents servers; none for all.
func (p Policy) Regions() []string {
	list, _ := p.Settings["regions"].([]string)
	return slices.Clone(list)
}

// rental returns the policy's terms of renting; nil if the nodes decide.
func (p Policy) rental() *provisioning.Terms {
	c := p.Provisioned()
	if c == nil {
		return nil
	}
	terms := c.Terms(p.Settings)
	return &terms
}
