package realise

import (
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/jobs/builtin"
	"github.com/tfexp/tfexp/pipeline/realise/program"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/tuner"
	"github.com/tfexp/tfexp/stages"
)

// steered has the job of a tuning that is changed while it trains, with its controller;
// nil for other cells.
func (c *Cell) steered(dirs stages.Folders) ([]stages.Steered, error) {
	if c.Ref.Trial == nil {
		return nil, nil
	}
	t := c.x.spec.Tunings[c.Ref.Trial.Tuning]
	if t.Mode == "" {
		return nil, nil
	}
	block := c.Workload.Submits[0].Job
	s := stages.Steered{
		Units: program.Length(block), Steps: block.Steps > 0, Controller: tuner.Name,
		At: func(settings []scheduler.Setting) (stages.Variant, error) { return c.variant(t, settings, dirs) },
	}
	for _, x := range c.Ref.Trial.Settings {
		s.Settings = append(s.Settings, scheduler.Setting(x))
	}
	if block.Runtime != nil {
		s.Losses = block.Runtime.Losses
	}
	options, err := c.tuner(t, &s)
	s.Options = tuner.Given(options)
	return []stages.Steered{s}, err
}

// tuner returns what the controller of a tuning is made from.
func (c *Cell) tuner(t *experiments.Tuning, s *stages.Steered) (tuner.Options, error) {
	method, _ := tuner.Find(t.Method) // the language knows no other
	o := tuner.Options{
		Problem: t.Problem(uint64(c.Ref.Seed)), Method: method, Fixed: t.Mode == record.Unchanged,
		Restart: t.Mode == record.ByRestart, Units: s.Units, Stretch: t.Stretch, Tries: t.Trials, Level: t.Confidence,
		Limit:  time.Duration(t.LimitSeconds * float64(time.Second)),
		Values: t.ValuesAt, Known: t.Known(),
	}
	o.Problem.Limits = nil // the target ends the job; other bounds are looked at when it is over
	o.Initial = o.Problem.Initial
	if t.Target != nil {
		o.Target, o.Bound = record.FindObjective(t.Objective).Target, *t.Target
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

// learns reports whether a setting changes the program, and not only what it holds.
func (c *Cell) learns(t *experiments.Tuning, setting int, s *stages.Steered, first *stages.Variant) bool {
	x := &t.Settings[setting]
	values := x.Values
	if len(values) == 0 {
		values = []string{record.Number(x.Min), record.Number(x.Max)}
	}
	for _, v := range values {
		settings := slices.Clone(s.Settings)
		settings[setting].Value = v
		other, err := s.At(settings)
		if err == nil && (!slices.Equal(other.Launch.Argv, first.Launch.Argv) || !slices.Equal(other.Launch.Env, first.Launch.Env)) {
			return true
		}
	}
	return false
}

// variant is the job of a tuning at other settings.
func (c *Cell) variant(t *experiments.Tuning, settings []scheduler.Setting, dirs stages.Folders) (stages.Variant, error) {
	values := make([]string, len(t.Settings))
	for i := range t.Settings {
		k := slices.IndexFunc(settings, func(s scheduler.Setting) bool { return s.Name == t.Settings[i].Name })
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
		if name := t.Settings[i].Name; t.Settings[i].Live || block.Builtin != "" && slices.Contains(builtin.Changeable(), name) {
			v.Live = append(v.Live, name)
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

// modeLines are the key lines of a job that is changed while it trains: all that its
// controller decides by.
func (c *Cell) modeLines(t *experiments.Tuning) []string {
	var k store.Key
	if t.Mode == "" {
		return nil
	}
	for _, line := range t.Described() {
		k.Add("tuning.search", line)
	}
	k.Addf("tuning.controller", "version %d", tuner.Version)
	return k.Lines()
}
