package execute

import (
	"math"
	"slices"
	"sync"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/ledger"
	"github.com/tfexp/tfexp/stages"
)

// Watch is told how a cell does at an instant of its own time: the states of its jobs, and what those that run have
// reported. That of a real cell is called when they change, from several goroutines, one at a time.
type Watch func(at time.Duration, jobs stages.Counts, training []stages.Reported)

// pulse follows the events of a cell and the reports of its jobs, for a Watch. It is a recorder.
type pulse struct {
	watch Watch
	jobs  []scheduler.Job

	mu      sync.Mutex // guards what follows
	ledger  *ledger.Ledger
	at      time.Duration
	counts  stages.Counts
	running []int // in the order of their starts
	latest  map[int]stages.Reported
}

func newPulse(watch Watch, jobs []scheduler.Job) *pulse {
	return &pulse{watch: watch, jobs: jobs, ledger: ledger.New(len(jobs)), counts: stages.Counts{Total: len(jobs)},
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
	p.at = e.At
	now := countsOf(p.ledger.Counts(), len(p.jobs))
	if now != p.counts || runs != (at >= 0) {
		p.counts = now
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
	if r.Loss != nil {
		t.Loss = *r.Loss
	}
	if r.Accuracy != nil {
		t.Accuracy = *r.Accuracy
	}
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
	p.watch(p.at, p.counts, training)
}
