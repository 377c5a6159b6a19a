package scheduler

import "time"

// endAttempt takes a started job from its nodes, and calls end to make the engine end the attempt.
func (l *loop) endAttempt(j *jobState, end func(int) (Attempt, error)) (Attempt, error) {
	l.takeOff(j)
	attempt, err := end(int(j.number))
	if err != nil {
		return attempt, err
	}
	l.tally.started--
	l.detector.Progressed()
	l.result(j).Add(&attempt)
	l.result(j).LostWork += attempt.Lost()
	return attempt, nil
}

// requeue puts a job whose attempt has ended back into the queue, and records the event e. The job keeps its
// finished work up to the last checkpoint.
func (l *loop) requeue(j *jobState, attempt *Attempt, e Event) {
	l.extensions.changed(j, leaves, 0)
	l.unbook(j)
	j.state, j.grant, j.timer = Queued, Grant{}, Never
	j.request, j.level = j.asked, int32(max(j.job.Priority, 0))
	l.extensions.changed(j, requeued, l.restore(j, attempt))
	l.emit(e)
	l.wait(j)
}

// restore resets the progress of a job to its last checkpoint. It returns that progress as run time on the job's
// full request.
func (l *loop) restore(j *jobState, a *Attempt) time.Duration {
	done, kept, work := l.doneBy(j, l.now), time.Duration(0), max(a.Kept, a.From)
	switch {
	case a.Ran > 0:
		kept = l.measured(j, a, a.Saved)
		work = l.ProgressModel.Past(j.job, kept)
	case a.Done > 0:
		kept = time.Duration(float64(done) * float64(a.Kept) / float64(a.Done))
	}
	l.keepOnly(j, kept)
	return work
}

// measured returns the progress of a job after the service time at in the attempt a, in the unit of the progress
// model. It needs an attempt whose program reported when it resumed and when it saved its work.
func (l *loop) measured(j *jobState, a *Attempt, at time.Duration) time.Duration {
	base := l.predictions.done.Base(j.number)
	return base + time.Duration(a.Share(at)*float64(l.doneBy(j, l.now)-base))
}
