package search

import (
	"encoding/gob"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler/control"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/steering"
	"github.com/tfexp/tfexp/stages/tuning/trial"
	"github.com/tfexp/tfexp/stages/tuning/tuner"
)

// cell is a part of a cell: it makes the cell a trial of a search.
type cell struct {
	search *Search
	point  experiment.Cell
	ref    trial.Ref
	seed   int64
}

// job returns the job block of the trial.
func (c *cell) job() *experiment.Job { return c.point.Workload.Submits[0].Job }

// KeyLines implements stages.KeyPart. The lines identify the trial within its search.
func (c *cell) KeyLines(prefix string) (lines []stages.KeyLine) {
	add := func(label, value string) {
		lines = append(lines, stages.KeyLine{Label: prefix + "tuning." + label, Value: value})
	}
	for _, a := range c.search.Axes {
		add("axis."+a.Name, a.Value)
	}
	add("trial", strconv.Itoa(c.ref.Number))
	if g := c.search.Target; g != nil {
		add("target", fmt.Sprintf("%s %g", c.search.Objective, *g))
		if c.point.Hardware.Real() && recordedOf(c.job()) == nil {
			add("reached", "first report")
		}
	}
	if c.search.Mode == "" {
		return lines
	}
	// The controller of a job that is tuned while it trains decides by all values of the search, so they are part of
	// the key.
	for _, line := range c.search.Described() {
		add("search", line)
	}
	add("controller", fmt.Sprintf("version %d", tuner.ControllerVersion))
	return lines
}

// Complete implements stages.CellPart. The simulated twin of a real trial has no controller.
func (c *cell) Complete(task *stages.Task, at stages.CellAt) error {
	j := c.job()
	p := &part{Target: c.search.Aim(), Units: j.Length()}
	if r := recordedOf(j); r != nil {
		p.Recorded = &r.Outcome
	}
	task.Parts = append(task.Parts, p)
	if c.search.Mode == "" || strings.HasSuffix(task.Setup.Cell.Cell, "/"+record.TwinDir) {
		return nil
	}
	var err error
	p.Steered, err = c.steered(task, at)
	return err
}

// steered returns the controller of a job that is tuned while it trains.
func (c *cell) steered(task *stages.Task, at stages.CellAt) (*steering.Controllers, error) {
	block, real := c.job(), task.Setup.Cell.Real()
	j := steering.Job{
		Units: block.Length(), Steps: block.Steps > 0, Controller: tuner.ControllerName,
		Settings: slices.Clone(c.ref.Settings),
		At:       func(settings []control.Setting) (steering.Variant, error) { return c.variant(settings, at) },
	}
	if block.Runtime != nil {
		j.Losses = block.Runtime.Losses
	}
	options, err := c.tuner(&j, real)
	j.Options = tuner.ControllerOptions(options)
	return &steering.Controllers{Jobs: []steering.Job{j}}, err
}

// tuner returns the options of the trial's controller. real reports whether the job is a real run.
func (c *cell) tuner(s *steering.Job, real bool) (tuner.Options, error) {
	t := c.search
	method, _ := tuner.Find(t.Method) // decoding has checked that the method exists
	o := tuner.Options{
		Problem: t.Problem(uint64(c.seed)), Method: method, Fixed: t.Mode == trial.Unchanged,
		Restart: t.Mode == trial.ByRestart, Units: s.Units, Stretch: t.Stretch, Tries: t.Trials, Level: t.Confidence,
		Limit:  time.Duration(t.LimitSeconds * float64(time.Second)),
		Values: t.ValuesAt, Known: t.Known(),
	}
	o.Problem.Limits = nil // the controller ends the job at its target; other constraints are checked after the job
	o.Initial = o.Problem.Initial
	if t.Target != nil {
		o.Target, o.Bound = trial.FindObjective(t.Objective).Target, *t.Target
	}
	first, err := s.At(s.Settings)
	if err != nil {
		return o, err
	}
	for i := range t.Settings {
		o.Names = append(o.Names, t.Settings[i].Name)
		o.Learns = append(o.Learns, c.learns(i, s, &first))
		o.Live = append(o.Live, real && slices.Contains(first.Live, t.Settings[i].Name))
	}
	o.Cores = func(at []float64) int {
		v, _ := s.At(t.SettingsAt(at)) // on error Threads is 0: impossible settings have no number of cores
		return v.Threads
	}
	return o, nil
}

// learns reports whether another value of a setting changes the program's command or environment, and not only its
// resources. Index i of Settings is setting.
func (c *cell) learns(setting int, s *steering.Job, first *steering.Variant) bool {
	x := &c.search.Settings[setting]
	values := x.Values
	if len(values) == 0 {
		values = []string{trial.Number(x.Min), trial.Number(x.Max)}
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

// variant returns the job with other settings.
func (c *cell) variant(settings []control.Setting, at stages.CellAt) (v steering.Variant, err error) {
	t := c.search
	values := make([]string, len(t.Settings))
	for i := range t.Settings {
		k := slices.IndexFunc(settings, func(s control.Setting) bool { return s.Name == t.Settings[i].Name })
		if k < 0 {
			return v, fmt.Errorf("there is no value for the setting %q", t.Settings[i].Name)
		}
		values[i] = settings[k].Value
	}
	point, err := t.At(values)
	if err != nil {
		return v, err
	}
	if !reflect.DeepEqual(point.Hardware.Cluster, c.point.Hardware.Cluster) {
		return v, fmt.Errorf("the hardware %q does not change while a job runs", point.Hardware.Name)
	}
	task, err := at(point)
	if err != nil {
		return v, err
	}
	job, block := &task.Setup.Jobs[0], point.Workload.Submits[0].Job
	v = steering.Variant{Threads: job.Threads, Roles: job.Roles()}
	own, _ := experiment.PartOf[stages.OwnProgram](block.Parts)
	for i := range t.Settings {
		s := &t.Settings[i]
		if s.Live || own != nil && slices.Contains(own.Changeable(), s.Name) {
			v.Live = append(v.Live, s.Name)
		}
	}
	if task.Simulation != nil {
		v.Work = task.Simulation.Work[0]
	} else {
		v.Launch = task.Launches[0]
	}
	return v, nil
}

func init() { gob.Register(&part{}) }
