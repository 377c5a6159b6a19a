package search

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
	"github.com/tfexp/tfexp/stages/tuning/trial"
	"github.com/tfexp/tfexp/stages/tuning/tuner"
)

// tune is a decoded tune block, before the cells of its trials are made.
type tune struct {
	*Search
	// Values has the listed values of settings, by the setting's name and the value's text, joined by "\x00".
	Values map[string]cty.Value
}

// tuned is a tune block and a copy of its job block. In the copy, the settings replace arguments of the same name.
type tuned struct {
	node     *eval.Node
	job      *eval.Node // the copy of the job block
	settings []string
	whole    bool // the block has no mistakes
}

// searched returns the setting blocks of a tune block, and then its context blocks.
func searched(n *eval.Node) []*eval.Node { return slices.Concat(n.All("setting"), n.All("context")) }

// matrix makes the cells of tune blocks from the points of a file's matrix.
type matrix struct {
	decoder
	language.Matrix
	tuned []*tuned
}

// begin finds the tune blocks. It returns a function that adds their searches to the experiment.
func begin(d *language.Decoder, m language.Matrix) func(*experiment.Spec) {
	x := &matrix{decoder: decoder{d}, Matrix: m}
	x.tunes()
	return x.searches
}

// tunes finds the tune blocks, and replaces the job arguments that have the names of settings.
func (x *matrix) tunes() {
	for _, n := range x.Root.All("tune") {
		before := len(x.List)
		x.tune(n, x.Unknown())
		x.Decoded(n, before)
		t := &tuned{node: n}
		for _, s := range searched(n) {
			if slices.Contains(t.settings, s.Label) {
				x.Errorf(s.LabelAt, "Duplicate setting", "%s has a setting %q already.", n.Title(), s.Label)
			}
			t.settings = append(t.settings, s.Label)
			if x.ReadAxis(s.Label) {
				x.Errorf(s.LabelAt, "Setting with the name of an axis",
					"The matrix has an axis %q; give the setting another name.", s.Label)
			}
		}
		t.whole = !x.Broken(n) && len(x.List) == before
		if job := x.jobOf(n); job != nil {
			t.job = x.bind(t, job)
			t.whole = t.whole && !x.Broken(job) && !x.Broken(t.job) && len(x.List) == before
		}
		x.tuned = append(x.tuned, t)
	}
}

// jobOf returns the job block that a tune block names.
func (x *matrix) jobOf(n *eval.Node) *eval.Node {
	names, _ := eval.NamesRead(n, "job")
	if len(names) == 0 {
		return nil
	}
	return x.Root.Find("job", names[0])
}

// bind returns a copy of the job block in which the arguments with names of settings have the settings' values. It
// reports settings that neither the job nor a hardware block reads.
func (x *matrix) bind(t *tuned, job *eval.Node) *eval.Node {
	read, _ := eval.NamesRead(job, "each")
	for _, h := range x.Root.All("hardware") {
		names, _ := eval.NamesRead(h, "each")
		read = append(read, names...)
	}
	broken := x.Broken(job)
	recorded := x.recordedSettings(job, x.Unknown())
	read = append(read, recorded...)
	bound := *job
	bound.Attrs, bound.Blocks = slices.Clone(job.Attrs), slices.Clone(job.Blocks)
	for i, b := range bound.Blocks {
		if slices.Contains(language.Programs(), b.Schema.Name) {
			copied := *b
			copied.Attrs = slices.Clone(b.Attrs)
			bound.Blocks[i] = &copied
		}
	}
	program := language.ProgramIn(&bound)
	for _, s := range searched(t.node) {
		switch {
		case s.Broken || broken || slices.Contains(read, s.Label):
		case schema.Find(bound.Args, s.Label) != nil && len(recorded) == 0:
			replace(&bound, s)
		case program != nil && schema.Find(program.Args, s.Label) != nil:
			replace(program, s)
		default:
			known := append(schema.Names(job.Args), recorded...)
			if program != nil {
				known = append(known, schema.Names(program.Args)...)
			}
			x.Suggest(s.LabelAt, schema.Nearest(s.Label, known), "Setting that the job does not have",
				"Neither %s nor a hardware reads each.%s, and %s has no argument %q: the setting would change nothing. A program "+
					"takes it from its command line: command = [\u2026, \"--%s\", each.%s].",
				job.Title(), s.Label, job.Title(), s.Label, s.Label, s.Label)
		}
	}
	x.Decoded(&bound, len(x.List))
	return &bound
}

// replace makes an argument read the value of a setting.
func replace(n *eval.Node, s *eval.Node) {
	at := s.LabelAt
	expr, diags := hclsyntax.ParseExpression([]byte("each."+s.Label), at.Filename, at.Start)
	if diags.HasErrors() {
		return // does not happen: labels are identifiers
	}
	a := &hcl.Attribute{Name: s.Label, Expr: expr, Range: at, NameRange: at}
	for i, old := range n.Attrs {
		if old.Name == s.Label {
			n.Attrs[i] = a
			return
		}
	}
	n.Attrs = append(n.Attrs, a)
}

// searches adds the searches to the experiment: for each tune block, one search for each hardware and for all values of
// the axes that the block reads.
func (x *matrix) searches(spec *experiment.Spec) {
	n := 0
	for _, t := range x.tuned {
		if t.job == nil {
			continue
		}
		visit := func(p language.Point) {
			if one := x.search(t, p); one != nil {
				one.Index = n
				spec.Parts = append(spec.Parts, one)
				n++
			}
		}
		if !t.whole {
			visit = nil
		}
		x.Each([]*eval.Node{t.node, t.job}, visit)
	}
}

// search makes one search at a point of the matrix; nil if it has a mistake.
func (x *matrix) search(t *tuned, p language.Point) *Search {
	before := len(x.List)
	e := x.Global.With(p.Values, "")
	decoded, ok := x.tune(t.node, e)
	if !ok {
		return nil
	}
	one := decoded.Search
	one.Hardware, one.Axes = p.Hardware.Label, p.Axes
	measured := x.measuredSettings(t.job, e, t.settings)
	if !x.fill(t, one, measured) {
		return nil
	}
	trials := &trials{x: x, t: t, decoded: decoded, at: p, made: map[string]made{}}
	one.At = trials.cell
	if len(measured) > 0 {
		x.candidates(t, one, measured, trials)
	} else {
		x.probe(one, trials)
	}
	if len(x.List) > before && x.Failed() {
		return nil
	}
	x.suits(t, one)
	return one
}

// fill takes the values of settings that list none from the table of measurements.
func (x *matrix) fill(t *tuned, one *Search, measured [][]string) bool {
	good := true
	for i := range one.Settings {
		s := &one.Settings[i]
		if len(s.Values) > 0 || s.Numeric {
			continue
		}
		at := searched(t.node)[i]
		if len(measured) == 0 {
			x.Errorf(at.Header, "Setting without values", "%s needs values, or min and max.", at.Title())
			good = false
			continue
		}
		s.Numeric = true
		for _, row := range measured {
			if !slices.Contains(s.Values, row[i]) {
				s.Values = append(s.Values, row[i])
				_, err := cty.ParseNumberVal(row[i])
				s.Numeric = s.Numeric && err == nil
			}
		}
		if s.Numeric {
			slices.SortFunc(s.Values, func(a, b string) int {
				u, v := cty.MustParseNumberVal(a), cty.MustParseNumberVal(b)
				return u.AsBigFloat().Cmp(v.AsBigFloat())
			})
		}
		good = settle(x.Reporter, at, s) && good
	}
	return good
}

// mostCandidates is the greatest number of measured settings that a search can have.
const mostCandidates = 20_000

// candidates restricts the search to the measured settings, and finds the best of them.
func (x *matrix) candidates(t *tuned, one *Search, measured [][]string, all *trials) {
	one.Candidates = [][]string{} // not nil: only the listed settings can be tried
	for _, values := range measured {
		if !inSpace(one.Settings, values) {
			continue
		}
		if len(one.Candidates) == mostCandidates {
			x.Errorf(t.node.Header, "Table too large", "More than %d settings were measured.", mostCandidates)
			return
		}
		c, err := all.cell(values)
		if err != nil {
			x.Errorf(t.node.Header, "Trial that cannot be made",
				"With %s: %v.", settingsText(one.Settings, values), err)
			return
		}
		one.Candidates = append(one.Candidates, values)
		if len(one.Candidates) == 1 {
			one.Checked = append(one.Checked, c)
		}
		out := recordedOf(c.Workload.Submits[0].Job).Outcome.Reach(one.Aim())
		if v := one.Value(out); one.Feasible(out) && one.Counts(settingsOf(one.Settings, values)) &&
			(one.Best == nil || one.Better(v, *one.Best)) {
			one.Best = &v
			one.BestSettings = settingsOf(one.Settings, values)
		}
	}
	switch {
	case len(one.Candidates) == 0:
		x.Errorf(t.node.Header, "Empty space", "The table has none of the settings that %s searches.", t.node.Title())
	case one.Best == nil:
		x.Warnf(t.node.Header, "Constraints that nothing satisfies",
			"No settings of the table satisfy the constraints of %s.", t.node.Title())
	}
}

// settingsOf returns the settings' names with the given values.
func settingsOf(settings []trial.TunedSetting, values []string) []record.Setting {
	list := make([]record.Setting, len(settings))
	for i, s := range settings {
		list[i] = record.Setting{Name: s.Name, Value: values[i]}
	}
	return list
}

// inSpace reports whether measured values are among the values that the search allows.
func inSpace(settings []trial.TunedSetting, values []string) bool {
	for i, s := range settings {
		if len(s.Values) > 0 {
			if !slices.Contains(s.Values, values[i]) {
				return false
			}
			continue
		}
		v, err := cty.ParseNumberVal(values[i])
		if err != nil {
			return false
		}
		if f, _ := v.AsBigFloat().Float64(); f < s.Min || f > s.Max || s.Integer && f != math.Trunc(f) {
			return false
		}
	}
	return true
}

// probe makes a trial for each value of each setting, or for both ends of its range. Values that the job does not
// accept are thus found when the file is read.
func (x *matrix) probe(one *Search, all *trials) {
	initial := schema.Each(one.Settings, func(s trial.TunedSetting) string { return s.Initial })
	for i, s := range one.Settings {
		values := s.Values
		if len(values) == 0 {
			values = []string{trial.Number(s.Min), trial.Number(s.Max)}
		}
		for _, v := range values {
			at := slices.Clone(initial)
			at[i] = v
			c, err := all.checked(at)
			if err != nil {
				return // checked has reported the mistake
			}
			one.Checked = append(one.Checked, c)
		}
	}
	x.possible(one, all)
}

// mostListed is the greatest number of combinations of settings that are checked one by one, if there is no table.
const mostListed = 2000

// possible removes combinations of settings that cannot run: the job does not accept them, or requests more than the
// hardware has.
func (x *matrix) possible(one *Search, all *trials) {
	p := one.Problem(0)
	if n := p.Space.Size(mostListed); n <= 0 || len(p.Space) > p.Space.Settings() {
		return
	}
	var fit [][]string
	points := p.Space.Grid()
	for _, at := range points {
		values := one.ValuesAt(at)
		c, err := all.cell(values)
		if err == nil && c.Workload.Submits[0].Job.Fits(c.Hardware) {
			fit = append(fit, values)
		}
	}
	if len(fit) > 0 && len(fit) < len(points) { // if none fits, later checks report the mistake
		one.Candidates, one.Impossible = fit, len(points)-len(fit)
	}
}

// suits reports a method or an objective that does not work with these trials.
func (x *matrix) suits(t *tuned, one *Search) {
	place := func(arg string) hcl.Range {
		if a := t.node.Attr(arg); a != nil {
			return a.Expr.Range()
		}
		return t.node.Header
	}
	m, _ := tuner.Find(one.Method)
	p := one.Problem(0)
	if m.NeedsGrid && !p.Finite() {
		x.Errorf(place("method"), "Method that does not fit",
			"The method %q needs settings with lists of values or whole numbers, and not too many of them.", m.Name)
	}
	contexts := len(t.node.All("context"))
	switch {
	case m.NeedsContext && contexts == 0:
		x.Errorf(place("method"), "Method that does not fit",
			"The method %q needs a context block: the part of the whole that a trial gets.", m.Name)
	case m.NeedsContext && contexts > 1:
		x.Errorf(t.node.All("context")[1].Header, "Method that does not fit",
			"The method %q needs exactly one context block.", m.Name)
	}
	if m.NeedsBest && (one.Candidates == nil || one.Impossible > 0) {
		x.Errorf(place("method"), "Method that does not fit",
			"The method %q needs a job with a recorded block, all of whose outcomes are known.", m.Name)
	}
	if len(one.Checked) == 0 {
		return
	}
	c := one.Checked[0]
	j := c.Workload.Submits[0].Job
	if !c.Hardware.Real() && j.Runtime == nil {
		x.Errorf(place("job"), "Trials without an outcome",
			"On the simulated hardware %q, trials of %q need a runtime or a recorded block.", one.Hardware, j.Name)
		return
	}
	if c.Hardware.Real() && recordedOf(j) != nil {
		x.Errorf(place("job"), "Recorded job on real hardware",
			"The outcomes of %q are recorded, so there is nothing to run on %q: it needs simulated "+
				"hardware.", j.Name, one.Hardware)
		return
	}
	needs := []string{one.Objective}
	at := []hcl.Range{place("objective")}
	if o := trial.FindObjective(one.Objective); o.Target != "" {
		needs[0] = o.Target
	}
	for _, n := range t.node.All("constraint") {
		needs, at = append(needs, n.Label), append(at, n.Header)
	}
	for i, name := range needs {
		if lacks(c, j, name) && !(one.Mode != "" && name == "loss" && j.Runtime != nil && len(j.Runtime.Losses) > 0) {
			x.Errorf(at[i], "Outcome that nothing reports",
				"Trials of %q on %q have no %s.", j.Name, one.Hardware, name)
		}
	}
}

// lacks reports whether it is certain that trials have no outcome with the given name.
func lacks(c experiment.Cell, j *experiment.Job, name string) bool {
	switch {
	case recordedOf(j) != nil:
		o := recordedOf(j).Outcome
		return name != "throughput" && o.Crashed == "" && math.IsNaN(o.Outcome(name))
	case name == "cost":
		return !c.Hardware.Cluster.Changes() // only hardware with rented servers has prices
	case c.Hardware.Real():
		return false
	}
	return name != "time" && name != "throughput"
}

// trials makes the cells of the trials of one search, each once.
type trials struct {
	x       *matrix
	t       *tuned
	decoded *tune
	at      language.Point
	made    map[string]made
}

// made is a cell that was made, or the reason why it could not be made.
type made struct {
	cell experiment.Cell
	err  error
}

// cell returns the cell of a trial. A mistake in the cell is returned as the error, and not reported.
func (t *trials) cell(values []string) (experiment.Cell, error) {
	key := strings.Join(values, "\x00")
	if m, ok := t.made[key]; ok {
		return m.cell, m.err
	}
	before := len(t.x.List)
	c, err := t.checked(values)
	t.x.TakeBack(before)
	t.made[key] = made{c, err}
	return c, err
}

// checked makes the cell of a trial, and reports mistakes in it.
func (t *trials) checked(values []string) (experiment.Cell, error) {
	each := map[string]cty.Value{}
	maps.Copy(each, t.at.Values)
	for i, s := range t.decoded.Settings {
		v, ok := t.decoded.Values[s.Name+"\x00"+values[i]]
		if !ok && s.Numeric {
			var err error
			if v, err = cty.ParseNumberVal(values[i]); err != nil {
				return experiment.Cell{}, fmt.Errorf("%s is %q, which is not a number", s.Name, values[i])
			}
		} else if !ok {
			v = cty.StringVal(values[i])
		}
		each[s.Name] = v
	}
	before := len(t.x.List)
	e := t.x.Global.With(each, " (with "+settingsText(t.decoded.Settings, values)+")")
	job, ok := t.x.Blocks.Job(t.t.job, e)
	h, ok2 := t.x.Blocks.Hardware(t.at.Hardware, e)
	if !ok || !ok2 {
		for _, d := range t.x.List[before:] {
			return experiment.Cell{}, errors.New(strings.TrimSuffix(d.Summary+": "+d.Detail, "."))
		}
		return experiment.Cell{}, errors.New("its settings are not possible")
	}
	c := experiment.Cell{
		Hardware: h, Policy: language.FirstCome(t.t.node),
		Workload: &experiment.Workload{
			Name: t.t.node.Label, Range: eval.RangeOf(t.t.node.Header),
			Submits: []experiment.Submit{{
				Job: job, Count: 1, Arrivals: workload.Arrivals{Kind: workload.At, Times: []time.Duration{0}},
				Range: eval.RangeOf(t.t.node.Header),
			}},
		},
	}
	for i, s := range t.decoded.Settings {
		c.Axes = append(c.Axes, schema.Setting{Name: s.Name, Value: values[i]})
	}
	return c, nil
}

func settingsText(settings []trial.TunedSetting, values []string) string {
	parts := make([]string, len(settings))
	for i, s := range settings {
		parts[i] = s.Name + "=" + values[i]
	}
	return strings.Join(parts, ", ")
}
