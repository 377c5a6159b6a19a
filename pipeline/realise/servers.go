package realise

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/market"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages/experiment"
)

// terms are the terms on which servers are rented in the cell's replicate.
func (c *Cell) terms() []*market.Terms { return market.ForReplicate(c.Hardware.Terms, c.Ref.Replicate) }

// rentals are the terms as costs are measured by them.
func rentals(terms []*market.Terms) []measure.Rental {
	if terms == nil {
		return nil
	}
	out := make([]measure.Rental, len(terms))
	for i, t := range terms {
		if t != nil {
			out[i] = t
		}
	}
	return out
}

// renting returns the jobs, each with the cost of moving to another server, if the
// policy uses that cost.
func (c *Cell) renting(r realised, jobs []scheduler.Job) []scheduler.Job {
	if c.Policy.Policy.Provisioned() == nil {
		return jobs
	}
	jobs = slices.Clone(jobs)
	startup := time.Duration(0)
	for _, t := range c.Hardware.Terms {
		if t != nil {
			startup = max(startup, t.Startup.Mean)
		}
	}
	if o := c.Hardware.Overheads; o != nil {
		startup += o.Start
	}
	for n := range jobs {
		own := jobs[n].Own()
		own.Changeover = startup
		if k := r.Block[n]; k >= 0 && r.Blocks[k].Checkpoint != nil {
			own.Changeover += r.Blocks[k].Checkpoint.Restore + c.unsaved(r.Blocks[k], jobs[n].Predicted)
		}
	}
	return jobs
}

// unsaved is the most work that a job with checkpoints loses with a server: its work from one
// checkpoint to the next. If the job is warned in time to write one, it is the work from the
// warning on.
func (c *Cell) unsaved(j *experiment.Job, length time.Duration) time.Duration {
	p := j.Checkpoint
	most := p.Every
	switch {
	case p.Units > 0:
		most = time.Duration(float64(length) * float64(p.Units) / float64(j.Length()))
	case p.Rule != "":
		most = intervals[p.Rule](p.Cost, market.Between(c.Hardware.Terms))
	}
	warning := scheduler.Never
	for _, t := range c.Hardware.Terms {
		if t != nil && (t.Life != nil || t.Availability != nil || t.MaxLife > 0) {
			warning = min(warning, t.Warning)
		}
	}
	if warning >= p.Cost && warning > 0 {
		most = min(most, warning)
	}
	return most
}

// checkpoints returns the checkpoints of each job; nil if no job writes any.
func (c *Cell) checkpoints(r realised) []*simulated.Checkpoint {
	ofBlock := make([]*simulated.Checkpoint, len(r.Blocks))
	some := false
	for k, j := range r.Blocks {
		if j.Checkpoint == nil {
			continue
		}
		some = true
		ofBlock[k] = &simulated.Checkpoint{
			Every: j.Checkpoint.Every, Share: float64(j.Checkpoint.Units) / float64(j.Length()),
			Cost: j.Checkpoint.Cost, Restore: j.Checkpoint.Restore, Rule: intervals[j.Checkpoint.Rule],
		}
	}
	if !some {
		return nil
	}
	return perJob(&r, ofBlock, nil)
}

// intervals are the rules for the time between checkpoints.
var intervals = map[string]func(cost, between time.Duration) time.Duration{
	"young": estimator.YoungInterval, "daly": estimator.DalyInterval,
}

// perJob returns a value of each job's block; none for a job without a block.
func perJob[T any](r *realised, ofBlock []T, none T) []T {
	return schema.Each(r.Block, func(k int32) T {
		if k < 0 {
			return none
		}
		return ofBlock[k]
	})
}

// interval is how often the program of a real job writes a checkpoint, as the job contract says it; empty for
// never. A rule is asked for a job on all nodes or, where it has several parts, on those without which it does not go on
// when it has started alone.
func (c *Cell) interval(j *experiment.Job) string {
	cp := j.Checkpoint
	switch {
	case cp == nil:
		return ""
	case cp.Units > 0 && j.Steps > 0:
		return contract.Interval{Steps: cp.Units}.String()
	case cp.Units > 0:
		return contract.Interval{Epochs: cp.Units}.String()
	case cp.Every > 0:
		return contract.Interval{Time: cp.Every}.String()
	}
	terms := c.Hardware.Terms
	if j.InParts() && terms != nil {
		parts := partsOn(c.Hardware, j)
		job := j.Template()
		terms = nil
		for v, t := range c.Hardware.Terms {
			if slices.ContainsFunc(parts, func(p scheduler.Part) bool { return p.Node == v }) && !job.Survives(parts, v) {
				terms = append(terms, t)
			}
		}
	}
	between := market.Between(terms)
	if between == market.Forever {
		return ""
	}
	return contract.Interval{Time: max(intervals[cp.Rule](cp.Cost, between), time.Millisecond)}.String()
}

// serverLines are the key lines of how servers are rented.
func serverLines(k *store.Key, h *experiment.Hardware) {
	life := "none"
	for i, t := range h.Terms {
		if t == nil {
			continue
		}
		n := h.Cluster.Nodes[i]
		if i == 0 || t != h.Terms[i-1] { // the nodes of a block have the same terms
			life = lifeText(t.Life)
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
}

func lifeText(l market.Life) string {
	switch l := l.(type) {
	case nil:
		return "none"
	case *market.Measured:
		return fmt.Sprintf("measured sha256:%x", sha256.Sum256(fmt.Appendf(nil, "%v %v", l.Times, l.Survivals)))
	}
	return l.String()
}

// availabilityLines are the key lines of the records by which servers come and go.
func availabilityLines(k *store.Key, terms []*market.Terms) {
	for i, t := range terms {
		if t != nil && t.Availability != nil {
			k.Addf(fmt.Sprintf("hardware.available.%d", i), "%v %v", t.Availability.Times, t.Availability.Servers)
		}
	}
}
