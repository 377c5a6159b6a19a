package execute

import (
	"sync/atomic"
	"time"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/standing"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/ledger"
	"github.com/tfexp/tfexp/stages"
)

// beatEvery is the least time between two looks at a simulated cell. Most cells are over before the first.
const beatEvery = 500 * time.Millisecond

// beat says how a cell stands while it runs: to who watches the run, and in the cell's folder, for other processes. It
// is a recorder, behind the collector that it reads. A simulated cell is looked at when time has passed, so that
// its events cost nothing; a real one at each event.
type beat struct {
	cell  *measure.Collector
	jobs  int
	watch Watch // nil for nobody
	to    standing.Writer
	due   atomic.Bool
	timer *time.Timer // nil: each event is due
}

// newBeat begins; close must be called.
func newBeat(dir string, cell *measure.Collector, jobs int, real bool, watch Watch) *beat {
	b := &beat{cell: cell, jobs: jobs, watch: watch, to: standing.Writer{Dir: dir}}
	if b.due.Store(real); !real {
		b.timer = time.AfterFunc(beatEvery, func() { b.due.Store(true) })
	}
	return b
}

// Event implements scheduler.Recorder.
func (b *beat) Event(e *scheduler.Event) {
	if !b.due.Load() {
		return
	}
	n := b.cell.Counts()
	cores, gpus := b.cell.Held()
	b.to.Add(standing.Standing{
		At: e.At.Seconds(), Jobs: b.jobs, Done: n.Finished, Running: n.Running, Waiting: n.Waiting(),
		Failed: n.Failed + n.Stopped, Cores: cores, GPUs: gpus,
	})
	if b.timer == nil {
		return
	}
	if b.watch != nil {
		b.watch(e.At, countsOf(n, b.jobs), nil)
	}
	b.due.Store(false)
	b.timer.Reset(beatEvery)
}

// Decision implements scheduler.Recorder.
func (*beat) Decision(*scheduler.Decision) {}

// countsOf are the counts of a ledger for views.
func countsOf(n ledger.Counts, jobs int) stages.Counts {
	return stages.Counts{
		Waiting: n.Waiting(), Running: n.Running, Done: n.Finished, Failed: n.Failed + n.Stopped, Total: jobs,
	}
}

func (b *beat) close() {
	if b.timer != nil {
		b.timer.Stop()
	}
	b.to.Close()
}
