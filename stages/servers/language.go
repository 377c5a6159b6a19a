package servers

import (
	"embed"
	"time"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
	"github.com/tfexp/tfexp/stages/servers/market"
)

// feature is the name under which the parts of this feature are registered.
const feature = "servers"

//go:embed checkpoint.go
var documented embed.FS

func init() {
	engine.Extend(engine.Extension{
		To:       func(k *engine.Kind) bool { return k.Changes },
		NodeArgs: market.NodeArgs, Blocks: []*schema.Block{market.BillingBlock},
	})
	language.Extend(feature, language.Hardware, language.Extension[experiment.Hardware]{Decode: decodeHardware})
	schema.Document(feature, documented)
	language.Extend(feature, language.Job, language.Extension[experiment.Job]{
		Blocks: func() []*schema.Block {
			return []*schema.Block{schema.BlockFor[checkpointArgs](schema.Block{Name: "checkpoint", Single: true})}
		},
		Decode: decodeCheckpoint,
	})
	language.RegisterRule(provisioning)
}

// decoder decodes the rental terms of servers.
type decoder struct{ *language.Decoder }

// decodeHardware decodes the rental terms of the hardware's servers.
func decodeHardware(d *language.Decoder, b language.Block, h *experiment.Hardware) {
	own := decoder{d}
	billing := own.billing(b)
	rented := &Rented{Nodes: h.Cluster.Nodes}
	for _, na := range b.Nodes {
		count := eval.Get[int](na, "count")
		if count > len(h.Cluster.Nodes)-len(rented.Terms) {
			return // the mistake has been reported
		}
		nodes := h.Cluster.Nodes[len(rented.Terms):][:count]
		if count == 0 { // the number depends on an axis, whose value is not known yet
			own.terms(na, billing, &cluster.Node{Name: na.Node.Label, GPU: eval.Get[string](na, "gpu")})
			continue
		}
		terms := own.terms(na, billing, &nodes[0])
		for i := range nodes {
			rented.Terms = append(rented.Terms, slotOf(terms, i))
			if terms == nil {
				continue
			}
			n := &nodes[i]
			n.Supply, n.Market, n.Region, n.Price = cluster.Fixed, terms.Market, terms.Region, terms.Price.PerHour[0]
			if n.Idle = eval.Get[time.Duration](na, "idle"); eval.Get[string](na, "acquire") == "on_request" {
				n.Supply = cluster.OnRequest
			}
		}
		if terms != nil && eval.Get[string](na, "acquire") != "on_request" {
			na.Unread("{} is for nodes with acquire = \"on_request\".", "idle")
		}
	}
	if h.Cluster.Changes() {
		h.Parts = append(h.Parts, rented)
	}
}

// slotOf returns the terms of one node of a block. With a record of availability, node number `slot` has a server while
// more than `slot` servers are available.
func slotOf(t *market.Terms, slot int) *market.Terms {
	if t == nil || t.Availability == nil {
		return t
	}
	own := *t
	own.Slot = slot
	return &own
}

// billing decodes for which time servers are paid.
func (d decoder) billing(b language.Block) market.Billing {
	paid := market.Billing{Startup: true}
	if n := b.Node.First("billing"); n != nil {
		ba := d.Decode(n, b.Env, &paid)
		b.OK = b.OK && ba.OK
	}
	return paid
}
