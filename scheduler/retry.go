package scheduler

import "time"

// again lets a job that has failed wait for another start, if it has retries
// left. It begins again: it gives back its memory as well, may start on other
// cores and in another size, and keeps nothing but what its program saved. The
// time of the attempt that failed stays part of its service time, and of what it
// and its user have attained; what it is predicted to have left is all of it.
func (l *loop) again(j int32, reason string) bool {
	f := &l.lives[j]
	if f.Restarts >= l.Jobs[j].Retries {
		return false
	}
	f.Restarts++
	l.nodes.Vacate(j, f.grant.Cores, l.now)
	l.unbook(j)
	f.State, f.grant, f.timer = Queued, Grant{}, Never
	f.request, f.level = f.asked, int32(max(l.Jobs[j].Priority, 0))
	if l.lost == nil {
		l.lost = make([]time.Duration, len(l.lives))
		l.base = make([]time.Duration, len(l.lives))
	}
	l.lost[j], l.base[j] = f.CoreTime, 0
	l.restart(j)
	l.forget(j)
	l.emit(Event{Kind: Retry, Job: int(j), Reason: reason})
	l.wait(j)
	return true
}

// lostBy returns the core time that a job has had in attempts that failed.
func (l *loop) lostBy(j int32) time.Duration {
	if l.lost == nil {
		return 0
	}
	return l.lost[j]
}
