package realise

import (
	"fmt"
	"time"

	"github.com/tfexp/tfexp/estimator/checkpoint"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/market"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/pipeline/realise/program"
	"github.com/tfexp/tfexp/pipeline/store"
)

// checkpoints says what each job does against losses; nil when none does anything.
func (c *Cell) checkpoints(r realisation) []*simulated.Checkpoint {
	ofBlock := make([]*simulated.Checkpoint, len(r.blocks))
	some := false
	for k, j := range r.blocks {
		if j.Checkpoint == nil {
			continue
		}
		some = true
		s := &simulated.Checkpoint{
			Every: j.Checkpoint.Every, Share: float64(j.Checkpoint.Units) / float64(program.Length(j)),
			Cost: j.Checkpoint.Cost, Restore: j.Checkpoint.Restore,
		}
		switch j.Checkpoint.Rule {
		case "young":
			s.Rule = checkpoint.Young
		case "daly":
			s.Rule = checkpoint.Daly
		}
		ofBlock[k] = s
	}
	if !some {
		return nil
	}
	all := make([]*simulated.Checkpoint, len(r.jobs))
	for i := range all {
		if k := r.block[i]; k >= 0 {
			all[i] = ofBlock[k]
		}
	}
	return all
}

// interval is how often the program of a real job writes a checkpoint, as the job contract says it; empty for never. A
// rule is asked for a job on all nodes.
func (c *Cell) interval(j *experiments.Job) string {
	cp := j.Checkpoint
	switch {
	case cp == nil:
		return ""
	case cp.Units > 0:
		return contract.Interval{Steps: cp.Units}.String()
	case cp.Every > 0:
		return contract.Interval{Time: cp.Every}.String()
	}
	rule := checkpoint.Young
	if cp.Rule == "daly" {
		rule = checkpoint.Daly
	}
	between := market.Between(c.Hardware.Terms)
	if between == market.Forever {
		return ""
	}
	return contract.Interval{Time: max(rule(cp.Cost, between), time.Millisecond)}.String()
}

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
			life = fmt.Sprintf("available %v %v, place %d", a.Times, a.Servers, t.Slot)
		}
		k.Addf(fmt.Sprintf("hardware.server.%d", i),
			"supply %d, idle %s, market %s, region %s, price %v, on demand %v, billing %v, startup %s, life %s, at most %s, "+
				"warning %s, replace %s after %s at most %d times",
			n.Supply, n.Idle, t.Market, t.Region, t.Price, t.OnDemand, t.Billing, t.Startup, life, t.MaxLife,
			t.Warning, t.Replace, t.Delay, t.Limit)
	}
	return k.Lines()
}
