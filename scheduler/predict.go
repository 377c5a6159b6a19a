package scheduler

import (
	"time"
)

// look prepares the outlook of a run.
func (l *loop) look() {
	switch l.Outlook.(type) {
	case nil:
		l.Outlook = Proportional{}
	case Proportional: // its sums are the core times, which are kept anyway
	default:
		l.done = make([]time.Duration, len(l.Jobs))
	}
}

// remaining returns the predicted run time that a job has left on its full
// request, and Never when there is no estimate.
func (l *loop) remaining(j int32) time.Duration {
	if l.turned(j) {
		return l.asRan(j, l.remaining)
	}
	predicted := l.predicted(j)
	if predicted == 0 {
		return Never
	}
	done := l.doneBy(j, l.now)
	if l.done == nil { // the same, without a call that a million jobs would notice
		return max(predicted-Proportional{}.Past(&l.Jobs[j], done), 0)
	}
	return max(predicted-l.Outlook.Past(&l.Jobs[j], done), 0)
}

// length returns the predicted run time that a job has left on so many cores.
func (l *loop) length(j, cores int32) time.Duration {
	left := l.remaining(j)
	if left == Never {
		return Never
	}
	job := &l.Jobs[j]
	if l.done == nil {
		return Proportional{}.Predict(job, left, Allotment{Cores: cores})
	}
	a := Allotment{Cores: cores, GPUs: int32(job.GPUs), Nodes: int32(max(job.Nodes, 1))}
	if f := l.life(j); f.state == Running {
		a.GPU = l.typeOf(f.grant)
	} else if len(job.Alternatives) > 0 {
		a.GPU = job.Alternatives[f.alternative].GPU
	}
	return l.Outlook.Predict(job, left, a)
}

// doneBy returns what a job has done in its attempt up to an instant in the present
// stretch, in the unit of the outlook.
func (l *loop) doneBy(j int32, at time.Duration) time.Duration {
	f := l.life(j)
	if l.done == nil {
		if f.state != Running {
			return f.coreTime - l.lostBy(j)
		}
		return Plus(f.coreTime, CoreTime(at-f.since, f.grant.Cores.Count())) - l.lostBy(j)
	}
	if f.state != Running {
		return l.done[j]
	}
	return Plus(l.done[j], l.Outlook.Done(&l.Jobs[j], l.allotment(j), at-f.since))
}

// settleDone adds a stretch of running that ends now to what a job has done.
func (l *loop) settleDone(j int32, stretch time.Duration) {
	if l.done != nil {
		l.done[j] = Plus(l.done[j], l.Outlook.Done(&l.Jobs[j], l.allotment(j), stretch))
	}
}

// allotment returns what the grant of a running job comes to.
func (l *loop) allotment(j int32) Allotment {
	g := &l.life(j).grant
	return Allotment{
		Cores: int32(g.Cores.Count()), GPUs: int32(g.GPUs.Count()),
		Nodes: int32(max(l.Jobs[j].Nodes, 1)), GPU: l.typeOf(*g),
	}
}

// typeOf returns the type of a grant's GPUs; gangs have them of one type.
func (l *loop) typeOf(g Grant) string {
	if len(g.GPUs) == 0 {
		return ""
	}
	return l.Cluster.Nodes[l.machine.GPUs.NodeOf(g.GPUs[0].Lo)].GPU
}
