package scheduler

import "time"

// again lets a job that has failed wait for another start, if it has retries
// left. It begins again: it gives back its memory as well, may start on other
// cores and in another size, and keeps nothing but what its program saved. The
// time of the attempt that failed stays part of its service time, and of what it
// and its user have attained; what it is predicted to have left is all of it.
func (l *loop) again(j int32, reason string) bool {
	if l.result(j).Restarts >= l.Jobs[j].Retries() {
		return false
	}
	l.result(j).Restarts++
	l.anew(j, &Attempt{}, Event{Kind: Retry, Job: int(j), Reason: reason})
	return true
}

// keepOnly makes what a job has done so much, in the unit of the outlook: an attempt has ended
// that keeps no more.
func (l *loop) keepOnly(j int32, kept time.Duration) {
	l.done.Set(j, kept, kept, l.life(j).coreTime)
	l.forget(j)
}
