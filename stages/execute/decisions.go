package execute

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/steering"
	"github.com/tfexp/tfexp/scheduler"
)

// decisions are what the controllers of a cell saw and decided. It implements
// scheduler.Recorder.
type decisions struct {
	jobs    []scheduler.Job
	of      []*deciding // by job
	decided []decision
}

// deciding keeps the reports that a controller has had of a job. It implements scheduler.Controller.
type deciding struct {
	controller string
	asked      scheduler.Controller
	reports    []scheduler.Report
}

// Decide implements scheduler.Controller.
func (d *deciding) Decide(r scheduler.Report) scheduler.Action {
	d.reports = append(d.reports, r)
	return d.asked.Decide(r)
}

// decision is one: after so many reports of its job.
type decision struct {
	at     time.Duration
	job    int
	report int
	*scheduler.Control
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
	rows := make([]steering.Row, len(d.decided))
	for i := range d.decided {
		rows[i] = d.row(i, w.Outcome(d.decided[i].job).Service)
	}
	f, err := steering.Write(dir, rows)
	out.Files = append(out.Files, f)
	return err
}

// outcome takes what a job that was changed while it trained came to: the last loss and
// accuracy, when it reached the target, and the stretches between its changes.
func (d *decisions) outcome(t *record.Tuning, o *record.TrialOutcome) {
	reports := d.of[0].reports
	for i := range reports {
		r := &reports[i]
		if !math.IsNaN(r.Loss) {
			o.Loss = &r.Loss
		}
		if !math.IsNaN(r.Accuracy) {
			o.Accuracy = &r.Accuracy
		}
		if t.Target == nil || o.Reached != nil {
			continue
		}
		c := t.AllConstraints()[0]
		if v := o.Outcome(c.Outcome); c.Min != nil && v >= *c.Min || c.Max != nil && v <= *c.Max {
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
	begin := func(from int, settings []scheduler.Setting) {
		s := record.Stretch{From: reports[from].Used.Seconds()}
		for _, x := range settings {
			s.Settings = append(s.Settings, record.Setting(x))
		}
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

// row is the row of a decision, with what became of it until the job ended with a service
// time.
func (d *decisions) row(i int, service float64) steering.Row {
	x, none := &d.decided[i], math.NaN()
	r := &x.Report
	row := steering.Row{
		At: x.at.Seconds(), Job: d.jobs[x.job].Name, Controller: d.of[x.job].controller, Epoch: r.Epoch, Step: r.Step,
		Loss: r.Loss, Accuracy: r.Accuracy, Used: r.Used.Seconds(), Left: none, Threads: r.Allotment.Threads,
		GPUs: r.Allotment.GPUs, Settings: scheduler.SettingsText(r.Settings), After: scheduler.SettingsText(x.Settings),
		Action: x.Action.Name(), Reason: x.Action.Reason, Remaining: none, Low: none, High: none, Gain: none, Cost: none,
		Sure: none, ActualRemaining: service - r.Used.Seconds(), ActualGain: none, ActualCost: none,
		AccuracyBefore: r.Accuracy, AccuracyAfter: none, Took: d.took(x),
	}
	if r.Left != scheduler.NoBudget {
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

// took says whether a program is known to run with the settings of a decision: from what
// it says itself, in later reports before the next decision.
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
			if slices.ContainsFunc(r.Refused, func(no scheduler.Setting) bool { return no.Name == s.Name }) {
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

// became returns what a change of settings saved and cost, in seconds: the units (epochs
// or steps) that the job still had to train times how much faster each was at the median,
// and the time in which it did not train for the change. The stretch before it goes back to
// the change before, the one after it to the next change.
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
func unitsOf(r *scheduler.Report) int {
	if r.Epoch > 0 {
		return r.Epoch
	}
	return r.Step
}

// pace is the median time of a unit in a stretch of reports, in seconds. The time to the
// first report after a change has the cost of the change in it, and does not count where
// there are others; what the program says of it does.
func pace(reports []scheduler.Report) float64 {
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
