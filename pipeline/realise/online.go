package realise

import (
	"time"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
)

// online is what lets the predictions of a cell follow its jobs; nil for a
// policy that does not ask for it. A job whose run time a trace tells has no
// units that it could report; one with alternatives keeps its estimates.
func (c *Cell) online(r realisation) *scheduler.Online {
	if c.Policy.Estimates != "online" {
		return nil
	}
	f := &foresight{cell: c, r: r, kinds: make([]*estimator.Estimate, len(r.kinds)), jobs: make([]learned, len(r.jobs))}
	units := make([]int, len(r.jobs))
	alternatives := alternativesOf(c.Hardware, r)
	for n := range units {
		if _, told := r.runTime(n); !told && r.kind[n] >= 0 && r.alternativesAt(alternatives, n) == nil {
			units[n] = length(r.kinds[r.kind[n]])
		}
	}
	return &scheduler.Online{Units: units, Predictor: f}
}

// foresight predicts jobs anew from their finished units. It implements
// scheduler.Predictor.
type foresight struct {
	cell  *Cell
	r     realisation
	kinds []*estimator.Estimate // before the first unit, by job block; nil where it is not known yet
	jobs  []learned
}

// learned is what the units of a job have told.
type learned struct {
	pace  estimator.Learned
	first bool // pace is that of the first units alone, less the fixed costs before them
	units int
}

// Learn implements scheduler.Predictor. What comes before the first unit is
// known from the estimate alone, and the first unit warms up, so the first
// report counts until there is another.
func (f *foresight) Learn(job, units int, held []scheduler.Held) time.Duration {
	est, work, ok := f.estimate(job)
	if !ok {
		return -1
	}
	l := &f.jobs[job]
	times := make([]estimator.Held, len(held))
	for i, h := range held {
		times[i] = estimator.Held{Seconds: h.Time.Seconds(), Threads: h.Cores}
	}
	switch {
	case l.units == 0:
		l.first = true
		fixed := est.Intercept
		for i := range times {
			before := min(fixed, times[i].Seconds)
			times[i].Seconds -= before
			fixed -= before
		}
	case l.first:
		l.first, l.pace = false, estimator.Learned{}
	}
	request := est.Resource.Threads
	full := float64(work.RunTime(request) - work.Fixed)
	for i := range times { // as if they had been on the full request
		if on := float64(work.RunTime(times[i].Threads) - work.Fixed); on > 0 {
			times[i].Seconds *= full / on
		}
		times[i].Threads = request
	}
	l.pace.Add(est, units, times)
	l.units += units
	left := length(f.r.kinds[f.r.kind[job]]) - l.units
	return seconds(est.After(l.pace).Slope * float64(max(left, 0)))
}

// Forget implements scheduler.Predictor.
func (f *foresight) Forget(job int) { f.jobs[job] = learned{} }

// estimate is what is estimated of a job before its first unit, and the work
// that says how its pace changes with the threads.
func (f *foresight) estimate(job int) (est estimator.Estimate, work simulated.Scaling, ok bool) {
	block := f.r.kinds[f.r.kind[job]]
	threads := block.Threads.Request
	k := f.r.kind[job]
	switch {
	case f.cell.x.estimated(f.cell.Hardware, block):
		if f.kinds[k] == nil {
			fitted, ok := f.cell.x.estimateOf(block)
			if !ok {
				return est, work, false
			}
			f.kinds[k] = &fitted
		}
		est = *f.kinds[k]
		var err error
		if work, err = f.cell.x.workOf(block); err != nil {
			return est, work, false
		}
	case block.Runtime != nil:
		work = given(block, f.r.epoch(job))
		est.Intercept = work.Fixed.Seconds()
		est.Slope = (work.RunTime(threads) - work.Fixed).Seconds() / float64(length(block))
	default:
		return est, work, false
	}
	est.Resource.Threads = threads
	if s := f.cell.Policy.Sigma; s > 0 { // it is known to be that wrong
		by := float64(f.cell.noisy(time.Hour, f.r.jobs[job].Name)) / float64(time.Hour)
		est.Slope, est.Intercept, est.PaceSD = est.Slope*by, est.Intercept*by, s
	}
	return est, work, true
}
