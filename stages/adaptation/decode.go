package adaptation

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/stages/adaptation/deepening"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
	"github.com/tfexp/tfexp/stages/language/datafile"
)

func init() {
	language.Extend("adaptation", language.File, language.Extension[experiment.Spec]{
		Blocks: func() []*schema.Block { return []*schema.Block{adaptationBlock()} },
		Decode: func(d *language.Decoder, b language.Block, s *experiment.Spec) {
			for _, part := range (&decoder{Decoder: d}).adaptations() {
				s.Parts = append(s.Parts, part)
			}
		},
		Spares: spares,
	})
}

// spares returns the blocks that a file with adaptation blocks can lack. Without them, an adaptation with a job still
// trains it.
func spares(file *eval.Node) []string {
	all := file.All("adaptation")
	switch {
	case len(all) == 0:
		return nil
	case slices.ContainsFunc(all, func(n *eval.Node) bool { return n.Attr("job") != nil }):
		return []string{"workload", "policy"}
	case file.First("workload") == nil && file.First("hardware") == nil && file.First("policy") == nil:
		return []string{"workload", "hardware", "policy"}
	}
	return nil
}

// decoder decodes the adaptation blocks of a file.
type decoder struct {
	*language.Decoder
	earlier []*deepening.Study // decoded before the present block
}

// adaptations decodes all adaptation blocks.
func (d *decoder) adaptations() []*Block {
	var list []*Block
	for _, n := range d.Root.All("adaptation") {
		if s := d.adaptation(n, d.Global); s != nil {
			list = append(list, s)
			d.earlier = append(d.earlier, s.Study)
		}
	}
	return list
}

// named decodes the block that an argument names.
func named[T any](d *decoder, kind, name string, decode func(*eval.Node, *eval.Env) (T, bool)) (v T, ok bool) {
	n := d.Root.Find(kind, name)
	if n == nil {
		return v, false // the mistake has been reported
	}
	return decode(n, d.Global)
}

// adaptation decodes one block; nil if it has a mistake.
func (d *decoder) adaptation(n *eval.Node, global *eval.Env) *Block {
	var v adaptationArgs
	a := d.Decode(n, global, &v)
	s := &deepening.Study{Name: n.Label, File: v.Table, Seeds: v.Seeds}
	out := &Block{Study: s}
	columns := tableColumns(a, v.Columns)
	good := d.trained(n, a, &v, global, out) && a.OK && (s.File == "" || d.table(a, &v, s, columns))
	var nodes []*eval.Node
	for _, b := range n.All("controller") {
		if c := d.controller(b, global, s); c != nil {
			s.Controllers, nodes = append(s.Controllers, c), append(nodes, b)
		} else {
			good = false
		}
	}
	if !good || n.Broken || !d.known(nodes, s) {
		return nil
	}
	if s.File == "" {
		s.Budget = s.Real.Budget.Seconds()
	}
	for i, c := range s.Controllers {
		good = d.settled(nodes[i], s, c) && good
	}
	if !good {
		return nil
	}
	return out
}

// tableColumns reads which column of the table has which content.
func tableColumns(a *eval.Args, named []schema.Setting) deepening.Columns {
	columns := deepening.DefaultColumns
	fields := []struct {
		name string
		at   *string
	}{
		{"scenario", &columns.Scenario}, {"action", &columns.Action}, {"time_left", &columns.TimeLeft},
		{"total", &columns.Total}, {"accuracy", &columns.Accuracy},
	}
	var names []string
	for _, f := range fields {
		names = append(names, f.name)
	}
	for _, set := range named {
		i := slices.Index(names, set.Name)
		if i < 0 {
			a.Wrong(a.At("columns"), schema.Nearest(set.Name, names), fmt.Sprintf("Unknown column %q", set.Name),
				"columns names %s.", schema.OneOf(names))
			continue
		}
		*fields[i].at = set.Value
	}
	return columns
}

// table reads the table of recorded trainings.
func (d *decoder) table(a *eval.Args, v *adaptationArgs, s *deepening.Study, columns deepening.Columns) bool {
	from := d.Find(s.File)
	at := a.At("table")
	var err error
	s.Digest, err = datafile.ReadFile(from, func(r io.Reader) (err error) {
		s.Tables, s.Budget, err = deepening.ReadTable(from.Shown, s.Name, r, columns, v.Decisions, v.Blocks)
		return err
	})
	var missing *deepening.MissingSequences
	switch {
	case errors.As(err, &missing):
		hint := ""
		if missing.Line > 0 {
			hint = fmt.Sprintf(" Line %d of the table has the greatest action, %d, which counts as doing nothing: if "+
				"the network has fewer blocks, set blocks = N to find the wrong line.", missing.Line, missing.Greatest)
		}
		a.Fail(at, "Incomplete table", "Every sequence of decisions must have been run: %v.%s", missing, hint)
	case err != nil:
		a.OK = false
		datafile.FileErrors(d.Finder, from, at, err)
	}
	return err == nil
}

// controller decodes a controller block; nil if it has a mistake.
func (d *decoder) controller(n *eval.Node, global *eval.Env, s *deepening.Study) *deepening.Controller {
	a := d.EvalArgs(n, global)
	c := &deepening.Controller{
		Name: n.Label, Kind: n.Label, Sequence: eval.Get[[]int](a, "sequence"), Runs: eval.Get[int](a, "runs"),
	}
	if name := eval.Get[string](a, "name"); name != "" {
		c.Name = name
	}
	if slices.ContainsFunc(s.Controllers, func(o *deepening.Controller) bool { return o.Name == c.Name }) {
		at := n.Header
		if a.IsSet("name") {
			at = a.At("name")
		}
		a.Fail(at, "Duplicate name", "There is another controller %q: give each a name of its own.", c.Name)
	}
	if kind, ok := deepening.KindByName(c.Kind); ok && kind.Learns {
		d.learning(a, s, c)
	}
	if !a.OK {
		return nil
	}
	return c
}

// learning decodes the arguments about an agent's learning.
func (d *decoder) learning(a *eval.Args, s *deepening.Study, c *deepening.Controller) {
	var v deepening.AgentArgs
	a.Fill(&v)
	l := &deepening.AgentLearning{
		TrainOn: v.TrainOn, Curriculum: v.Curriculum, LeaveOut: v.LeaveOut, Next: v.NextEpisodes, Smooth: v.LeaveOut,
	}
	l.Smooth = schema.Or(v.Smooth, l.Smooth)
	c.Learn = l
	from := v.TransferFrom
	if from != "" {
		var agents []string
		for _, o := range s.Controllers {
			if o.Learn != nil {
				agents = append(agents, o.Name)
			}
			if o.Learn != nil && o.Name == from {
				l.From = o
			}
		}
		if l.From == nil {
			a.Wrong(a.At("transfer_from"), schema.Nearest(from, agents), fmt.Sprintf("Unknown agent %q", from),
				"transfer_from is the name of an agent that stands above in this block.%s", d.learnedElsewhere(from))
		}
	}
	l.Settings = deepening.DefaultSettings(from != "")
	l.Settings.Episodes = cmp.Or(v.Episodes, l.Settings.Episodes)
	l.Settings.Batch, l.Settings.Rate, l.Settings.Temperature = v.Batch, v.Rate, v.Temperature
	switch {
	case len(l.Curriculum) > 0 && (len(l.TrainOn) > 0 || l.LeaveOut):
		a.Fail(a.At("curriculum"), "Contradicting arguments",
			"A curriculum says on which scenarios the agent learns: train_on and leave_out would say it again.")
	case len(l.Curriculum) == 0 && a.IsSet("next_episodes"):
		a.Unread("Only a curriculum has {}.", "next_episodes")
	}
}

// learnedElsewhere returns a note that an agent with this name learns in another block; "" if none does.
func (d *decoder) learnedElsewhere(name string) string {
	for _, s := range d.earlier {
		for _, c := range s.Controllers {
			if c.Learn != nil && c.Name == name {
				decisions, actions := s.Dimensions()
				return fmt.Sprintf(" The agent of adaptation %q learns on another table (%s between %s), so its weights do not fit.",
					s.Name, schema.Plural(decisions, "decision"), schema.Plural(actions, "action"))
			}
		}
	}
	return ""
}

// settled checks that the table has the data that a controller needs.
func (d *decoder) settled(n *eval.Node, s *deepening.Study, c *deepening.Controller) bool {
	before := len(d.List)
	at := func(name string) (r experiments.Range) {
		if attr := n.Attr(name); attr != nil {
			return eval.RangeOf(attr.Expr.Range())
		}
		return eval.RangeOf(n.Header)
	}
	fail := func(name, summary, detail string, values ...any) {
		d.Add(experiments.ErrorAt(at(name), summary, detail, values...))
	}
	decisions, actions := s.Dimensions()
	names := s.ScenarioNames()
	if c.Kind == "constant" {
		for i, action := range c.Sequence {
			if action >= actions {
				fail("sequence", "Unknown action", "Action %d of the sequence is %d, but must be the number of a block, "+
					"0 to %d, or %d to deepen no block.", i+1, action, actions-2, actions-1)
			}
		}
		if len(c.Sequence) != decisions {
			fail("sequence", "Wrong number of decisions", "The sequence has %s, but a training has %s: "+
				"write one action for each decision.",
				schema.Plural(len(c.Sequence), "action"), schema.Plural(decisions, "decision"))
		}
	}
	kind, _ := deepening.KindByName(c.Kind)
	if len(names) < 2 && (kind.Elsewhere || c.Learn != nil && c.Learn.LeaveOut) {
		fail("leave_out", "Only one scenario", "%s reads the other scenarios of the table, but the table has only one: "+
			"use a table with more scenarios.",
			n.Title())
	}
	if c.Learn == nil {
		return len(d.List) == before
	}
	for _, arg := range []struct {
		name string
		list []string
	}{{"train_on", c.Learn.TrainOn}, {"curriculum", c.Learn.Curriculum}} {
		for _, name := range arg.list {
			if !slices.Contains(names, name) {
				e := experiments.ErrorAt(at(arg.name), fmt.Sprintf("Unknown scenario %q", name), "The table has %s.",
					schema.AllOf(names))
				e.Suggestion = schema.Nearest(name, names)
				d.Add(e)
			}
		}
	}
	if l := c.Learn; l.LeaveOut && len(l.TrainOn) == 1 && slices.Contains(names, l.TrainOn[0]) {
		fail("train_on", "Nothing to learn from",
			"Without %q itself, an agent that decides there has no scenario left.",
			l.TrainOn[0])
	}
	return len(d.List) == before
}
