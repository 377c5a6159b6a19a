package servers

import (
	"crypto/sha256"
	"encoding/gob"
	"fmt"
	"slices"
	"time"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/jobs/program"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/scheduler"
	nodesupply "github.com/tfexp/tfexp/scheduler/supply"
	"github.com/tfexp/tfexp/scheduler/validate"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/servers/market"
	"github.com/tfexp/tfexp/stages/servers/rental"
	"github.com/tfexp/tfexp/stages/servers/strategies"
)

func init() {
	gob.Register(&supply{})
	gob.Register(intervalRule(""))
	for _, life := range []market.Life{market.Exponential{}, market.Weibull{}, market.Bathtub{}, &market.Measured{}} {
		gob.Register(life)
	}
	stages.RegisterView(changeovers)
	stages.RegisterTraceRule(func(t *stages.Task) validate.Rule {
		if markets := strategies.Markets(&t.Policy); len(markets) > 0 {
			return rental.Rule(t.Setup.Cluster, t.Setup.Set(), markets, strategies.Regions(&t.Policy))
		}
		return nil
	})
}

// Rented is the part of hardware with rented servers.
type Rented struct {
	// Terms are the rental terms by node; nil for a permanent node.
	Terms []*market.Terms
	// Nodes are the nodes of the hardware.
	Nodes []scheduler.Node `json:"-"`
}

// termsOf returns the rental terms of the hardware's servers, by node; nil if all nodes are permanent.
func termsOf(h *experiment.Hardware) []*market.Terms {
	if r, ok := experiment.PartOf[*Rented](h.Parts); ok {
		return r.Terms
	}
	return nil
}

// checkpointOf returns the checkpoint block of a job; nil if it has no such block.
func checkpointOf(j *experiment.Job) *Checkpoint {
	c, _ := experiment.PartOf[*Checkpoint](j.Parts)
	return c
}

// Supply implements stages.SupplyPart.
func (r *Rented) Supply(replicate int) stages.Supply {
	return &supply{market.ForReplicate(r.Terms, replicate)}
}

// supply has the servers of a cell.
type supply struct {
	// Terms are the rental terms in the cell's replicate, by node.
	Terms []*market.Terms
}

// Fleet implements stages.Supply.
func (s *supply) Fleet(c scheduler.Cluster, seed int64) (simulated.Fleet, error) {
	return market.NewFleet(c, s.Terms, seed)
}

// Meter implements stages.Supply.
func (s *supply) Meter(of *measure.Setup) measure.NodeMeter { return newMeter(of, s.Terms) }

// changeovers returns the jobs of a policy that rents servers, with the time that each needs to move to another server.
func changeovers(v stages.View) []scheduler.Job {
	if strategies.Of(&v.Policy.Policy) == nil {
		return v.Jobs
	}
	jobs := slices.Clone(v.Jobs)
	terms, startup := termsOf(v.Hardware), time.Duration(0)
	for _, t := range terms {
		if t != nil {
			startup = max(startup, t.Startup.Mean)
		}
	}
	if o := v.Hardware.Overheads; o != nil {
		startup += o.Start
	}
	for n := range jobs {
		own := jobs[n].Own()
		own.Changeover = startup
		if j := v.Block(n); j != nil {
			if c := checkpointOf(j); c != nil {
				own.Changeover += c.Restore + c.unsaved(terms, j, jobs[n].Predicted)
			}
		}
	}
	return jobs
}

// unsaved returns the most work that a job with checkpoints can lose with a server: the work between two checkpoints.
// If a warning leaves time to write a checkpoint, it is the work since the warning.
func (c *Checkpoint) unsaved(terms []*market.Terms, j *experiment.Job, length time.Duration) time.Duration {
	most := c.Every
	switch {
	case c.Units > 0:
		most = time.Duration(float64(length) * float64(c.Units) / float64(j.Length()))
	case c.Rule != "":
		most = intervalRule(c.Rule).Interval(c.Cost, market.Between(terms))
	}
	warning := scheduler.Never
	for _, t := range terms {
		if t != nil && (t.Life != nil || t.Availability != nil || t.MaxLife > 0) {
			warning = min(warning, t.Warning)
		}
	}
	if warning >= c.Cost && warning > 0 {
		most = min(most, warning)
	}
	return most
}

// Saves implements stages.SavesPart.
func (c *Checkpoint) Saves(j *experiment.Job) *simulated.Checkpoint {
	s := &simulated.Checkpoint{
		Every: c.Every, Share: float64(c.Units) / float64(j.Length()), Cost: c.Cost, Restore: c.Restore,
	}
	if c.Rule != "" {
		s.Rule = intervalRule(c.Rule)
	}
	return s
}

// intervalRule is a formula for the best time between checkpoints: "young" or "daly".
type intervalRule string

// Interval implements simulated.IntervalRule.
func (r intervalRule) Interval(cost, between time.Duration) time.Duration {
	if r == "young" {
		return nodesupply.YoungInterval(cost, between)
	}
	return nodesupply.DalyInterval(cost, between)
}

// RuntimeLines implements stages.RuntimeKeyPart.
func (c *Checkpoint) RuntimeLines(prefix string) []stages.KeyLine {
	return []stages.KeyLine{{Label: prefix + "checkpoint", Value: fmt.Sprintf("%+v", *c)}}
}

// Start implements stages.StartPart. It sets the variable with the program's interval between checkpoints.
func (c *Checkpoint) Start(s stages.Starting, out *launch.Job) {
	if every := c.interval(s); every != "" {
		out.Env = append(out.Env, contract.EnvCheckpointEvery+"="+every)
	}
}

// interval returns the interval between checkpoints for the program of a real job; empty for none. A formula assumes
// that the job is on all nodes. For a job with roles, it assumes the nodes without which the job cannot continue.
func (c *Checkpoint) interval(s stages.Starting) string {
	switch {
	case c.Units > 0 && s.Job.Steps > 0:
		return program.Interval{Steps: c.Units}.String()
	case c.Units > 0:
		return program.Interval{Epochs: c.Units}.String()
	case c.Every > 0:
		return program.Interval{Time: c.Every}.String()
	}
	terms := termsOf(s.Hardware)
	if job := s.Job.Template(); len(job.Roles()) > 0 && terms != nil {
		parts, all := s.Parts(), terms
		terms = nil
		for v, t := range all {
			if slices.ContainsFunc(parts, func(p scheduler.Part) bool { return p.Node == v }) && !job.Survives(parts, v) {
				terms = append(terms, t)
			}
		}
	}
	between := market.Between(terms)
	if between == market.Forever {
		return ""
	}
	return program.Interval{Time: max(intervalRule(c.Rule).Interval(c.Cost, between), time.Millisecond)}.String()
}

// KeyLines implements stages.KeyPart. The lines describe the rental terms.
func (r *Rented) KeyLines(prefix string) (lines []stages.KeyLine) {
	life := "none"
	for i, t := range r.Terms {
		if t == nil {
			continue
		}
		n := r.Nodes[i]
		if i == 0 || t != r.Terms[i-1] { // nodes of one block have the same terms
			life = lifeText(t.Life)
		}
		if a := t.Availability; a != nil {
			life = fmt.Sprintf("available, place %d", t.Slot)
		}
		lines = append(lines, stages.KeyLine{Label: fmt.Sprintf("%sserver.%d", prefix, i), Value: fmt.Sprintf(
			"supply %d, idle %s, market %s, region %s, price %v, on demand %v, billing %v, startup %s, life %s, at most %s, "+
				"warning %s, replace %s after %s at most %d times",
			n.Supply, n.Idle, t.Market, t.Region, t.Price, t.OnDemand, t.Billing, t.Startup, life, t.MaxLife,
			t.Warning, t.Replace, t.Delay, t.Limit)})
	}
	return lines
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

// KeyLines implements stages.KeyPart. The lines describe the records of availability.
func (s *supply) KeyLines(prefix string) (lines []stages.KeyLine) {
	for i, t := range s.Terms {
		if t != nil && t.Availability != nil {
			lines = append(lines, stages.KeyLine{Label: fmt.Sprintf("%savailable.%d", prefix, i),
				Value: fmt.Sprintf("%v %v", t.Availability.Times, t.Availability.Servers)})
		}
	}
	return lines
}
