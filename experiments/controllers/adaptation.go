// Package controllers decodes the blocks of what decides beside jobs: adaptations,
// and searches for settings.
package controllers

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/files"
	"github.com/tfexp/tfexp/experiments/words"
	"github.com/tfexp/tfexp/scheduler/adaptation"
)

// Decoder decodes the blocks of one file.
type Decoder struct {
	files.Finder
	// Job and Hardware decode the block of a name; false for one with an error.
	Job      func(name string) (*experiments.Job, bool)
	Hardware func(name string) (*experiments.Hardware, bool)
	earlier  []*adaptation.Study // the adaptation blocks that have been decoded
}

// Adaptations decodes the adaptation blocks below root.
func (d *Decoder) Adaptations(root *eval.Node, global *eval.Env) []*Adaptation {
	var list []*Adaptation
	for _, n := range root.All("adaptation") {
		if s := d.adaptation(n, global); s != nil {
			list = append(list, s)
			d.earlier = append(d.earlier, s.Study)
		}
	}
	return list
}

// adaptation decodes one block; nil when it has an error.
func (d *Decoder) adaptation(n *eval.Node, global *eval.Env) *Adaptation {
	a := d.EvalArgs(n, global)
	s := &adaptation.Study{Name: n.Label, File: eval.Get[string](a, "table"), Seeds: eval.Get[int](a, "seeds")}
	out := &Adaptation{Study: s}
	columns := tableColumns(a)
	good := d.trained(n, a, global, out) && a.OK && (s.File == "" || d.table(a, s, columns))
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

// tableColumns reads which columns hold what.
func tableColumns(a *eval.Args) adaptation.Columns {
	columns := adaptation.DefaultColumns
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
	for _, set := range eval.Get[[]experiments.Setting](a, "columns") {
		i := slices.Index(names, set.Name)
		if i < 0 {
			a.Wrong(a.At("columns"), words.Nearest(set.Name, names), fmt.Sprintf("Unknown column %q", set.Name),
				"columns names %s.", words.OneOf(names))
			continue
		}
		*fields[i].at = set.Value
	}
	return columns
}

// table reads the recorded trainings.
func (d *Decoder) table(a *eval.Args, s *adaptation.Study, columns adaptation.Columns) bool {
	from := d.Find(s.File)
	at := a.At("table")
	var err error
	s.Digest, err = files.ReadAll(from, func(r io.Reader) (err error) {
		s.Tables, s.Budget, err = adaptation.Read(from.Shown, s.Name, r, columns, eval.Get[int](a, "decisions"),
			eval.Get[int](a, "blocks"))
		return err
	})
	var missing *adaptation.Missing
	switch {
	case errors.As(err, &missing):
		hint := ""
		if missing.Line > 0 {
			hint = fmt.Sprintf(" Line %d of the table has the greatest action, %d, which stands for nothing: where "+
				"there are fewer blocks, blocks = N finds the line that is wrong.", missing.Line, missing.Greatest)
		}
		a.Fail(at, "Incomplete table", "Every sequence of decisions must have been run: %v.%s", missing, hint)
	case err != nil:
		a.OK = false
		d.FileErrors(from, at, err)
	}
	return err == nil
}

// controller decodes a controller; nil when it has an error.
func (d *Decoder) controller(n *eval.Node, global *eval.Env, s *adaptation.Study) *adaptation.Controller {
	a := d.EvalArgs(n, global)
	c := &adaptation.Controller{
		Name: n.Label, Kind: n.Label, Sequence: eval.Get[[]int](a, "sequence"), Runs: eval.Get[int](a, "runs"),
	}
	if name := eval.Get[string](a, "name"); name != "" {
		c.Name = name
	}
	if slices.ContainsFunc(s.Controllers, func(o *adaptation.Controller) bool { return o.Name == c.Name }) {
		at := n.Header
		if a.IsSet("name") {
			at = a.At("name")
		}
		a.Fail(at, "Duplicate name", "There is another controller %q: give each a name of its own.", c.Name)
	}
	if kind, ok := adaptation.ByName(c.Kind); ok && kind.Learns {
		d.learning(a, s, c)
	}
	if !a.OK {
		return nil
	}
	return c
}

// learning decodes how an agent learns.
func (d *Decoder) learning(a *eval.Args, s *adaptation.Study, c *adaptation.Controller) {
	l := &adaptation.Learning{
		TrainOn: eval.Get[[]string](a, "train_on"), Curriculum: eval.Get[[]string](a, "curriculum"),
		LeaveOut: eval.Get[bool](a, "leave_out"), Next: eval.Get[int](a, "next_episodes"),
	}
	l.Smooth = l.LeaveOut
	if a.IsSet("smooth") {
		l.Smooth = eval.Get[bool](a, "smooth")
	}
	c.Learn = l
	from := eval.Get[string](a, "transfer_from")
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
			a.Wrong(a.At("transfer_from"), words.Nearest(from, agents), fmt.Sprintf("Unknown agent %q", from),
				"transfer_from is the name of an agent that stands above in this block.%s", d.learnedElsewhere(from))
		}
	}
	l.Settings = adaptation.DefaultSettings(from != "")
	if n := eval.Get[int](a, "episodes"); n > 0 {
		l.Settings.Episodes = n
	}
	l.Settings.Batch = eval.Get[int](a, "batch")
	l.Settings.Rate = eval.Get[float64](a, "rate")
	l.Settings.Temperature = eval.Get[float64](a, "temperature")
	switch {
	case len(l.Curriculum) > 0 && (len(l.TrainOn) > 0 || l.LeaveOut):
		a.Fail(a.At("curriculum"), "Contradicting arguments",
			"A curriculum says on which scenarios the agent learns: train_on and leave_out would say it again.")
	case len(l.Curriculum) == 0 && a.IsSet("next_episodes"):
		a.Fail(a.At("next_episodes"), "Argument that nothing reads", "Only a curriculum has next_episodes.")
	}
}

// learnedElsewhere says that an agent of this name learns in another block; "" if there is none.
func (d *Decoder) learnedElsewhere(name string) string {
	for _, s := range d.earlier {
		for _, c := range s.Controllers {
			if c.Learn != nil && c.Name == name {
				decisions, actions := s.Dims()
				return fmt.Sprintf(" That of adaptation %q learns on another table (%s between %s): its weights do not fit here.",
					s.Name, words.Plural(decisions, "decision"), words.Plural(actions, "action"))
			}
		}
	}
	return ""
}

// settled checks what a controller needs of the table.
func (d *Decoder) settled(n *eval.Node, s *adaptation.Study, c *adaptation.Controller) bool {
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
	decisions, actions := s.Dims()
	names := s.ScenarioNames()
	if c.Kind == "constant" {
		for i, action := range c.Sequence {
			if action >= actions {
				fail("sequence", "Unknown action", "Action %d of the sequence is %d: blocks have the numbers 0 to "+
					"%d, and %d is nothing.", i+1, action, actions-2, actions-1)
			}
		}
		if len(c.Sequence) != decisions {
			fail("sequence", "Sequence of another length", "It has %s, and a training has %s.",
				words.Plural(len(c.Sequence), "action"), words.Plural(decisions, "decision"))
		}
	}
	kind, _ := adaptation.ByName(c.Kind)
	if len(names) < 2 && (kind.Elsewhere || c.Learn != nil && c.Learn.LeaveOut) {
		fail("leave_out", "Only one scenario", "%s reads the other scenarios of the table, and there are none.",
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
					words.AllOf(names))
				e.Suggestion = words.Nearest(name, names)
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
