// Package execute runs a cell: the scheduler's loop over an engine. It records, measures and validates the trace.
package execute

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/validate"
	"github.com/tfexp/tfexp/stages"
)

// hooks are called while a cell runs. Each may be nil.
type hooks struct {
	// pulse reports the progress of a real cell; nil for a simulated one.
	pulse *pulse
	// watch receives the progress of a simulated cell; nil if nobody watches.
	watch Watch
	// begun is called at the first event, after the data for the whole cell were allocated.
	begun func()
	// beside is set if the trace is recorded in another goroutine than the loop.
	beside bool
	// finally is called when the trace is complete, before the cell is recorded. It adds facts that only the caller
	// has: warnings, and the load of the machine.
	finally func(*record.Cell)
	// finals returns the last reports of programs, by job. It is called after finally.
	finals func() map[int]measure.Final
	// replay is the engine that replays recorded jobs.
	replay engine.Replay
}

// loop returns the scheduler's run of the task's cell on an engine.
func loop(t stages.Task, by stages.Decider, on scheduler.Engine, to scheduler.Recorder) scheduler.Run {
	return scheduler.Run{
		Policy: by, Cluster: t.Setup.Cluster, Jobs: t.Setup.Jobs, Drawn: t.Setup.Drawn,
		Resizes: t.Resizes, Seed: t.Setup.Cell.Seed,
		Engine: on, Online: online(t.Online), ProgressModel: bySpeed(t.Speeds), Recorder: to,
		EventsOnly: t.Records == record.MetricsOnly, Until: t.Until,
	}
}

// bySpeed returns the progress model in which jobs run at the speed of their predicted work; nil if work is empty.
func bySpeed(work []simulated.Scaling) scheduler.ProgressModel {
	if work == nil {
		return nil
	}
	return scheduler.SpeedCurves{Speed: func(j *scheduler.Job, cores int) float64 { return work[j.Number].Speed(cores) }}
}

// runOn runs the cell on an engine and completes its folder. A cell also completes, in state failed, if jobs failed, if
// its schedule is invalid, or if it could not continue. The error is the context's error or a failed write; the folder
// is then incomplete.
func runOn(ctx context.Context, c stages.Task, on scheduler.Engine, h hooks) (record.Cell, error) {
	if c.Simulation != nil {
		c.Setup.AloneOn = c.AloneOn
	}
	if c.Supply != nil {
		c.Setup.Meter = c.Supply.Meter
	}
	w, err := record.NewCellWriter(c.Dir, c.Setup, c.Records)
	if err != nil {
		return record.Cell{}, err
	}
	defer w.Abort()
	validator := validatorOf(&c)
	all := &recorders{to: []scheduler.Recorder{validator, w}, begun: h.begun}
	var progress interface {
		scheduler.Recorder
		close()
	} = h.pulse
	if h.pulse != nil {
		h.pulse.cell, h.pulse.to.Dir = w.Collector, c.Dir
	} else {
		progress = newBeat(c.Dir, w.Collector, c.Setup.Len(), h.watch)
	}
	defer progress.close()
	all.to = append(all.to, progress)
	by := c.Decider(ctx)
	run := loop(c, by, on, nil)
	run.Streamed = true
	var endings []stages.Finish
	for _, p := range c.Parts {
		recorder, ending, err := p.Begin(&c, on, &run)
		if err != nil {
			return w.Finish(record.Cell{Error: err.Error(), Busy: -1})
		}
		if recorder != nil {
			all.to = append(all.to, recorder)
		}
		if ending != nil {
			endings = append(endings, ending)
		}
	}
	run.Recorder = all
	began, recorded := time.Now(), func() {}
	if h.beside {
		relay := newRelay(all)
		run.Recorder, recorded = relay, relay.close
	}
	outcome, err := run.Execute(ctx)
	recorded()
	out := record.Cell{Seconds: time.Since(began).Seconds(), Busy: -1}
	if by.Close(&out); ctx.Err() != nil {
		return record.Cell{}, ctx.Err()
	}
	if err != nil {
		out.Error = err.Error()
	} else if validator.Close(&outcome); validator.Count() > 0 {
		out.Error = fmt.Sprintf("the schedule is not valid: %s", validator.Violations()[0])
		if more := validator.Count() - 1; more > 0 {
			out.Error += fmt.Sprintf(" (and %d more)", more)
		}
	}
	if err := addOverheads(w, c); err != nil {
		return record.Cell{}, err
	}
	if n := w.NoLength(); n > 0 {
		out.Warnings = append(out.Warnings, record.Warning{Code: record.NoLength, Cell: c.Setup.Cell.Cell, Text: fmt.Sprintf(
			"%s ran for less than %s: they have no slowdown", schema.Plural(n, "finished job"), measure.LeastAlone)})
	}
	if outcome.Closed > 0 {
		out.Closed = outcome.Closed.Seconds()
		if out.Error == "" {
			out.Error = undone(&outcome, c.Setup.Len())
		}
	}
	if h.finally != nil {
		h.finally(&out)
	}
	setFinals(w, &c, h)
	if h.replay != nil {
		if err := replayed(w, c, h.replay, &out); err != nil {
			return record.Cell{}, err
		}
	}
	for _, end := range endings {
		if err := end(w, &out); err != nil {
			return record.Cell{}, err
		}
	}
	progress.close() // delete this file before the record is written, in case tfexp is killed
	return w.Finish(out)
}

// validatorOf returns the check of a cell's trace, with the rules of features.
func validatorOf(c *stages.Task) *validate.Validator {
	v := validate.Of(c.Setup.Cluster, c.Setup.Set(), c.Resizes)
	for _, rule := range stages.TraceRules(c) {
		v.Add(rule)
	}
	if s := c.Policy.Sampling(); s != nil {
		v.Profiling(s.ByClass)
	}
	return v
}

// setFinals records the last loss and accuracy that the programs of jobs have reported. In a simulation, only jobs that
// finished have them.
func setFinals(w *record.CellWriter, c *stages.Task, h hooks) {
	if h.finals != nil {
		for job, f := range h.finals() {
			w.SetFinal(job, f)
		}
	}
	if c.Simulation != nil {
		for job, f := range c.Simulation.Finals {
			if w.Row(job).State == scheduler.Finished.String() {
				w.SetFinal(job, f)
			}
		}
	}
}

// undone describes the jobs that were unfinished when the cell reached its time limit.
func undone(o *scheduler.Outcome, jobs int) string {
	u := o.Undone
	return fmt.Sprintf("it still had jobs at %s, where until closed it: %d of %d jobs were not done "+
		"(%d had begun and were stopped, %d had not begun, %d had not arrived)",
		o.Closed, u.Sum(), jobs, u.Started, u.Waited, u.Missing)
}

// Fail completes the folder of a cell that could not begin.
func Fail(c stages.Task, reason error) (record.Cell, error) {
	w, err := record.NewCellWriter(c.Dir, c.Setup, c.Records)
	if err != nil {
		return record.Cell{}, err
	}
	return w.Finish(record.Cell{Error: reason.Error(), Busy: -1})
}

// recorders passes the trace to several recorders.
type recorders struct {
	to    []scheduler.Recorder
	begun func() // called after the first event; may be nil
}

func (rs *recorders) Event(e *scheduler.Event) {
	for _, r := range rs.to {
		r.Event(e)
	}
	if rs.begun != nil {
		rs.begun()
		rs.begun = nil
	}
}

func (rs *recorders) Decision(d *scheduler.Decision) {
	for _, r := range rs.to {
		r.Decision(d)
	}
}

// addOverheads reads from the logs of resized jobs how long their programs took to adapt. Missing logs are skipped.
func addOverheads(w *record.CellWriter, c stages.Task) error {
	if c.Logs == "" {
		return nil
	}
	for i := range c.Setup.Jobs {
		if w.Row(i).Resizes == 0 {
			continue
		}
		report, err := parseLog(filepath.Join(c.Logs, c.Setup.Jobs[i].Name+".log"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read job log: %w", err)
		}
		if len(report.Resized) > 0 {
			sum := 0.0
			for _, r := range report.Resized {
				sum += r.Seconds
			}
			w.SetResizeOverhead(i, sum)
		}
	}
	return nil
}

func parseLog(path string) (contract.Report, error) {
	f, err := folder.Open(filepath.Split(path))
	if err != nil {
		return contract.Report{}, err
	}
	defer f.Close()
	return contract.Parse(f, contract.Last)
}

// replayed adds the recorded data of the cell's started jobs.
func replayed(w *record.CellWriter, t stages.Task, on engine.Replay, out *record.Cell) error {
	tables, err := openLive(t, t.Setup.Jobs, false)
	if err != nil {
		return err
	}
	report := tables.report(nil)
	for job := range t.Setup.Jobs {
		if w.Row(job).FirstStart < 0 {
			continue
		}
		r := on.Replayed(job)
		for _, p := range r.Progress {
			report(job, p.At, p.Progress)
		}
		for _, s := range r.Servers {
			w.AddServer(record.ServerRow{
				Node: s.Name, Role: s.Role, Job: t.Setup.Jobs[job].Name, Created: s.From.Seconds(), Up: s.From.Seconds(),
				Warned: -1, Down: (s.From + s.Uptime).Seconds(), Revoked: revoked(s.Revoked), PricePerHour: s.PricePerHour,
				Cost: s.Cost,
			})
		}
		w.SetFinal(job, measure.Final{Loss: r.Loss, Accuracy: r.Accuracy})
		w.SetMoney(job, measure.ServerCost{Cost: r.Cost, Revocations: r.Revocations})
	}
	return tables.close(out)
}

// revoked returns the value of a column of servers.csv: 1 if true.
func revoked(is bool) int {
	if is {
		return 1
	}
	return 0
}
