package scheduler

import (
	"time"
)

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
	if l.done.ByCores() { // the same, without a call that a million jobs would notice
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
	if l.done.ByCores() {
		return Proportional{}.Predict(job, left, Allotment{Cores: cores})
	}
	a := Allotment{Cores: cores, GPUs: int32(job.GPUs), Nodes: int32(max(job.Nodes, 1))}
	if f := l.life(j); f.state == Running {
		a.GPU = l.typeOf(f.grant)
	} else if len(job.Alternatives()) > 0 {
		a.GPU = job.Alternatives()[f.alternative].GPU
	}
	return l.Outlook.Predict(job, left, a)
}

// doneBy returns what a job has done in its attempt up to an instant in the present
// stretch, in the unit of the outlook.
func (l *loop) doneBy(j int32, at time.Duration) time.Duration {
	f := l.life(j)
	done := l.done.Done(j, f.coreTime)
	switch {
	case f.state != Running:
		return done
	case l.done.ByCores(): // no more than there is, of all attempts
		return Plus(f.coreTime, CoreTime(at-f.since, int(f.held))) - (f.coreTime - done)
	}
	return Plus(done, l.Outlook.Done(&l.Jobs[j], l.allotment(j), at-f.since))
}

// settleDone adds a stretch of running that ends now to what a job has done.
func (l *loop) settleDone(j int32, stretch time.Duration) {
	if !l.done.ByCores() {
		l.done.Add(j, l.Outlook.Done(&l.Jobs[j], l.allotment(j), stretch))
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
