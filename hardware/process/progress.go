package process

import (
	"slices"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// Watch implements scheduler.Reporter. The output of jobs that have units goes
// through tfexp anyway; from now on it is looked at for progress lines. A job
// whose output is discarded reports nothing.
func (e *Engine) Watch(units []int) { e.units = units }

// Reports implements scheduler.Reporter. A report is of the instant at which
// its line was read, some milliseconds after it was printed.
func (e *Engine) Reports() []scheduler.Report {
	e.mu.Lock()
	defer e.mu.Unlock()
	news := e.news
	e.news = nil
	return news
}

// reports returns what is to be called with a job's output, or nil.
func (e *Engine) reports(job int) func([]byte) {
	if job >= len(e.units) || e.units[job] == 0 {
		return nil
	}
	var tail contract.Tail
	var done, next int // units reported; when Next is to return
	next = 1
	tell := func(p contract.Progress) {
		units := p.Epoch
		if e.jobs[job].Steps {
			units = p.Step
		}
		units = min(units, e.units[job])
		if units <= done {
			return
		}
		done = units
		e.mu.Lock()
		report := scheduler.Report{Job: job, At: e.Now(), Units: units}
		if i := slices.IndexFunc(e.news, func(p scheduler.Report) bool { return p.Job == job }); i >= 0 {
			e.news[i] = report // nobody has seen the one before
		} else {
			e.news = append(e.news, report)
		}
		ready := units >= next
		e.told = e.told || ready
		e.mu.Unlock()
		if ready {
			next = 2 * units
			select {
			case e.wake <- struct{}{}:
			default:
			}
		}
	}
	return func(output []byte) { tail.Add(output, tell) }
}

var _ scheduler.Reporter = (*Engine)(nil)
