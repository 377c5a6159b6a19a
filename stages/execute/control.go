package execute

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
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/control"
	"github.com/tfexp/tfexp/stages"
)

// virtual is an engine whose simulated jobs can be given other work.
type virtual interface {
	Attend(jobs []bool, units []int, say simulated.Reported) error
	Change(job int, w simulated.Work) error
	Restart(job int) error
}

// helm reaches the jobs of a cell for their controllers. It implements scheduler.Reconfigurer.
type helm struct {
	task  *stages.Task
	of    []*steeredJob  // by job; nil for one without a controller
	real  engine.Changer // of a real cell; else nil
	sim   virtual
	heard error // of the engine, before there was a receiver
}

// steeredJob is a job with its controller, at its present settings.
type steeredJob struct {
	stages.Steered
	now      stages.Variant
	settings []control.Setting
	standing contract.Message // the content of its control file
}

// steer joins the controllers of a cell to its jobs; nil where it has none. The reports
// that they see, and their decisions, go to the log.
func steer(t *stages.Task, on scheduler.Engine) (*scheduler.Steering, *decisions, error) {
	if len(t.Steered) == 0 {
		return nil, nil, nil
	}
	n := len(t.Setup.Jobs)
	h := &helm{task: t, of: make([]*steeredJob, n)}
	s := &scheduler.Steering{
		Controllers: make([]control.Controller, n), Settings: make([][]control.Setting, n), Reconfigurer: h,
	}
	log := &decisions{jobs: t.Setup.Jobs, of: make([]*deciding, n)}
	h.real, _ = on.(engine.Changer)
	h.sim, _ = on.(virtual)
	if h.real == nil && h.sim == nil {
		return nil, nil, errors.New("there are controllers beside its jobs, and its engine cannot change jobs that run")
	}
	made := map[string]control.Controller{} // shared by the jobs of one run of one cell
	for i := range t.Steered {
		x := &t.Steered[i]
		choice, ok := control.Find(x.Controller)
		if !ok {
			return nil, nil, fmt.Errorf("there is no controller %q", x.Controller)
		}
		id := fmt.Sprint(x.Controller, x.Options)
		c := made[id]
		if c == nil {
			var err error
			if c, err = choice.New(x.Options); err != nil {
				return nil, nil, fmt.Errorf("controller %q: %w", x.Controller, err)
			}
			made[id] = c
		}
		j := &steeredJob{Steered: *x, settings: x.Settings}
		if x.At != nil {
			var err error
			if j.now, err = x.At(x.Settings); err != nil {
				return nil, nil, err
			}
		}
		log.of[x.Job] = &deciding{controller: x.Controller, asked: c}
		h.of[x.Job], s.Controllers[x.Job], s.Settings[x.Job] = j, log.of[x.Job], x.Settings
	}
	return s, log, nil
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

// sameWork reports whether a job takes as long on the same grant.
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

// live reports whether a program adopts all of a change while it runs: settings that it
// reads from its control file, the threads of a malleable job, and the number of its
// parts where they come and go.
func (h *helm) live(j *steeredJob, next *stages.Variant, settings []control.Setting) bool {
	from, to := j.now.Launch, next.Launch
	malleable := h.task.Setup.Jobs[j.Job].Malleable
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
	if len(changed) > 0 { // their flags differ; other differences show in the job without these changes
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

// values are the settings that a control file has, as JSON.
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
		return errors.New("a simulated job has no network to deepen")
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

// decisions holds the reports to the controllers of a cell and their decisions.
// It implements scheduler.Recorder.
type decisions struct {
	jobs    []scheduler.Job
	of      []*deciding // by job
	decided []decision
}

// deciding keeps the reports that a controller has had of a job. It implements control.Controller.
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

// decision is one decision, after a number of reports of its job.
type decision struct {
	at     time.Duration
	job    int
	report int
	*control.Decision
}

// Event implements scheduler.Recorder.
func (d *decisions) Event(e *scheduler.Event) {
	if e.Kind == scheduler.Decided && e.Control != nil {
		d.decided = append(d.decided, decision{e.At, e.Job, len(d.of[e.Job].reports) - 1, e.Control})
	}
}

// Decision implements scheduler.Recorder.
func (*decisions) Decision(*scheduler.Decision) {}

// write leaves decisions.csv in the cell's folder.
func (d *decisions) write(w *record.CellWriter, dir string, out *record.Cell) error {
	rows := make([]record.ControlRow, len(d.decided))
	for i := range d.decided {
		rows[i] = d.row(i, w.Outcome(d.decided[i].job).Service)
	}
	f, err := record.Controls.Write(dir, rows)
	out.Files = append(out.Files, f)
	return err
}

// outcome sets the outcome of a job that was changed during training: the last loss and
// accuracy, when it reached the target, and the stretches between its changes.
func (d *decisions) outcome(target *record.Constraint, o *record.TrialOutcome) {
	reports := d.of[0].reports
	for i := range reports {
		r := &reports[i]
		if !math.IsNaN(r.Loss) {
			o.Loss = &r.Loss
		}
		if !math.IsNaN(r.Accuracy) {
			o.Accuracy = &r.Accuracy
		}
		if target != nil && o.Reached == nil && target.Reached(o.Outcome(target.Outcome)) {
			used := r.Used.Seconds()
			o.Reached = &used
		}
	}
	if n := len(d.decided); n > 0 && d.decided[n-1].Action.Stop { // it did not do all of its work
		o.Units = unitsOf(&reports[len(reports)-1])
	}
	o.Stretches = d.stretches(o.Time)
}

// stretches are the times between the changes of the first job.
func (d *decisions) stretches(end float64) []record.Stretch {
	reports := d.of[0].reports
	var list []record.Stretch
	begin := func(from int, settings []control.Setting) {
		s := record.Stretch{From: reports[from].Used.Seconds()}
		s.Settings = append(s.Settings, settings...)
		list = append(list, s)
	}
	close := func(from, to int, until float64) {
		s := &list[len(list)-1]
		s.To, s.Units = until, unitsOf(&reports[to])-unitsOf(&reports[from])
		if p := pace(reports[from : to+1]); !math.IsNaN(p) {
			s.Pace = p
		}
		if l := reports[to].Loss; !math.IsNaN(l) {
			s.Loss = &l
		}
		if a := reports[to].Accuracy; !math.IsNaN(a) {
			s.Accuracy = &a
		}
	}
	if len(reports) == 0 {
		return nil
	}
	from := 0
	begin(0, reports[0].Settings)
	for i := range d.decided {
		x := &d.decided[i]
		if x.job == 0 && len(x.Action.Ignored) > 0 { // the stretch that ends was one of the settings before
			s := &list[len(list)-1]
			if s.Ignored = strings.Join(x.Action.Ignored, ", "); len(list) > 1 {
				s.Settings = list[len(list)-2].Settings
			}
		}
		if x.job != 0 || len(x.Action.Settings) == 0 || x.Refused != "" {
			continue
		}
		close(from, x.report, x.Report.Used.Seconds())
		from = x.report
		begin(from, x.Settings)
		s := &list[len(list)-1]
		s.Restart = x.Restart
		if _, cost := d.became(i); !math.IsNaN(cost) {
			s.Cost = cost
		}
		if e := x.Action.Expected; e != nil && !math.IsNaN(e.Left) {
			left := e.Left
			s.Remaining = &left
		}
	}
	close(from, len(reports)-1, end)
	return list
}

// row is the row of a decision, with its effect until the job ended with a service time.
func (d *decisions) row(i int, service float64) record.ControlRow {
	x, none := &d.decided[i], math.NaN()
	r := &x.Report
	row := record.ControlRow{
		At: x.at.Seconds(), Job: d.jobs[x.job].Name, Controller: d.of[x.job].controller, Epoch: r.Epoch, Step: r.Step,
		Loss: r.Loss, Accuracy: r.Accuracy, Used: r.Used.Seconds(), Left: none, Threads: r.Allotment.Threads,
		GPUs: r.Allotment.GPUs, Settings: control.SettingsText(r.Settings), After: control.SettingsText(x.Settings),
		Action: x.Action.Name(), Reason: x.Action.Reason, Remaining: none, Low: none, High: none, Gain: none, Cost: none,
		Sure: none, ActualRemaining: service - r.Used.Seconds(), ActualGain: none, ActualCost: none,
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
	if all := d.of[x.job].reports; x.report+1 < len(all) {
		row.AccuracyAfter = all[x.report+1].Accuracy
	}
	if len(x.Action.Settings) > 0 && x.Refused == "" {
		row.ActualGain, row.ActualCost = d.became(i)
	}
	return row
}

// took returns whether a program is known to run with the settings of a decision, from
// its own later reports before the next decision.
func (d *decisions) took(x *decision) string {
	if len(x.Action.Settings) == 0 || x.Refused != "" {
		return ""
	}
	if x.Restart || x.report < 0 {
		return "yes" // it was started with them
	}
	if n := d.after(x); n != nil && len(n.Action.Ignored) > 0 {
		return "no"
	}
	took := ""
	for _, r := range d.of[x.job].reports[x.report+1:] {
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

// after is the next decision about the same job; nil for the last one.
func (d *decisions) after(x *decision) *decision {
	for i := range d.decided {
		if y := &d.decided[i]; y.job == x.job && y.report > x.report {
			return y
		}
	}
	return nil
}

// became returns the savings and the cost of a change of settings, in seconds: the units
// (epochs or steps) that the job still had to train times how much faster each was at the
// median, and the time in which it did not train for the change. The stretch before it
// begins at the previous change, the one after it to the next change.
func (d *decisions) became(i int) (gain, cost float64) {
	x := &d.decided[i]
	reports := d.of[x.job].reports
	from, to := 0, len(reports)-1
	for k := range d.decided {
		y := &d.decided[k]
		if y.job != x.job || len(y.Action.Settings) == 0 || y.Refused != "" || k == i {
			continue
		}
		if y.report <= x.report && k < i {
			from = max(from, y.report)
		} else if k > i {
			to = min(to, y.report)
		}
	}
	before, after := pace(reports[from:x.report+1]), pace(reports[x.report:to+1])
	if x.report < to {
		first := reports[x.report+1]
		n := float64(unitsOf(&first) - unitsOf(&reports[x.report]))
		cost = math.Max((first.Used-reports[x.report].Used).Seconds()-n*after, 0)
	} else {
		cost = math.NaN()
	}
	left := float64(unitsOf(&reports[len(reports)-1]) - unitsOf(&reports[x.report]))
	return left * (before - after), cost
}

// unitsOf is how many epochs a report has, or else steps.
func unitsOf(r *control.Report) int {
	if r.Epoch > 0 {
		return r.Epoch
	}
	return r.Step
}

// pace is the median time of a unit in a stretch of reports, in seconds. The time to the
// first report after a change includes the cost of the change, and is ignored. Without
// other reports, the program's own figure counts.
func pace(reports []control.Report) float64 {
	var each []float64
	for k := 2; k < len(reports); k++ {
		if n := unitsOf(&reports[k]) - unitsOf(&reports[k-1]); n > 0 {
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
