package scheduler

import "time"

// again lets a job that has failed wait for another start, if it has retries
// left. It begins again: it gives back its memory as well, may start on other
// cores and in another size, and keeps nothing but what its program saved. The
// time of the attempt that failed stays part of its service time, and of what it
// and its user have attained; what it is predicted to have left is all of it.
func (l *loop) again(j int32, reason string) bool {
	f := l.life(j)
	if l.result(j).Restarts >= l.Jobs[j].Retries {
		return false
	}
	l.result(j).Restarts++
	l.nodes.Vacate(j, f.grant.Cores, l.now)
	l.unbook(j)
	f.state, f.grant, f.timer = Queued, Grant{}, Never
	f.request, f.level = f.asked, int32(max(l.Jobs[j].Priority, 0))
	l.keepOnly(j, 0)
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

// keepOnly makes what a job has done so much, in the unit of the outlook: an attempt has ended
// that keeps no more.
func (l *loop) keepOnly(j int32, kept time.Duration) {
	l.counts(j, kept)
	l.base[j] = kept
	l.forget(j)
}

// counts makes what a job has done so much, in the unit of the outlook.
func (l *loop) counts(j int32, kept time.Duration) {
	if l.lost == nil {
		l.lost, l.base = make([]time.Duration, len(l.Jobs)), make([]time.Duration, len(l.Jobs))
	}
	l.lost[j] = l.life(j).coreTime - kept
	if l.done != nil {
		l.done[j] = kept
	}
}
