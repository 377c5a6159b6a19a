package estimator

import (
	"math"
	"math/rand/v2"
	"testing"
)

// held returns units of a run on the given number of threads.
func held(units []float64, threads int) []Unit {
	done := make([]Unit, len(units))
	for i, u := range units {
		done[i] = Unit{{u, threads}}
	}
	return done
}

func TestUpdateLeansOnWhatIsKnownBest(t *testing.T) {
	e := Estimate{Slope: 1, SlopeSE: 0.01, UnitSD: 0.1, PaceSD: 0.02, DF: 10, Resource: Resource{Threads: 2}}
	if got := e.Update(nil); got.Slope != 1 {
		t.Errorf("nothing seen changes the pace to %g", got.Slope)
	}
	few := e.Update(held([]float64{2, 2, 2}, 2))
	// Two units beyond the first, of unit spread s, weigh 2/s² against 1/(0.01² + 0.02²).
	if few.Slope <= 1 || few.Slope > 1.2 {
		t.Errorf("three slow units change the pace from 1 to %g", few.Slope)
	}
	var many []float64
	for i := range 400 {
		many = append(many, 2+0.1*float64(i%3-1))
	}
	if got := e.Update(held(many, 2)); math.Abs(got.Slope-2) > 0.1 {
		t.Errorf("400 units of 2 s give a pace of %g", got.Slope)
	}
	unknown := Estimate{Resource: Resource{Threads: 2}}.Update(held([]float64{3}, 2))
	near(t, "pace of a job of which nothing was known", unknown.Slope, 3, 1e-12)
}

// After a resize, finished units count at the pace of the requested threads, and the remaining time is for the present
// threads.
func TestRemainingKnowsResizes(t *testing.T) {
	curve := Curve{Sigma: 0.2}
	e := Estimate{Slope: 1, SlopeSE: 0.2, UnitSD: 0.01, DF: 5, Resource: Resource{Threads: 4}, Curve: curve}
	slow := curve.Speedup(4) / curve.Speedup(1)
	done := []Unit{
		{{1.2, 4}}, {{1.2, 4}}, {{1.2, 4}},
		{{0.6, 4}, {0.6 * slow, 1}}, // half of it before the job got fewer threads
		{{1.2 * slow, 1}}, {{1.2 * slow, 1}},
	}
	p := e.Remaining(16, done, 4, 0.9)
	near(t, "remaining on 4 threads", p.Seconds, 12, 0.1)
	q := e.Remaining(16, done, 1, 0.9)
	near(t, "remaining on 1 thread", q.Seconds, 12*slow, 0.3)
	if !(p.Low < 12 && 12 < p.High) {
		t.Errorf("the interval is %g to %g", p.Low, p.High)
	}
	if p := e.Remaining(6, done, 4, 0.9); p != (Prediction{}) {
		t.Errorf("a job that has done all has %+v left", p)
	}
}

// At each part of a run, 85 to 95% of the 90% intervals hold the remaining time, and the error falls as the run goes
// on.
func TestRemainingCoverage(t *testing.T) {
	m := machine{r: rand.New(rand.NewPCG(21, 22)), unit: 0.1, moments: 0.08, paceSD: 0.02, unitSD: 0.04, rho: 0.3,
		startup: 0.4, warmup: 0.03}
	const trials, length = 800, 200
	last := math.Inf(1)
	for _, seen := range []int{0, 10, 50, 150} {
		covered, errs := 0, 0.0
		for range trials {
			e, err := Linear{}.Fit(Problem{Samples: []Sample{m.run(6), m.run(12)}})
			if err != nil {
				t.Fatal(err)
			}
			run := m.run(length)
			var rest float64
			for _, u := range run.Units[seen:] {
				rest += u
			}
			p := e.Remaining(length, held(run.Units[:seen], 2), 2, 0.9)
			if p.Low <= rest && rest <= p.High {
				covered++
			}
			errs += math.Abs(p.Seconds/rest-1) / trials
		}
		share := float64(covered) / trials
		t.Logf("after %d of %d units: error %.2f%%, covers %.1f%%", seen, length, 100*errs, 100*share)
		if share < 0.85 || share > 0.95 && seen > 0 { // the prior assumes a less steady machine
			t.Errorf("after %d units the 90%% interval covers %.1f%%", seen, 100*share)
		}
		if errs > last*1.1 { // a short remaining time varies more
			t.Errorf("after %d units the error grew from %.2f%% to %.2f%%", seen, 100*last, 100*errs)
		}
		last = errs
	}
}

// Unit is one unit of work that a running job has finished: the times with
// their numbers of threads, in order.
type Unit []Held

// Update returns the estimate of a running job from the units that it has
// finished. Each is converted to the pace of the estimate's resource: Curve
// converts work on other threads. The first unit warms up, and is used only if
// nothing else is known of the job.
//
// The earlier estimate and the observed units are joined by their precision (the
// posterior mean of a normal pace under a normal prior). So the first units of a
// job change little if the samples were good, and the observed pace prevails in
// the end. Remaining returns the remaining run time.
func (e Estimate) Update(done []Unit) Estimate {
	if len(done) > 1 || e.Slope > 0 && len(done) > 0 {
		done = done[1:]
	}
	var l Learned
	for _, u := range done {
		l.Add(e, 1, u)
	}
	return e.After(l)
}

// Remaining returns the run time of the unfinished units of length, on threads
// from now on, with the interval at level. It has no fixed costs: costs after
// the last unit are not separated from costs before the first, which a running
// job has already paid.
func (e Estimate) Remaining(length int, done []Unit, threads int, level float64) Prediction {
	left := length - len(done)
	if left <= 0 {
		return Prediction{}
	}
	u := e.Update(done)
	u.Intercept, u.InterceptSE, u.Launch = 0, 0, 0
	return u.PredictOn(left, threads, level)
}
