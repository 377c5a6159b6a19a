package realise

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/tfexp/tfexp/jobs/builtin"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/tuning"
	"github.com/tfexp/tfexp/scheduler/control"
	"github.com/tfexp/tfexp/scheduler/tuner"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Trial makes the cell of a trial of a tuning: with settings, as values in the
// order of the tuning's, in a replicate. The error says why the settings are
// impossible.
func (x *Experiment) Trial(tuning, replicate int, values []string, ref record.TrialRef) (*Cell, error) {
	t := x.Spec.Tunings[tuning]
	at, err := t.At(values)
	if err != nil {
		return nil, err
	}
	x.placeTrial(&at)
	named := at
	named.Axes = t.Axes
	ref.Tuning, ref.Settings = tuning, at.Axes
	what := cmp.Or(t.Mode, "trial")
	c := x.cell(at, fmt.Sprintf("%s-r%d-%s%d", cellName(named), replicate, what, ref.Number), replicate)
	c.Ref.Axes, c.Ref.Trial, c.Place = t.Axes, &ref, math.MaxInt
	return c, nil
}

// placeTrial gives a trial that runs elsewhere than on this machine a separate job
// block, as placedJobs does for the cells of the matrix.
func (x *Experiment) placeTrial(c *experiment.Cell) {
	if !c.Hardware.Real() || c.Hardware.Kind().Here {
		return
	}
	placed, places := placed(&experiment.Spec{Cells: []experiment.Cell{*c}})
	*c = placed.Cells[0]
	for j, p := range places {
		if j.Container != nil {
			p.Image = x.images[imageOn{j.Container.Image, p.On.Name}]
		}
		x.places[j] = p
	}
}

// trialLines are the key lines of a trial: which one of its tuning it is.
func (c *Cell) trialLines(k *store.Key) {
	if t := c.Ref.Trial; t != nil {
		for _, a := range c.Ref.Axes {
			k.Add("tuning.axis."+a.Name, a.Value)
		}
		k.Add("tuning.trial", strconv.Itoa(t.Number))
		if g := c.x.Spec.Tunings[t.Tuning].Target; g != nil {
			k.Addf("tuning.target", "%s %g", c.x.Spec.Tunings[t.Tuning].Objective, *g)
		}
		c.modeLines(k, c.x.Spec.Tunings[t.Tuning])
	}
}

// trial describes a trial to the stage that runs it; nil for other cells.
func (c *Cell) trial() *stages.Trial {
	t := c.Ref.Trial
	if t == nil {
		return nil
	}
	j := c.Workload.Submits[0].Job
	out := &stages.Trial{Target: c.x.Spec.Tunings[t.Tuning].Aim(), Units: j.Length()}
	if j.Recorded != nil {
		out.Recorded = &j.Recorded.Outcome
	}
	return out
}

// steered has the job of a tuning that is changed while it trains, with its controller;
// nil for other cells.
func (c *Cell) steered(dirs stages.Folders) ([]stages.Steered, error) {
	if c.Ref.Trial == nil {
		return nil, nil
	}
	t := c.x.Spec.Tunings[c.Ref.Trial.Tuning]
	if t.Mode == "" {
		return nil, nil
	}
	block := c.Workload.Submits[0].Job
	s := stages.Steered{
		Units: block.Length(), Steps: block.Steps > 0, Controller: tuner.Name, Settings: slices.Clone(c.Ref.Trial.Settings),
		At: func(settings []control.Setting) (stages.Variant, error) { return c.variant(t, settings, dirs) },
	}
	if block.Runtime != nil {
		s.Losses = block.Runtime.Losses
	}
	options, err := c.tuner(t, &s)
	s.Options = tuner.Given(options)
	return []stages.Steered{s}, err
}

// tuner returns the options of the controller of a tuning.
func (c *Cell) tuner(t *experiment.Tuning, s *stages.Steered) (tuner.Options, error) {
	method, _ := tuner.Find(t.Method) // the language knows no other
	o := tuner.Options{
		Problem: t.Problem(uint64(c.Ref.Seed)), Method: method, Fixed: t.Mode == tuning.Unchanged,
		Restart: t.Mode == tuning.ByRestart, Units: s.Units, Stretch: t.Stretch, Tries: t.Trials, Level: t.Confidence,
		Limit:  time.Duration(t.LimitSeconds * float64(time.Second)),
		Values: t.ValuesAt, Known: t.Known(),
	}
	o.Problem.Limits = nil // the target ends the job; other bounds are looked at when it is over
	o.Initial = o.Problem.Initial
	if t.Target != nil {
		o.Target, o.Bound = tuning.FindObjective(t.Objective).Target, *t.Target
	}
	first, err := s.At(s.Settings)
	if err != nil {
		return o, err
	}
	for i := range t.Settings {
		o.Names = append(o.Names, t.Settings[i].Name)
		o.Learns = append(o.Learns, c.learns(t, i, s, &first))
		o.Live = append(o.Live, c.Ref.Real() && slices.Contains(first.Live, t.Settings[i].Name))
	}
	o.Cores = func(at []float64) int {
		v, _ := s.At(t.SettingsAt(at)) // one that cannot be has none
		return v.Threads
	}
	return o, nil
}

// learns reports whether a setting changes the program, and not only its resources.
func (c *Cell) learns(t *experiment.Tuning, setting int, s *stages.Steered, first *stages.Variant) bool {
	x := &t.Settings[setting]
	values := x.Values
	if len(values) == 0 {
		values = []string{record.Number(x.Min), record.Number(x.Max)}
	}
	for _, v := range values {
		settings := slices.Clone(s.Settings)
		settings[setting].Value = v
		other, err := s.At(settings)
		same := slices.Equal(other.Launch.Argv, first.Launch.Argv) && slices.Equal(other.Launch.Env, first.Launch.Env)
		if err == nil && !same {
			return true
		}
	}
	return false
}

// variant is the job of a tuning at other settings.
func (c *Cell) variant(
	t *experiment.Tuning, settings []control.Setting, dirs stages.Folders,
) (stages.Variant, error) {
	values := make([]string, len(t.Settings))
	for i := range t.Settings {
		k := slices.IndexFunc(settings, func(s control.Setting) bool { return s.Name == t.Settings[i].Name })
		if k < 0 {
			return stages.Variant{}, fmt.Errorf("there is no value for the setting %q", t.Settings[i].Name)
		}
		values[i] = settings[k].Value
	}
	at, err := t.At(values)
	if err != nil {
		return stages.Variant{}, err
	}
	if !reflect.DeepEqual(at.Hardware.Cluster, c.Hardware.Cluster) {
		return stages.Variant{}, fmt.Errorf("the hardware %q does not change while a job runs", at.Hardware.Name)
	}
	c.x.placeTrial(&at)
	other := &Cell{x: c.x, point: at, Ref: c.Ref}
	r, err := other.realise()
	if err != nil {
		return stages.Variant{}, err
	}
	job, block := &r.Jobs[0], r.Blocks[r.Block[0]]
	v := stages.Variant{Threads: job.Threads, Roles: job.Roles()}
	for i := range t.Settings {
		s := &t.Settings[i]
		if s.Live || block.Builtin != "" && slices.Contains(builtin.Changeable(), s.Name) {
			v.Live = append(v.Live, s.Name)
		}
	}
	if c.Ref.Real() {
		v.Launch = other.launch(r, 0, dirs)
		return v, nil
	}
	work, err := other.work(r)
	if err != nil {
		return v, err
	}
	v.Work = work[0]
	return v, nil
}

// modeLines are the key lines of a job that is changed while it trains: all inputs
// of its controller.
func (c *Cell) modeLines(k *store.Key, t *experiment.Tuning) {
	if t.Mode == "" {
		return
	}
	for _, line := range t.Described() {
		k.Add("tuning.search", line)
	}
	k.Addf("tuning.controller", "version %d", tuner.Version)
}

// beyondAt identifies the origin of a point beyond the matrix.
type beyondAt struct {
	workload *experiment.Workload
	hardware *experiment.Hardware
	policy   *experiment.Policy
}

// Beyond implements stages.Experiment.
func (x *Experiment) Beyond(c experiment.Cell, name string, depends []stages.Line, dirs stages.Folders) (stages.Task,
	string, error) {
	of := beyondAt{c.Workload, c.Hardware, c.Policy}
	placed, ok := x.beyond[of]
	if !ok {
		placed = c
		x.placeTrial(&placed)
		x.beyond[of] = placed
	}
	cell := x.cell(placed, name, 1)
	k, err := cell.Key()
	if err != nil {
		return stages.Task{}, "", err
	}
	k.AddAll(depends)
	task, err := cell.Task(dirs)
	return task, k.Description(), err
}
