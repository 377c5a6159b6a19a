package scheduler

import (
	"strings"

	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// recording reports whether decisions are recorded.
func (l *loop) recording() bool { return l.Recorder != nil && !l.EventsOnly }

// decide describes a decision about a job. For one that starts, it names the
// jobs before it that did not: call it while the job is still in the queue.
// It costs nothing when decisions are not recorded.
func (l *loop) decide(kind EventKind, j int32, cores CoreSet, why string) *Decision {
	if !l.recording() {
		return nil
	}
	d := l.out.Describe(Decision{At: l.now, Kind: kind, Job: int(j), Cores: cores, Reason: why})
	if kind != Start && kind != Resume {
		return d
	}
	mine := l.queue.KeyOf(j)
	d.PassedMore = l.queue.Before(mine)
	next := func(after queue.Key) int32 { return l.queue.Next(after, queue.Anyone) }
	k := next(queue.Front)
	for ; k != nobody && len(d.Passed) < MaxPassed && l.queue.KeyOf(k).Less(mine); k = next(l.queue.KeyOf(k)) {
		why, lacks := l.whyNot(k)
		d.Passed = append(d.Passed, Passed{Job: int(k), Reason: why, Lacks: lacks})
	}
	d.PassedMore -= len(d.Passed)
	return d
}

// whyNotAs says why a waiting job cannot start now, in its present alternative, and
// what it lacks, if that is why.
func (l *loop) whyNotAs(j int32) (why string, lacks []Lack) {
	cores := l.atLeast(j)
	need, count := l.needs(j, cores)
	home := l.home(j)
	if _, ok := l.fitIn(l.machine.Free, j, cores, nil); ok {
		return l.rules.Admission.HeldBack(l, j), nil
	}
	where := Where(len(l.machine.Free), count, home != nil && !l.movable(j), l.Jobs[j].Divided)
	lack, some := LackOf(need, cluster.Most(l.machine.Free, need, home))
	lack.Alternative, lack.Where = int(l.life(j).alternative), where
	if !some {
		return strings.TrimSpace("needs more "+where) + " than is free together", nil
	}
	return lack.String(), []Lack{lack}
}
