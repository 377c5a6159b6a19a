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

// beatEvery is the shortest time between two reports of a simulated cell. Most cells end before the first report.
const beatEvery = 500 * time.Millisecond

// beat reports the progress of a simulated cell to the run's watchers, and in the cell's folder for other processes. It
// is a recorder, placed after the collector whose data it reads. It reports at intervals of time, so events cause
// little work.
type beat struct {
	cell  *measure.Collector
	jobs  int
	watch Watch // may be nil
	to    record.CellProgressWriter
	due   atomic.Bool
	timer *time.Timer
}

// newBeat returns a started beat; the caller must call close.
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

// standing returns the progress of a cell from the counts of a ledger.
func standing(at time.Duration, n ledger.Counts, jobs int) record.CellProgress {
	return record.CellProgress{
		At: at.Seconds(), Jobs: jobs, Done: n.Finished, Running: n.Running, Waiting: n.Waiting(), Failed: n.Failed + n.Stopped,
	}
}

func (b *beat) close() {
	b.timer.Stop()
	b.to.Close()
}

// Watch receives the progress of a cell at an instant of the cell's time, and reports of running jobs. For a real cell,
// several goroutines call it when these change, but only one at a time.
type Watch func(s record.CellProgress, training []stages.LatestReport)

// pulse reports the progress of a real cell and of its jobs to the run's watchers, and in the cell's folder for other
// processes. It is a recorder, placed after the collector whose data it reads.
type pulse struct {
	watch Watch // may be nil
	jobs  []scheduler.Job
	work  []work
	cell  *measure.Collector
	to    record.CellProgressWriter

	mu      sync.Mutex // guards the fields below
	ledger  *ledger.Ledger
	now     record.CellProgress
	running []int // running jobs in the order of their starts
	latest  map[int]stages.LatestReport
	written time.Time // when the last report was written to the folder
}

// work is the number of epochs or steps of a job, and its predicted time; 0 if unknown.
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

// share returns the finished fraction of the cell's work, from predicted run times and reported units; 0 if unknown.
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

// report processes a progress line of a job. A nil pulse ignores it.
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

// tell reports the progress to the watcher and, if due, in the folder.
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
