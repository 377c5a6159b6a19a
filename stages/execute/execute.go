// Package execute runs one cell: the scheduler's loop over an engine, the
// trace recorded, measured and validated.
package execute

import (
	"context"
	"fmt"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/validate"
	"github.com/tfexp/tfexp/stages"
)

// hooks are called while a cell runs. Each may be nil.
type hooks struct {
	// pulse follows the jobs of a real cell for who watches it; nil for nobody.
	pulse *pulse
	// watch is told how a simulated cell does; nil for nobody.
	watch Watch
	// begun is called with the first event, when all that is kept to the end of the
	// cell is there.
	begun func()
	// beside has the trace recorded beside the loop.
	beside bool
	// finally, called when the trace is complete and before it is recorded, adds
	// what only the caller knows: warnings, the load of the machine.
	finally func(*record.Cell)
	// finals, called after finally, returns by job what programs reported last.
	finals func() map[int]measure.Final
	// replay is the engine of recorded jobs.
	replay engine.Replay
}

// loop is the scheduler's loop over the task's cell on an engine.
func loop(t stages.Task, on scheduler.Engine, to scheduler.Recorder) scheduler.Run {
	return scheduler.Run{
		Policy: t.Policy, Cluster: t.Setup.Cluster, Jobs: t.Setup.Jobs, Resizes: t.Resizes,
		Engine: on, Online: online(t.Online), Outlook: bySpeed(t.Speeds), Recorder: to, EventsOnly: t.Records == record.MetricsOnly, Until: t.Until,
	}
}

// bySpeed is the outlook in which jobs are as fast as their predicted work; nil without any.
func bySpeed(work []simulated.Scaling) scheduler.Outlook {
	if work == nil {
		return nil
	}
	return scheduler.SpeedCurves{Speed: func(j *scheduler.Job, cores int) float64 { return work[j.Number].Speed(cores) }}
}

// runOn runs the cell on an engine, and leaves its folder complete. A cell with failed jobs,
// with a trace that is no valid schedule, or that could not go on, is complete
// and failed. The error is the context's, or that the records could not be
// written; the folder is then left incomplete.
func runOn(ctx context.Context, c stages.Task, on scheduler.Engine, h hooks) (record.Cell, error) {
	if c.Simulation != nil {
		c.Setup.AloneOn = c.AloneOn
	}
	w, err := record.NewCellWriter(c.Dir, c.Setup, c.Records)
	if err != nil {
		return record.Cell{}, err
	}
	defer w.Abort()
	validator := validate.New(c.Setup.Cluster, c.Setup.Jobs, c.Resizes)
	validator.Renting(c.Policy.Markets(), c.Policy.Regions())
	if terms := policy.ProfilingOf(c.Policy.Settings); terms != nil {
		validator.Profiling(terms.ByClass)
	}
	stands := newBeat(c.Dir, w.Collector, len(c.Setup.Jobs), c.Setup.Cell.Real(), h.watch)
	defer stands.close()
	all := recorders{validator, w, stands}
	if h.pulse != nil {
		all = append(all, h.pulse)
	}
	if h.begun != nil {
		all = append(all, &opening{call: h.begun})
	}
	run := loop(c, on, nil)
	run.Streamed = true
	steering, decided, err := steer(&c, on)
	if err != nil {
		return w.Finish(record.Cell{Error: err.Error(), Busy: -1})
	}
	if decided != nil {
		run.Steering, all = steering, append(all, decided)
	}
	run.Recorder = all
	began, recorded := time.Now(), func() {}
	if h.beside {
		relay := newRelay(all)
		run.Recorder, recorded = relay, relay.close
	}
	outcome, err := run.Execute(ctx)
	recorded()
	if ctx.Err() != nil {
		return record.Cell{}, ctx.Err()
	}
	out := record.Cell{Seconds: time.Since(began).Seconds(), Busy: -1}
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
	if outcome.Closed > 0 {
		out.Closed = outcome.Closed.Seconds()
		if out.Error == "" {
			out.Error = undone(&outcome, len(c.Setup.Jobs))
		}
	}
	if h.finally != nil {
		h.finally(&out)
	}
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
	if h.replay != nil {
		if err := replayed(w, c, h.replay, &out); err != nil {
			return record.Cell{}, err
		}
	}
	if decided != nil {
		if err := decided.write(w, c.Dir, &out); err != nil {
			return record.Cell{}, err
		}
	}
	if err := addTrial(w, c, decided, &out); err != nil {
		return record.Cell{}, err
	}
	return w.Finish(out)
}

// undone says what was not done when a cell was closed at its horizon.
func undone(o *scheduler.Outcome, jobs int) string {
	u := o.Undone
	return fmt.Sprintf("it did not drain until %s and was closed: %d of %d jobs were not done "+
		"(%d had begun and were stopped, %d had not begun, %d had not arrived)",
		o.Closed, u.Sum(), jobs, u.Started, u.Waited, u.Missing)
}

// fail leaves the folder of a cell that could not even begin.
func fail(c stages.Task, reason error) (record.Cell, error) {
	w, err := record.NewCellWriter(c.Dir, c.Setup, c.Records)
	if err != nil {
		return record.Cell{}, err
	}
	return w.Finish(record.Cell{Error: reason.Error(), Busy: -1})
}

// recorders hands the trace on to several.
type recorders []scheduler.Recorder

func (rs recorders) Event(e *scheduler.Event) {
	for _, r := range rs {
		r.Event(e)
	}
}

func (rs recorders) Decision(d *scheduler.Decision) {
	for _, r := range rs {
		r.Decision(d)
	}
}

// opening makes a call at the first event.
type opening struct{ call func() }

func (o *opening) Event(*scheduler.Event) {
	if o.call != nil {
		o.call()
		o.call = nil
	}
}

func (*opening) Decision(*scheduler.Decision) {}
