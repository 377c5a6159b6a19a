package search

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/control"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/steering"
	"github.com/tfexp/tfexp/stages/tuning/trial"
)

// part records the outcome of a task's only job as the outcome of a trial. Target is the bound that ends the search for
// a target; nil for none. Units are the job's epochs or steps. Recorded is the outcome from a table; nil for a job that
// runs. Steered has the controller of a job that is tuned while it trains; nil for other jobs.
type part struct {
	Target   *trial.Constraint
	Units    int
	Recorded *trial.Outcome
	Steered  *steering.Controllers
}

// Begin implements stages.TaskPart.
func (p *part) Begin(t *stages.Task, on scheduler.Engine, run *scheduler.Run) (scheduler.Recorder, stages.Finish, error) {
	if p.Steered == nil {
		return nil, func(w *record.CellWriter, out *record.Cell) error { return p.add(w, t, nil, out) }, nil
	}
	log, err := p.Steered.Join(t, on, run)
	if err != nil {
		return nil, nil, err
	}
	return log, func(w *record.CellWriter, out *record.Cell) error {
		if err := log.Write(w, out); err != nil {
			return err
		}
		return p.add(w, t, log, out)
	}, nil
}

// add adds the outcome to the record of the cell. It is taken from the table of a recorded job, or else from the
// reports of the program.
func (p *part) add(w *record.CellWriter, t *stages.Task, log *steering.Log, out *record.Cell) error {
	job := w.Outcome(0)
	o := trial.Outcome{Time: job.Service, Units: p.Units}
	switch {
	case p.Recorded != nil:
		o = *p.Recorded
	case job.State != scheduler.Finished.String():
		o.Crashed = crashed(w, out)
	case log != nil:
		p.steered(log, &o)
	case t.Logs != "":
		o.Report(job.FinalLoss, job.FinalAccuracy)
		if err := p.reached(t, &job, &o); err != nil {
			return err
		}
	}
	if p.Recorded == nil && o.Crashed == "" && !math.IsNaN(job.Cost) {
		o.Cost = &job.Cost
	}
	if p.Recorded != nil && o.Crashed != "" {
		out.Error = o.Crashed
	}
	out.Outcome = record.NewFeatureValue(o.Reach(p.Target))
	return nil
}

// crashed returns the reason why a trial has no outcome.
func crashed(w *record.CellWriter, out *record.Cell) string {
	if f := w.Failures(); len(f) > 0 {
		return f[0].Reason
	}
	if out.Error != "" {
		return out.Error
	}
	return "it did not finish"
}

// reached sets the service time at the first report that reaches the target. The reports are in the cell's table, or
// else in the program's log.
func (p *part) reached(t *stages.Task, job *measure.Outcome, o *trial.Outcome) error {
	if p.Target == nil || o.Diverged {
		return nil
	}
	rows, err := record.Progress.Read(t.Dir)
	if err != nil {
		return err
	}
	var so trial.Outcome
	for i := range rows {
		so.Report(rows[i].Loss, rows[i].Accuracy)
		if !p.Target.Reached(so.Outcome(p.Target.Outcome)) {
			continue
		}
		used := rows[i].Used
		if math.IsNaN(used) { // the engine does not measure service time
			used = rows[i].At - job.FirstStart
		}
		used = max(0, min(used, o.Time))
		o.Reached = &used
		return nil
	}
	if len(rows) > 0 {
		return nil
	}
	return p.reachedInLog(t, o)
}

// reachedInLog sets the time at the first line of the program's log that reaches the target. Time outside of epochs,
// such as the start, counts as spent before the first epoch.
func (p *part) reachedInLog(t *stages.Task, o *trial.Outcome) error {
	f, err := folder.Open(t.Logs, t.Setup.Jobs[0].Name+".log")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the log of a trial: %w", err)
	}
	defer f.Close()
	total, reachedAt := 0.0, math.NaN()
	var so trial.Outcome
	each := func(said contract.Progress) {
		so.Report(schema.OrNaN(said.Loss), schema.OrNaN(said.Accuracy))
		total += schema.Or(said.Seconds, 0)
		if math.IsNaN(reachedAt) && p.Target.Reached(so.Outcome(p.Target.Outcome)) {
			reachedAt = total
		}
	}
	var tail contract.Tail
	buffer := make([]byte, 64<<10)
	for err == nil {
		var n int
		n, err = f.Read(buffer)
		tail.Add(buffer[:n], each)
	}
	if !math.IsNaN(reachedAt) && total > 0 {
		v := min(o.Time, reachedAt+max(0, o.Time-total))
		o.Reached = &v
	}
	return nil
}

// steered sets the outcome of a job that was tuned while it trained: the last loss and accuracy, the time at which it
// reached the target, and the periods between its changes.
func (p *part) steered(log *steering.Log, o *trial.Outcome) {
	reports := log.Reports(0)
	for i := range reports {
		r := &reports[i]
		o.Report(r.Loss, r.Accuracy)
		if p.Target != nil && o.Reached == nil && p.Target.Reached(o.Outcome(p.Target.Outcome)) {
			used := r.Used.Seconds()
			o.Reached = &used
		}
	}
	// the controller stopped the job before all its work was done
	if n := len(log.Decided); n > 0 && log.Decided[n-1].Action.Stop {
		o.Units = steering.Units(&reports[len(reports)-1])
	}
	o.Stretches = stretches(log, o.Time)
}

// stretches returns the periods between the changes of the first job. end is when the last one ends, in seconds of
// service.
func stretches(log *steering.Log, end float64) []trial.Stretch {
	reports := log.Reports(0)
	var list []trial.Stretch
	begin := func(from int, settings []control.Setting) {
		s := trial.Stretch{From: reports[from].Used.Seconds()}
		s.Settings = append(s.Settings, settings...)
		list = append(list, s)
	}
	close := func(from, to int, until float64) {
		s := &list[len(list)-1]
		s.To, s.Units = until, steering.Units(&reports[to])-steering.Units(&reports[from])
		if p := steering.Pace(reports[from : to+1]); !math.IsNaN(p) {
			s.Pace = p
		}
		if l := reports[to].Loss; stats.Finite(l) {
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
	for i := range log.Decided {
		x := &log.Decided[i]
		// the program ignored the change, so the period that ends had the settings before the change
		if x.Job == 0 && len(x.Action.Ignored) > 0 {
			s := &list[len(list)-1]
			if s.Ignored = strings.Join(x.Action.Ignored, ", "); len(list) > 1 {
				s.Settings = list[len(list)-2].Settings
			}
		}
		if x.Job != 0 || len(x.Action.Settings) == 0 || x.Refused != "" {
			continue
		}
		close(from, x.Last, x.Report.Used.Seconds())
		from = x.Last
		begin(from, x.Settings)
		s := &list[len(list)-1]
		s.Restart = x.Restart
		if _, cost := log.Became(i); !math.IsNaN(cost) {
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
