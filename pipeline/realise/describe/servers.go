package describe

import (
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/market"
	"github.com/tfexp/tfexp/pipeline/store"
)

// serverLines are the key lines of how servers are rented.
func serverLines(h *experiments.Hardware) []string {
	var k store.Key
	for i, t := range h.Terms {
		if t == nil {
			continue
		}
		n := h.Cluster.Nodes[i]
		life := "none"
		switch l := t.Life.(type) {
		case nil:
		case *market.Measured:
			life = fmt.Sprintf("measured %v %v", l.Times, l.Survivals)
		default:
			life = l.String()
		}
		if a := t.Availability; a != nil {
			life = fmt.Sprintf("available, place %d", t.Slot)
		}
		k.Addf(fmt.Sprintf("hardware.server.%d", i),
			"supply %d, idle %s, market %s, region %s, price %v, on demand %v, billing %v, startup %s, life %s, at most %s, "+
				"warning %s, replace %s after %s at most %d times",
			n.Supply, n.Idle, t.Market, t.Region, t.Price, t.OnDemand, t.Billing, t.Startup, life, t.MaxLife,
			t.Warning, t.Replace, t.Delay, t.Limit)
	}
	return k.Lines()
}

// AvailabilityLines are the key lines of the records by which servers come and go.
func AvailabilityLines(terms []*market.Terms) []string {
	var k store.Key
	for i, t := range terms {
		if t != nil && t.Availability != nil {
			k.Addf(fmt.Sprintf("hardware.available.%d", i), "%v %v", t.Availability.Times, t.Availability.Servers)
		}
	}
	return k.Lines()
}

// Lives are the life-time curves of all hardware, each once.
func Lives(spec *experiments.Spec) []market.Curve {
	var out []market.Curve
	for _, c := range spec.Cells {
		for i, t := range c.Hardware.Terms {
			if t == nil || t.Life == nil {
				continue
			}
			of := c.Hardware.Cluster.Nodes[i].GPU
			if of == "" {
				of = c.Hardware.Cluster.Nodes[i].Name
			}
			law := plain(t.Life.String())
			if !slices.ContainsFunc(out, func(o market.Curve) bool { return o.Of == of && o.Law == law }) {
				curve := market.CurveOf(of, t.Life, t.MaxLife)
				curve.Law = law
				out = append(out, curve)
			}
		}
	}
	return out
}
