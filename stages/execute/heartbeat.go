package execute

import (
	"math"
	"slices"
	"strconv"
	"strings"
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

// beat reports the state of a simulated cell: to the watchers of the run, and in the cell's folder, for other
// processes. It is a recorder, after the collector that it reads. It looks at the cell when time has passed, so that the
// events cost nothing.
type beat struct {
	cell  *measure.Collector
	jobs  int
	watch Watch // nil for none
	to    record.CellProgressWriter
	due   atomic.Bool
	timer *time.Timer
}

// newBeat begins; close must be called.
func newBeat(dir string, cell *measure.Collector, jobs int, watch Watch) *beat {
	b := &beat{cell: cell, jobs: jobs, watch: watch, to: record.CellProgressWriter{Dir: dir}}
	b.timer = time.AfterFunc(beatEvery, func() { b.due.Store(true) })
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
	if b.watch != nil {
		b.watch(s, nil)
	}
	b.due.Store(false)
	b.timer.Reset(beatEvery)
}

// Decision implements scheduler.Recorder.
func (*beat) Decision(*scheduler.Decision) {}

// standing returns the state of a cell by the counts of a ledger, without the resources of its jobs.
func standing(at time.Duration, n ledger.Counts, jobs int) record.CellProgress {
	return record.CellProgress{
		At: at.Seconds(), Jobs: jobs, Done: n.Finished, Running: n.Running, Waiting: n.Waiting(), Failed: n.Failed + n.Stopped,
	}
}

func (b *beat) close() {
	b.timer.Stop()
	b.to.Close()
}

// Watch receives the state of a cell at an instant of the cell's time, and the reports of running jobs. For a real
// cell it is called when they change, from several goroutines, one at a time.
type Watch func(s record.CellProgress, training []stages.LatestReport)

// pulse follows the events of a real cell and the reports of its jobs: for the watchers of the run, and in the cell's
// folder, for other processes. It is a recorder, after the collector that it reads.
type pulse struct {
	watch Watch // nil for none
	jobs  []scheduler.Job
	work  []work
	cell  *measure.Collector
	to    record.CellProgressWriter

	mu      sync.Mutex // guards the fields below
	ledger  *ledger.Ledger
	now     record.CellProgress
	running []int // in the order of their starts
	latest  map[int]stages.LatestReport
	written time.Time // when the folder had the last report
}

// work is the work of a job: its epochs or steps, and how long they are predicted to take; 0 where it is not known.
type work struct {
	units     int
	steps     bool
	predicted time.Duration
}

func newPulse(watch Watch, t stages.Task) *pulse {
	jobs := t.Setup.Jobs
	p := &pulse{watch: watch, jobs: jobs, work: make([]work, len(jobs)), ledger: ledger.New(len(jobs)),
		now: record.CellProgress{Jobs: len(jobs)}, latest: map[int]stages.LatestReport{}}
	for i := range t.Launches {
		w := work{steps: t.Launches[i].Steps}
		for _, text := range t.Launches[i].Env {
			if name, n, _ := strings.Cut(text, "="); name == contract.EnvEpochs || name == contract.EnvSteps {
				w.units, _ = strconv.Atoi(n)
			}
		}
		if t.Setup.Predicted != nil {
			w.predicted = t.Setup.Predicted[i]
		}
		p.work[i] = w
	}
	return p
}

// share is the finished part of the cell's work, by the predicted run times of its jobs and the units that they have
// reported; 0 where it is not known.
func (p *pulse) share() float64 {
	var done, all time.Duration
	for i, w := range p.work {
		if w.predicted <= 0 {
			return 0
		}
		all += w.predicted
		n := p.latest[i].Epoch
		if w.steps {
			n = p.latest[i].Step
		}
		switch {
		case p.ledger.Job(i).Over():
			done += w.predicted
		case w.units > 0:
			done += time.Duration(float64(w.predicted) * min(1, float64(n)/float64(w.units)))
		}
	}
	return float64(done) / float64(max(all, 1))
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
	p.now = standing(e.At, p.ledger.Counts(), len(p.jobs))
	p.now.Cores, p.now.GPUs = p.cell.Held()
	p.tell(true)
}

// Decision implements scheduler.Recorder.
func (*pulse) Decision(*scheduler.Decision) {}

// report takes a progress line of a job. A nil pulse takes none.
func (p *pulse) report(job int, at time.Duration, r contract.Progress) {
	if p == nil || r.News() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	t, ok := p.latest[job]
	if !ok {
		t = stages.LatestReport{Job: p.jobs[job].Name, Loss: math.NaN(), Accuracy: math.NaN()}
	}
	t.Epoch, t.Step = r.Epoch, r.Step
	t.Loss = schema.Or(r.Loss, t.Loss)
	t.Accuracy = schema.Or(r.Accuracy, t.Accuracy)
	p.latest[job] = t
	due := time.Since(p.written) > beatEvery
	if due {
		p.now.At = at.Seconds()
	}
	p.tell(due)
}

// tell passes the state on, and writes it to the folder where that is due.
func (p *pulse) tell(due bool) {
	if due {
		p.now.Share = p.share()
		p.to.Add(p.now)
		p.written = time.Now()
	}
	if p.watch == nil {
		return
	}
	var training []stages.LatestReport
	for _, job := range p.running {
		if t, ok := p.latest[job]; ok {
			training = append(training, t)
		}
	}
	p.watch(p.now, training)
}

func (p *pulse) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.to.Close()
}
