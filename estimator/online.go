package estimator

// Unit is one unit of work that a running job has finished: the times in which
// it held so many threads, in their order. There are several where the job was
// resized in the middle. Time in which it was paused is left out.
type Unit []Held

// Held is a time in seconds in which a job held Threads.
type Held struct {
	Seconds float64
	Threads int
}

// Update returns the estimate of a running job from the units that it has
// finished. Each is counted at the pace of the estimate's resource: Curve says
// how much work was done on other threads. What was estimated before counts as
// so many units as its standard error is worth, so the first units of a job
// change little where the samples were good, and the job's own pace prevails
// in the end. The run time of what is left is Remaining's.
func (e Estimate) Update(done []Unit) Estimate {
	return e.update(done)
}

// Remaining is the run time of the units of length that are not done, on threads
// from now on, with the interval at level: fixed costs after the last unit are
// not told apart from those before the first, which a running job has had, so
// there are none in it.
func (e Estimate) Remaining(length int, done []Unit, threads int, level float64) Prediction {
	left := length - len(done)
	if left <= 0 {
		return Prediction{}
	}
	u := e.update(done)
	u.Intercept, u.InterceptSE = 0, 0
	return u.PredictOn(left, threads, level)
}

// update joins what was estimated with the pace of the units by their precision
// (the posterior mean of a normal pace under a normal prior).
func (e Estimate) update(done []Unit) Estimate {
	var l Learned
	for _, u := range done {
		l.Add(e, 1, u)
	}
	return e.After(l)
}
