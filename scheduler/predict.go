package scheduler

import (
	"math"
	"time"
)

// Allotment is what a grant comes to, or would come to, as far as the speed of a
// job depends on it: how much of what, and not which.
type Allotment struct {
	Cores, GPUs int32 // on all nodes together
	Nodes       int32 // at least 1
	// GPU is the type of the GPUs; empty without any, and as long as it is open.
	GPU string
}

// Outlook predicts how long jobs go on under what they hold. Shortest-first
// orders, reservations and plans ask it; it need not be what happens.
type Outlook interface {
	// Done returns what a stretch of service counts for, in a unit of the
	// outlook's own, in which the stretches of an attempt are added up.
	Done(job *Job, a Allotment, stretch time.Duration) time.Duration
	// Past returns the run time on the job's full request that such a sum stands for.
	Past(job *Job, done time.Duration) time.Duration
	// Predict returns how long a job goes on under an allotment that has so much
	// run time left on its full request; Never for longer than can be said.
	Predict(job *Job, left time.Duration, a Allotment) time.Duration
}

// Proportional is the outlook in which jobs progress in proportion to their
// cores. What is done is core time.
type Proportional struct{}

// Done implements Outlook.
func (Proportional) Done(_ *Job, a Allotment, stretch time.Duration) time.Duration {
	return CoreTime(stretch, int(a.Cores))
}

// Past implements Outlook.
func (Proportional) Past(job *Job, done time.Duration) time.Duration {
	return done / time.Duration(job.Threads)
}

// Predict implements Outlook.
func (Proportional) Predict(job *Job, left time.Duration, a Allotment) time.Duration {
	if int(a.Cores) == job.Threads {
		return left
	}
	scaled := CoreTime(left, job.Threads)
	if scaled == math.MaxInt64 {
		return Never
	}
	return scaled / time.Duration(a.Cores)
}

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
	if f := &l.lives[j]; f.State == Running {
		a.GPU = l.typeOf(f.grant)
	} else if len(job.Alternatives) > 0 {
		a.GPU = job.Alternatives[f.Alternative].GPU
	}
	return l.Outlook.Predict(job, left, a)
}

// doneBy returns what a job has done in its attempt up to an instant in the present
// stretch, in the unit of the outlook.
func (l *loop) doneBy(j int32, at time.Duration) time.Duration {
	f := &l.lives[j]
	if l.done == nil {
		if f.State != Running {
			return f.CoreTime - l.lostBy(j)
		}
		return Plus(f.CoreTime, CoreTime(at-f.since, f.grant.Cores.Count())) - l.lostBy(j)
	}
	if f.State != Running {
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

// restart forgets what a job did in an attempt that failed.
func (l *loop) restart(j int32) {
	if l.done != nil {
		l.done[j] = 0
	}
}

// allotment returns what the grant of a running job comes to.
func (l *loop) allotment(j int32) Allotment {
	g := &l.lives[j].grant
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
