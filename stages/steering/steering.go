// Package steering connects controllers to the jobs of a cell. Features add controllers to the cell's task. Their
// decisions change jobs during training, and a log records decisions and reports.
package steering

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/control"
	"github.com/tfexp/tfexp/stages"
)

// Controllers are the jobs of a cell that have controllers. They are a part of the cell's task.
type Controllers struct{ Jobs []Job }

// Job is a job of a cell with its controller.
type Job struct {
	// Number is its number in the cell. Units is its work in epochs or, with Steps, in steps.
	Number, Units int
	Steps         bool
	// Controller is the name of a registered control.Choice. Options are the controller's options.
	Controller string
	Options    control.Options
	// Settings are the settings with which the job starts.
	Settings []control.Setting
	// At returns the job with other settings. The error is the reason why the job cannot have them. If At is nil, no
	// setting can change.
	At func(settings []control.Setting) (Variant, error)
	// Losses and Accuracies are the values that a simulated job reports after each unit. Missing values are not
	// reported.
	Losses, Accuracies []float64
}

// Variant is a job with particular settings.
type Variant struct {
	// Threads and Roles are its request.
	Threads int
	Roles   []scheduler.Role
	// Launch describes how to start it for real. Live are the settings that its program adopts from its control file
	// while it runs; other settings need a restart.
	Launch launch.Job
	Live   []string
	// Work is the simulated work of the job.
	Work simulated.Scaling
}

// ErrElsewhere is returned if a cell with controllers would be written to a file for another process.
var ErrElsewhere = errors.New("a cell with controllers cannot run as a task")

// GobEncode implements gob.GobEncoder: it returns ErrElsewhere.
func (*Controllers) GobEncode() ([]byte, error) { return nil, ErrElsewhere }

// GobDecode implements gob.GobDecoder, as GobEncode.
func (*Controllers) GobDecode([]byte) error { return ErrElsewhere }

// Begin implements stages.TaskPart.
func (c *Controllers) Begin(t *stages.Task, on scheduler.Engine, run *scheduler.Run) (scheduler.Recorder, stages.Finish,
	error) {
	log, err := c.Join(t, on, run)
	if err != nil {
		return nil, nil, err
	}
	return log, log.Write, nil
}

// virtual is an engine that can change the work of simulated jobs.
type virtual interface {
	Attend(jobs []bool, units []int, say simulated.Reported) error
	Change(job int, w simulated.Work) error
	Restart(job int) error
}

// helm changes the jobs of a cell for their controllers. It implements scheduler.Reconfigurer.
type helm struct {
	task  *stages.Task
	of    []*steeredJob  // by job; nil for a job without a controller
	real  engine.Changer // the engine of a real cell; nil for a simulated one
	sim   virtual
	heard error // an error of the engine before a receiver was set
}

// steeredJob is a job with its controller and its current settings.
type steeredJob struct {
	Job
	now      Variant
	settings []control.Setting
	standing contract.Message // the content of its control file
}

// Join connects the controllers to the jobs of a run. The log records the reports that they receive, and their
// decisions.
func (c *Controllers) Join(t *stages.Task, on scheduler.Engine, run *scheduler.Run) (*Log, error) {
	n := len(t.Setup.Jobs)
	h := &helm{task: t, of: make([]*steeredJob, n)}
	s := &scheduler.Steering{
		Controllers: make([]control.Controller, n), Settings: make([][]control.Setting, n), Reconfigurer: h,
	}
	log := &Log{dir: t.Dir, jobs: t.Setup.Jobs, of: make([]*deciding, n)}
	h.real, _ = on.(engine.Changer)
	h.sim, _ = on.(virtual)
	if h.real == nil && h.sim == nil {
		return nil, errors.New("there are controllers beside its jobs, and its engine cannot change jobs that run")
	}
	made := map[string]control.Controller{} // by name and options; jobs share a controller
	for i := range c.Jobs {
		x := &c.Jobs[i]
		choice, ok := control.Find(x.Controller)
		if !ok {
			return nil, fmt.Errorf("there is no controller %q", x.Controller)
		}
		id := fmt.Sprint(x.Controller, x.Options)
		by := made[id]
		if by == nil {
			var err error
			if by, err = choice.New(x.Options); err != nil {
				return nil, fmt.Errorf("controller %q: %w", x.Controller, err)
			}
			made[id] = by
		}
		j := &steeredJob{Job: *x, settings: x.Settings}
		if x.At != nil {
			var err error
			if j.now, err = x.At(x.Settings); err != nil {
				return nil, err
			}
		}
		log.of[x.Number] = &deciding{controller: x.Controller, asked: by}
		h.of[x.Number], s.Controllers[x.Number], s.Settings[x.Number] = j, log.of[x.Number], x.Settings
	}
	run.Steering = s
	return log, nil
}

// Follow implements scheduler.Reconfigurer.
func (h *helm) Follow(jobs []bool) {
	if h.real != nil {
		h.real.Attend(jobs)
		return
	}
	units := make([]int, len(jobs))
	for i, j := range h.of {
		if j != nil {
			units[i] = j.Units
		}
	}
	h.heard = h.sim.Attend(jobs, units, func(job, units int) control.Progress {
		j := h.of[job]
		at := func(values []float64) float64 {
			if units > len(values) {
				return math.NaN()
			}
			return values[units-1]
		}
		p := control.Progress{Epoch: units, Loss: at(j.Losses), Accuracy: at(j.Accuracies), Seconds: math.NaN()}
		if j.Steps {
			p.Epoch, p.Step = 0, units
		}
		return p
	})
}

// Adopt implements scheduler.Reconfigurer.
func (h *helm) Adopt(job int, settings []control.Setting, restart bool) (scheduler.Adopted, error) {
	j := h.of[job]
	switch {
	case h.heard != nil:
		return scheduler.Adopted{}, h.heard
	case j.At == nil:
		return scheduler.Adopted{}, errors.New("the settings of the job do not change")
	}
	next, err := j.At(settings)
	if err != nil {
		return scheduler.Adopted{}, err
	}
	asking := h.task.Setup.Jobs[job]
	if asking.Threads, asking.Own().Roles = next.Threads, next.Roles; !asking.CouldRun(h.task.Setup.Cluster, false) {
		return scheduler.Adopted{}, fmt.Errorf("with these settings the job asks for more than the hardware has (%s)",
			asking.Demand())
	}
	if h.real == nil {
		if !sameWork(&j.now.Work, &next.Work) {
			if err := h.sim.Change(job, &next.Work); err != nil {
				return scheduler.Adopted{}, err
			}
		}
	} else {
		restart = restart || !h.live(j, &next, settings)
		if err := h.real.Change(job, next.Launch); err != nil {
			return scheduler.Adopted{}, err
		}
		if told := j.values(settings, next.Live); len(told) > 0 {
			j.standing.Settings = told
			if err := h.real.Tell(job, j.standing); err != nil {
				return scheduler.Adopted{}, err
			}
		}
	}
	j.now, j.settings = next, settings
	return scheduler.Adopted{Threads: next.Threads, Roles: next.Roles, Restart: restart}, nil
}

// sameWork reports whether two works take the same time on the same resources.
func sameWork(a, b *simulated.Scaling) bool {
	if (a.SpeedUp == nil) != (b.SpeedUp == nil) {
		return false
	}
	x, y := *a, *b
	x.SpeedUp, y.SpeedUp = nil, nil
	if !reflect.DeepEqual(x, y) {
		return false
	}
	for n := 1; a.SpeedUp != nil && n <= max(a.Threads, b.Threads, 64); n++ {
		if a.SpeedUp(n) != b.SpeedUp(n) {
			return false
		}
	}
	return true
}

// live reports whether a program adopts the whole change while it runs. It can adopt settings from its control file,
// threads if the job is malleable, and the number of parts of elastic roles.
func (h *helm) live(j *steeredJob, next *Variant, settings []control.Setting) bool {
	from, to := j.now.Launch, next.Launch
	malleable := h.task.Setup.Jobs[j.Number].Malleable
	if !malleable && next.Threads != j.now.Threads && len(next.Roles) == 0 {
		return false
	}
	if len(next.Roles) != len(j.now.Roles) {
		return false
	}
	for i, r := range next.Roles {
		was := j.now.Roles[i]
		if n := r.Count; n != was.Count && (!r.Elastic || n < r.Min || n > was.Most()) {
			return false
		}
		if r.Count = was.Count; r != was {
			return false
		}
	}
	var changed []string
	for _, s := range settings {
		if !slices.Contains(j.settings, s) && slices.Contains(next.Live, s.Name) {
			changed = append(changed, s.Name)
		}
	}
	if len(changed) > 0 { // their flags differ: compare the job without these changes
		mixed := slices.Clone(settings)
		for i, s := range mixed {
			if k := slices.IndexFunc(j.settings, func(o control.Setting) bool { return o.Name == s.Name }); k >= 0 &&
				slices.Contains(changed, s.Name) {
				mixed[i] = j.settings[k]
			}
		}
		rest, err := j.At(mixed)
		if err != nil {
			return false
		}
		to.Argv, to.ContainerArgv, to.Env = rest.Launch.Argv, rest.Launch.ContainerArgv, rest.Launch.Env
	}
	to.Threads, to.Inter, to.Intra, to.Roles = from.Threads, from.Inter, from.Intra, from.Roles
	return reflect.DeepEqual(from, to)
}

// values returns the settings in a control file as JSON.
func (j *steeredJob) values(settings []control.Setting, live []string) map[string]json.RawMessage {
	told := map[string]json.RawMessage{}
	for _, s := range settings {
		if !slices.Contains(live, s.Name) {
			continue
		}
		text := []byte(s.Value)
		if !json.Valid(text) {
			text = []byte(strconv.Quote(s.Value))
		}
		told[s.Name] = text
	}
	return told
}

// Deepen implements scheduler.Reconfigurer.
func (h *helm) Deepen(job, block int) error {
	if h.real == nil {
		return errors.New("the network of a simulated job cannot be deepened")
	}
	j := h.of[job]
	j.standing = j.standing.Asking(contract.Message{Deepen: &block})
	return h.real.Tell(job, j.standing)
}

// Restart implements scheduler.Reconfigurer.
func (h *helm) Restart(job int) error {
	if h.real != nil {
		return h.real.Restart(job)
	}
	return h.sim.Restart(job)
}

// Log records the reports to the controllers of a cell, and their decisions. It implements scheduler.Recorder.
type Log struct {
	// Decided are the decisions in order.
	Decided []Decision

	dir  string // the folder of the cell
	jobs []scheduler.Job
	of   []*deciding // by job
}

// deciding records the reports that a controller receives about a job. It implements control.Controller.
type deciding struct {
	controller string
	asked      control.Controller
	reports    []control.Report
}

// Decide implements control.Controller.
func (d *deciding) Decide(r control.Report) control.Action {
	d.reports = append(d.reports, r)
	return d.asked.Decide(r)
}

// Decision is one decision about a job.
type Decision struct {
	At  time.Duration
	Job int
	// Last is the index of the job's last report before the decision; -1 if there was none.
	Last int
	*control.Decision
}

// Event implements scheduler.Recorder.
func (d *Log) Event(e *scheduler.Event) {
	if e.Kind == scheduler.Decided && e.Control != nil {
		d.Decided = append(d.Decided, Decision{e.At, e.Job, len(d.of[e.Job].reports) - 1, e.Control})
	}
}

// Decision implements scheduler.Recorder.
func (*Log) Decision(*scheduler.Decision) {}

// Reports returns the reports that the controller of a job has received.
func (d *Log) Reports(job int) []control.Report { return d.of[job].reports }

// Write writes decisions.csv in the cell's folder. It is a stages.Finish.
func (d *Log) Write(w *record.CellWriter, out *record.Cell) error {
	rows := make([]Row, len(d.Decided))
	for i := range d.Decided {
		rows[i] = d.row(i, w.Outcome(d.Decided[i].Job).Service)
	}
	f, err := Decisions.Write(d.dir, rows)
	out.Files = append(out.Files, f)
	return err
}

// row returns the row of a decision. service is the job's service time at its end.
func (d *Log) row(i int, service float64) Row {
	x, none := &d.Decided[i], math.NaN()
	r := &x.Report
	row := Row{
		At: x.At.Seconds(), Job: d.jobs[x.Job].Name, Controller: d.of[x.Job].controller, Epoch: r.Epoch, Step: r.Step,
		Loss: r.Loss, Accuracy: r.Accuracy, Used: r.Used.Seconds(), Left: none, Threads: r.Allotment.Threads,
		GPUs: r.Allotment.GPUs, Settings: control.SettingsText(r.Settings), After: control.SettingsText(x.Settings),
		Action: x.Action.Name(), Reason: x.Action.Reason, Expectation: Expectation{none, none, none, none, none, none},
		ActualRemaining: service - r.Used.Seconds(), ActualGain: none, ActualCost: none,
		AccuracyBefore: r.Accuracy, AccuracyAfter: none, Took: d.took(x),
	}
	if r.Left != control.NoBudget {
		row.Left = r.Left.Seconds()
	}
	if e := x.Action.Expected; e != nil {
		row.Remaining, row.Low, row.High, row.Gain, row.Cost, row.Sure = e.Left, e.Low, e.High, e.Gain, e.Cost, e.Sure
	}
	for k, p := range x.Action.Probabilities {
		if k > 0 {
			row.Probabilities += " "
		}
		row.Probabilities += strconv.FormatFloat(p, 'g', 6, 64)
	}
	switch {
	case x.Refused != "":
		row.How, row.Reason = "refused", x.Refused
	case len(x.Action.Settings) == 0:
	case x.Restart:
		row.How = "restart"
	case r.Epoch == 0 && r.Step == 0 && r.Used == 0:
		row.How = "at the start"
	default:
		row.How = "in place"
	}
	if all := d.of[x.Job].reports; x.Last+1 < len(all) {
		row.AccuracyAfter = all[x.Last+1].Accuracy
	}
	if len(x.Action.Settings) > 0 && x.Refused == "" {
		row.ActualGain, row.ActualCost = d.Became(i)
	}
	return row
}

// took reports whether a program is known to run with the settings of a decision, from its later reports before the
// next decision.
func (d *Log) took(x *Decision) string {
	if len(x.Action.Settings) == 0 || x.Refused != "" {
		return ""
	}
	if x.Restart || x.Last < 0 {
		return "yes" // the program was started with them
	}
	if n := d.after(x); n != nil && len(n.Action.Ignored) > 0 {
		return "no"
	}
	took := ""
	for _, r := range d.of[x.Job].reports[x.Last+1:] {
		for _, s := range x.Action.Settings {
			if slices.ContainsFunc(r.Refused, func(no control.Setting) bool { return no.Name == s.Name }) {
				return "no"
			}
			if slices.Contains(r.Took, s) || s.Name == "threads" &&
				strconv.Itoa(r.Allotment.Threads) == strings.TrimSpace(s.Value) {
				took = "yes"
			}
		}
	}
	return took
}

// after returns the next decision about the same job; nil for the last one.
func (d *Log) after(x *Decision) *Decision {
	for i := range d.Decided {
		if y := &d.Decided[i]; y.Job == x.Job && y.Last > x.Last {
			return y
		}
	}
	return nil
}

// Became returns the savings and the cost of a change of settings, in seconds. The savings are the remaining units
// (epochs or steps) at the change times the reduction of the median time of a unit. The cost is the time without
// training because of the change. The medians are over the reports since the previous change and until the next one.
func (d *Log) Became(i int) (gain, cost float64) {
	x := &d.Decided[i]
	reports := d.of[x.Job].reports
	from, to := 0, len(reports)-1
	for k := range d.Decided {
		y := &d.Decided[k]
		if y.Job != x.Job || len(y.Action.Settings) == 0 || y.Refused != "" || k == i {
			continue
		}
		if y.Last <= x.Last && k < i {
			from = max(from, y.Last)
		} else if k > i {
			to = min(to, y.Last)
		}
	}
	before, after := Pace(reports[from:x.Last+1]), Pace(reports[x.Last:to+1])
	if x.Last < to {
		first := reports[x.Last+1]
		n := float64(Units(&first) - Units(&reports[x.Last]))
		cost = math.Max((first.Used-reports[x.Last].Used).Seconds()-n*after, 0)
	} else {
		cost = math.NaN()
	}
	left := float64(Units(&reports[len(reports)-1]) - Units(&reports[x.Last]))
	return left * (before - after), cost
}

// Units returns the number of epochs in a report; if it has none, of steps.
func Units(r *control.Report) int {
	if r.Epoch > 0 {
		return r.Epoch
	}
	return r.Step
}

// Pace returns the median time of a unit in consecutive reports, in seconds. It ignores the time to the first report
// after a change, which includes the cost of the change. If no other report remains, it uses the time that the program
// reported.
func Pace(reports []control.Report) float64 {
	var each []float64
	for k := 2; k < len(reports); k++ {
		if n := Units(&reports[k]) - Units(&reports[k-1]); n > 0 {
			each = append(each, (reports[k].Used-reports[k-1].Used).Seconds()/float64(n))
		}
	}
	if len(each) == 0 && len(reports) > 1 && !math.IsNaN(reports[1].Seconds) {
		each = append(each, reports[1].Seconds)
	}
	if len(each) == 0 {
		return math.NaN()
	}
	slices.Sort(each)
	return (each[(len(each)-1)/2] + each[len(each)/2]) / 2
}
