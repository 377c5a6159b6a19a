package execute

import (
	"math"
	"time"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/estimator/losscurve"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
)

// online makes predictions follow the progress of jobs; nil where they do not.
func online(o *stages.Online) *scheduler.Online {
	if o == nil {
		return nil
	}
	return &scheduler.Online{Units: o.Units, Predictor: &foresight{Online: o, jobs: make([]learned, len(o.Units))}}
}

// foresight predicts jobs anew from their finished units. It implements
// scheduler.Predictor.
type foresight struct {
	*stages.Online
	jobs []learned
}

// learned is what the finished units of a job have shown.
type learned struct {
	pace  estimator.Learned
	first bool // pace is that of the first units alone, less the fixed costs before them
	units int
	// losses are those that it has reported, for a job with a target.
	losses []losscurve.Point
}

// Learn implements scheduler.Predictor. What comes before the first unit is
// known from the estimate alone, and the first unit warms up, so the first
// report counts until there is another.
func (f *foresight) Learn(job, units int, losses []scheduler.Loss, held []scheduler.Held) time.Duration {
	if f.Units[job] == 0 {
		return -1
	}
	est, work := f.estimate(job), f.Work[job]
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
	return seconds(est.After(l.pace).Slope * f.left(job, losses))
}

// seedOfCurves makes the forecasts of loss curves the same in every run.
const seedOfCurves = 1

// left predicts how many units a job has left: all that it may still train, or
// those until its loss is at its target, if that will be earlier.
func (f *foresight) left(job int, losses []scheduler.Loss) float64 {
	l, b := &f.jobs[job], &f.Blocks[f.Block[job]]
	all := float64(max(b.Length-l.units, 0))
	if b.Target == 0 {
		return all
	}
	for _, p := range losses {
		l.losses = append(l.losses, losscurve.Point{Step: float64(p.Units), Loss: p.Loss, Rate: p.Rate})
	}
	for len(l.losses) < min(l.units, len(b.Losses)) { // of a simulated job
		n := len(l.losses)
		l.losses = append(l.losses, losscurve.Point{Step: float64(n + 1), Loss: b.Losses[n]})
	}
	model, _ := losscurve.ByName(losscurve.Default)
	forecast, ok := model.Forecast(l.losses, losscurve.Ask{Target: b.Target, Level: 0.9, Most: all, Seed: seedOfCurves})
	if !ok {
		return all
	}
	return min(forecast.Steps, all)
}

// Forget implements scheduler.Predictor.
func (f *foresight) Forget(job int) { f.jobs[job] = learned{} }

// estimate is what is estimated of a job before its first unit.
func (f *foresight) estimate(job int) estimator.Estimate {
	b, work := &f.Blocks[f.Block[job]], &f.Work[job]
	est := b.Fitted
	if !b.Known {
		est.Intercept = work.Fixed.Seconds()
		est.Slope = (work.RunTime(b.Threads) - work.Fixed).Seconds() / float64(b.Length)
	}
	est.Resource.Threads = b.Threads
	if f.Sigma > 0 { // it is known to be that wrong
		by := f.Errors[job]
		est.Slope, est.Intercept, est.PaceSD = est.Slope*by, est.Intercept*by, f.Sigma
	}
	return est
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }
