package adaptation

import (
	"fmt"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/adaptation/deepening"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// Block is a decoded adaptation block, as a part of the experiment. For a block with a job, it has the cell of each
// scenario in which the job trains.
type Block struct {
	*deepening.Study
	Cells []experiment.Cell `json:",omitempty"`
}

// Probes implements experiment.ProbePart.
func (b *Block) Probes() []experiment.Cell { return b.Cells }

// Size implements experiment.SizePart.
func (b *Block) Size(*experiment.Spec) string {
	return fmt.Sprintf("adaptation %s: %s × %s", b.Name, schema.Plural(len(b.Controllers), "controller"),
		schema.Plural(len(b.ScenarioNames()), "scenario"))
}

// blocks returns the adaptation blocks of an experiment.
func blocks(s *experiment.Spec) (list []*Block) {
	experiment.EachPart(s.Parts, func(b *Block) { list = append(list, b) })
	return list
}

// trained decodes how the job of an adaptation trains. It returns nil for a block without a job.
func (d *decoder) trained(n *eval.Node, a *eval.Args, v *adaptationArgs, global *eval.Env, out *Block) bool {
	if a.Lacks("job") {
		a.Unread("Only an adaptation with a job reads {}.", "hardware", "decide", "repeats")
		if s := n.First("scenario"); s != nil {
			a.Fail(s.Header, "Unused block",
				"Only an adaptation with a job has scenarios; the scenarios of a table are in its file.")
		}
		if a.Lacks("table") && !n.Broken {
			a.Fail(n.Header, "Missing argument", "%s needs a table of trainings, or a job that is trained.", n.Title())
		}
		return a.OK
	}
	if a.Lacks("hardware") && !n.Broken {
		a.Fail(n.Header, "Missing argument", "%s needs hardware on which its job trains.", n.Title())
	}
	if a.Lacks("table") {
		a.Unread("Only an adaptation with a table reads {}.", "columns")
	}
	if !a.OK {
		return false
	}
	job, ok := named(d, "job", v.Job, d.Blocks.Job)
	hardware, ok2 := named(d, "hardware", v.Hardware, d.Blocks.Hardware)
	if !ok || !ok2 {
		return false
	}
	r := &deepening.RealTrainings{Decisions: v.Decisions, Repeats: v.Repeats}
	if d.canDeepen(a, v, job, hardware, r) {
		d.decisionTimes(a, v, r)
		d.scenarios(n, a, global, out, job, hardware, r)
	}
	out.Real = r
	return a.OK
}

// canDeepen checks that a job's network can be deepened while it trains, and finds the number of its blocks.
func (d *decoder) canDeepen(
	a *eval.Args, v *adaptationArgs, j *experiment.Job, h *experiment.Hardware, r *deepening.RealTrainings,
) bool {
	at := a.At("job")
	r.Blocks = v.Blocks
	blocks, problem := 0, ""
	own, isOwn := experiment.PartOf[stages.OwnProgram](j.Parts)
	if isOwn {
		blocks, problem = own.Deepens()
	}
	switch {
	case !h.Real():
		a.Fail(a.At("hardware"), "Network that does not train",
			"On the hardware %q, which is simulated, there is no network to deepen: it needs an engine that runs "+
				"programs.", h.Name)
	case j.Budget == nil:
		a.Fail(at, "Job without a budget", "The job %q needs a budget: how long each training takes.", j.Name)
	case *j.Budget == 0:
		a.Fail(at, "Job without time", "The budget of the job %q is 0s, so there is no time for a decision.", j.Name)
	case len(j.Alternatives) > 0 || j.RunsAsSeveralPrograms() || j.Nodes > 1:
		a.Fail(at, "Job of several parts",
			"The job %q is one program on one node, without alternatives and roles.", j.Name)
	case problem != "":
		a.Fail(at, "Network that cannot be deepened", "The network of the job %q cannot be deepened: %s.", j.Name, problem)
	case !isOwn && r.Blocks == 0:
		a.Fail(at, "Missing argument",
			"The job %q has a command, so the adaptation needs blocks: how many of them it can deepen.", j.Name)
	case blocks > 0 && r.Blocks > 0 && r.Blocks != blocks:
		a.Fail(a.At("blocks"), "Contradicting arguments",
			"The network of the job %q has %s.", j.Name, schema.Plural(blocks, "block"))
	}
	r.Blocks = max(r.Blocks, blocks)
	r.Budget = schema.Or(j.Budget, r.Budget)
	return a.OK
}

// mostTrained is the greatest number of sequences that are trained in a scenario.
const mostTrained = 100_000

// decisionTimes reads the times at which decisions are made.
func (d *decoder) decisionTimes(a *eval.Args, v *adaptationArgs, r *deepening.RealTrainings) {
	if n := r.Sequences(); n > mostTrained || n <= 0 {
		a.Fail(a.At("decisions"), "Value out of range", "%s between %s are more than %d sequences.",
			schema.Plural(r.Decisions, "decision"), schema.Plural(r.Blocks+1, "action"), mostTrained)
	}
	if !a.IsSet("decide") || !a.OK {
		return
	}
	r.At = v.Decide
	switch last := r.At[len(r.At)-1]; {
	case len(r.At) != r.Decisions:
		a.Fail(a.At("decide"), "Contradicting arguments",
			"decide has %s, but decisions is %d.", schema.Plural(len(r.At), "time"), r.Decisions)
	case !slices.IsSorted(r.At):
		a.Fail(a.At("decide"), "Times out of order", "decide must list the times of the decisions in ascending order.")
	case last >= r.Budget:
		a.Fail(a.At("decide"), "Decision after the end",
			"The budget of the job ends at %s, so no decision can be taken at %s.", r.Budget, last)
	}
}

// scenarios decodes the scenarios and makes their cells. A block without scenarios has one, without changes.
func (d *decoder) scenarios(n *eval.Node, a *eval.Args, global *eval.Env, out *Block, j *experiment.Job,
	h *experiment.Hardware, r *deepening.RealTrainings) {
	list := n.All("scenario")
	if len(list) == 0 {
		d.addScenario(n, "steady", nil, out, j, h, r)
	}
	for _, s := range list {
		var changes []experiment.Update
		for _, c := range s.All("changes") {
			u := experiment.Update{Job: j.Name + "-1", Range: eval.RangeOf(c.Header)}
			ca := d.Decode(c, global, &u)
			if a.OK = a.OK && ca.OK; !ca.OK {
				continue
			}
			switch {
			case !j.Malleable:
				a.Fail(c.Header, "Change of a job that keeps its threads",
					"The job %q needs malleable = true for its threads to change.", j.Name)
			case u.At >= r.Budget && r.Budget > 0:
				d.Warnf(ca.At("at"), "Change after the end",
					"The budget of the job ends at %s: a change at %s does nothing.", r.Budget, u.At)
			}
			changes = append(changes, u)
		}
		a.OK = a.OK && !s.Broken
		d.addScenario(s, s.Label, changes, out, j, h, r)
	}
}

func (d *decoder) addScenario(n *eval.Node, name string, changes []experiment.Update, out *Block,
	j *experiment.Job, h *experiment.Hardware, r *deepening.RealTrainings) {
	at := eval.RangeOf(n.Header)
	sc := deepening.Scenario{Name: name}
	for i, c := range changes {
		if i == 0 || c.At < sc.First {
			sc.First = c.At
		}
	}
	r.Scenarios = append(r.Scenarios, sc)
	out.Cells = append(out.Cells, experiment.Cell{
		Hardware: h, Policy: language.FirstCome(n),
		Workload: &experiment.Workload{
			Name: out.Name + "-" + name, Range: at, Resizes: changes,
			Submits: []experiment.Submit{{
				Job: j, Count: 1, Arrivals: workload.Arrivals{Kind: workload.At, Times: []time.Duration{0}},
				Budget: j.Budget, Range: at,
			}},
		},
	})
}

// known checks that the controllers' table exists: the block has a table, or its controller "exhaustive" makes one.
func (d *decoder) known(nodes []*eval.Node, s *deepening.Study) bool {
	good := true
	fail := func(at hcl.Range, summary, detail string, args ...any) {
		d.Errorf(at, summary, detail, args...)
		good = false
	}
	makes := slices.ContainsFunc(s.Controllers, func(c *deepening.Controller) bool {
		k, _ := deepening.KindByName(c.Kind)
		return k.Makes
	})
	for i, c := range s.Controllers {
		k, _ := deepening.KindByName(c.Kind)
		at := nodes[i].Header
		switch {
		case k.Makes && s.Real == nil:
			fail(at, "No job to train", "%s trains networks for real: the adaptation needs a job.", nodes[i].Title())
		case k.Makes && s.File != "":
			fail(at, "Contradicting blocks",
				"%q has its table from a file, so nothing must be trained for it.", s.Name)
		case (k.Learns || k.Oracle || k.Elsewhere) && s.Real != nil && s.File == "" && !makes:
			fail(at, "Nothing to decide by",
				"%s reads a table: the adaptation needs one, or a controller \"exhaustive\" that makes it.",
				nodes[i].Title())
		}
	}
	if s.Real == nil || !good {
		return good
	}
	s.Real.Exhaustive = makes
	if s.File == "" {
		return true
	}
	at := nodes[0].Header
	decisions, actions := s.Tables[0].Decisions, s.Tables[0].Actions
	if decisions != s.Real.Decisions || actions != s.Real.Blocks+1 {
		fail(at, "Table of another network", "The table has %s between %d actions, and the job %s between %d.",
			schema.Plural(decisions, "decision"), actions, schema.Plural(s.Real.Decisions, "decision"), s.Real.Blocks+1)
	}
	for _, sc := range s.Real.Scenarios {
		if s.Scenario(sc.Name) == nil {
			fail(at, fmt.Sprintf("Unknown scenario %q", sc.Name),
				"The table of %q has %s; each scenario of the job must be one of them.",
				s.Name, schema.AllOf(s.ScenarioNames()))
		}
	}
	return good
}
