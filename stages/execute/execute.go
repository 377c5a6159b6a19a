// Package execute runs one cell: the scheduler's loop over an engine, the
// trace recorded, measured and validated.
package execute

import (
	"context"
	"fmt"
	"time"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/ledger"
	"github.com/tfexp/tfexp/scheduler/validate"
	"github.com/tfexp/tfexp/stages"
)

// Run runs the cell and leaves its folder complete. A cell with failed jobs,
// with a trace that is no valid schedule, or that could not go on, is complete
// and failed. The error is the context's, or that the records could not be
// written; the folder is then left incomplete.
func Run(ctx context.Context, c stages.Task) (record.Cell, error) {
	w, err := record.NewCellWriter(c.Dir, c.Setup, c.Records)
	if err != nil {
		return record.Cell{}, err
	}
	defer w.Abort()
	validator := validate.New(c.Setup.Cluster, c.Setup.Jobs, c.Resizes)
	all := recorders{validator, w}
	if c.Watch != nil {
		all = append(all, &counter{watch: c.Watch, counts: w.Counts, last: stages.Counts{Total: len(c.Setup.Jobs)}})
	}
	if c.Begun != nil {
		all = append(all, &opening{call: c.Begun})
	}
	began := time.Now()
	outcome, err := scheduler.Run{
		Policy: c.Policy, Cluster: c.Setup.Cluster, Jobs: c.Setup.Jobs, Resizes: c.Resizes,
		Engine: c.Engine, Online: c.Online, Recorder: all, EventsOnly: c.Records == record.MetricsOnly, Until: c.Until,
	}.Execute(ctx)
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
			out.Error = undone(&outcome)
		}
	}
	if c.Finally != nil {
		c.Finally(&out)
	}
	return w.Finish(out)
}

// undone says what was not done when a cell was closed at its horizon.
func undone(o *scheduler.Outcome) string {
	ran, waited, missing := 0, 0, 0
	for i := range o.Jobs {
		switch r := &o.Jobs[i]; {
		case r.State == scheduler.Pending:
			missing++
		case r.State == scheduler.Stopped && r.FirstStart == scheduler.Never:
			waited++
		case r.State == scheduler.Stopped:
			ran++
		}
	}
	return fmt.Sprintf("it did not drain until %s and was closed: %d of %d jobs were not done (%d had begun and were stopped, %d had not begun, %d had not arrived)",
		o.Closed, ran+waited+missing, len(o.Jobs), ran, waited, missing)
}

// Fail leaves the folder of a cell that could not even begin.
func Fail(c stages.Task, reason error) (record.Cell, error) {
	w, err := record.NewCellWriter(c.Dir, c.Setup, c.Records)
	if err != nil {
		return record.Cell{}, err
	}
	return w.Finish(record.Cell{Error: reason.Error(), Busy: -1})
}

// recorders hands the trace on to several.
type recorders []scheduler.Recorder

func (rs recorders) Event(e scheduler.Event) {
	for _, r := range rs {
		r.Event(e)
	}
}

func (rs recorders) Decision(d scheduler.Decision) {
	for _, r := range rs {
		r.Decision(d)
	}
}

// opening makes a call at the first event.
type opening struct{ call func() }

func (o *opening) Event(scheduler.Event) {
	if o.call != nil {
		o.call()
		o.call = nil
	}
}

func (*opening) Decision(scheduler.Decision) {}

// counter reports the jobs' states when they have changed.
type counter struct {
	watch  func(stages.Counts)
	counts func() ledger.Counts // after the event
	last   stages.Counts
}

func (c *counter) Event(scheduler.Event) {
	n := c.counts()
	now := stages.Counts{Waiting: n.Waiting(), Running: n.Running, Done: n.Finished, Failed: n.Failed + n.Stopped, Total: c.last.Total}
	if now != c.last {
		c.last = now
		c.watch(now)
	}
}

func (*counter) Decision(scheduler.Decision) {}
