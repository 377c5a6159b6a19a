package estimator

// Unit is one unit of work that a running job has finished: the times with
// their numbers of threads, in order. There are several where the job was
// resized in the middle. Time in which it was paused is left out.
type Unit []Held

// Held is a time in seconds in which a job held Threads.
type Held struct {
	Seconds float64
	Threads int
}

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
