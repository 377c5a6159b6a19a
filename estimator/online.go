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
// how much work was done on other threads. The first one warms up, and tells
// something only of a job of which nothing was known.
//
// What was estimated before and what is seen are joined by their precision (the
// posterior mean of a normal pace under a normal prior), so the first units of a
// job change little where the samples were good, and the job's own pace prevails
// in the end. The run time of what is left is Remaining's.
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

// Remaining is the run time of the units of length that are not done, on threads
// from now on, with the interval at level. There are no fixed costs in it: what
// comes after the last unit is not told apart from what comes before the first,
// which a running job has behind it.
func (e Estimate) Remaining(length int, done []Unit, threads int, level float64) Prediction {
	left := length - len(done)
	if left <= 0 {
		return Prediction{}
	}
	u := e.Update(done)
	u.Intercept, u.InterceptSE = 0, 0
	return u.PredictOn(left, threads, level)
}
