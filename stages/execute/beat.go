package execute

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/ledger"
	"github.com/tfexp/tfexp/stages"
)

// beatEvery is the least time between two looks at a simulated cell. Most cells are over before the first.
const beatEvery = 500 * time.Millisecond

// beat reports the state of a running cell: to the watchers of the run, and in the cell's folder, for other
// processes. It is a recorder, after the collector that it reads. A simulated cell is sampled when time has passed,
// so that its events cost nothing; a real one at each event.
type beat struct {
	cell  *measure.Collector
	jobs  int
	watch Watch // nil for none
	to    record.StandingWriter
	due   atomic.Bool
	timer *time.Timer // nil: each event is due
}

// newBeat begins; close must be called.
func newBeat(dir string, cell *measure.Collector, jobs int, real bool, watch Watch) *beat {
	b := &beat{cell: cell, jobs: jobs, watch: watch, to: record.StandingWriter{Dir: dir}}
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
	s := standing(e.At, b.cell.Counts(), b.jobs)
	s.Cores, s.GPUs = b.cell.Held()
	b.to.Add(s)
	if b.timer == nil {
		return
	}
	if b.watch != nil {
		b.watch(s, nil)
	}
	b.due.Store(false)
	b.timer.Reset(beatEvery)
}

// Decision implements scheduler.Recorder.
func (*beat) Decision(*scheduler.Decision) {}

// standing returns the state of a cell by the counts of a ledger, without the resources of its jobs.
func standing(at time.Duration, n ledger.Counts, jobs int) record.Standing {
	return record.Standing{
		At: at.Seconds(), Jobs: jobs, Done: n.Finished, Running: n.Running, Waiting: n.Waiting(), Failed: n.Failed + n.Stopped,
	}
}

func (b *beat) close() {
	if b.timer != nil {
		b.timer.Stop()
	}
	b.to.Close()
}

// Watch receives the state of a cell at an instant of the cell's time, and the reports of running jobs. For a real
// cell it is called when they change, from several goroutines, one at a time.
type Watch func(s record.Standing, training []stages.Reported)

// pulse follows the events of a cell and the reports of its jobs, for a Watch. It is a recorder.
type pulse struct {
	watch Watch
	jobs  []scheduler.Job

	mu      sync.Mutex // guards the fields below
	ledger  *ledger.Ledger
	now     record.Standing
	running []int // in the order of their starts
	latest  map[int]stages.Reported
}

func newPulse(watch Watch, jobs []scheduler.Job) *pulse {
	return &pulse{watch: watch, jobs: jobs, ledger: ledger.New(len(jobs)), now: record.Standing{Jobs: len(jobs)},
		latest: map[int]stages.Reported{}}
}

// Event implements scheduler.Recorder.
func (p *pulse) Event(e *scheduler.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ledger.Takes(e) {
		return
	}
	p.ledger.Event(e)
	at, runs := slices.Index(p.running, e.Job), p.ledger.Job(e.Job).Runs()
	switch {
	case runs && at < 0:
		p.running = append(p.running, e.Job)
	case !runs && at >= 0:
		p.running = slices.Delete(p.running, at, at+1)
	}
	before := p.now
	before.At = e.At.Seconds()
	p.now = standing(e.At, p.ledger.Counts(), len(p.jobs))
	if p.now != before || runs != (at >= 0) {
		p.tell()
	}
}

// Decision implements scheduler.Recorder.
func (*pulse) Decision(*scheduler.Decision) {}

// report takes a progress line of a job. A nil pulse takes none.
func (p *pulse) report(job int, r contract.Progress) {
	if p == nil || r.News() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	t, ok := p.latest[job]
	if !ok {
		t = stages.Reported{Job: p.jobs[job].Name, Loss: math.NaN(), Accuracy: math.NaN()}
	}
	t.Epoch, t.Step = r.Epoch, r.Step
	t.Loss = schema.Or(r.Loss, t.Loss)
	t.Accuracy = schema.Or(r.Accuracy, t.Accuracy)
	p.latest[job] = t
	p.tell()
}

func (p *pulse) tell() {
	var training []stages.Reported
	for _, job := range p.running {
		if t, ok := p.latest[job]; ok {
			training = append(training, t)
		}
	}
	p.watch(p.now, training)
}
