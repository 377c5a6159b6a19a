package scheduler

import (
	"fmt"

	"github.com/tfexp/tfexp/scheduler/queue"
)

// recording reports whether decisions are recorded.
func (l *loop) recording() bool { return l.Recorder != nil && !l.EventsOnly }

// decide describes a decision about a job. For one that starts, it names the
// jobs before it that did not: call it while the job is still in the queue.
// It costs nothing when decisions are not recorded.
func (l *loop) decide(kind EventKind, j int32, cores CoreSet, why string) Decision {
	if !l.recording() {
		return Decision{}
	}
	d := Decision{At: l.now, Kind: kind, Job: int(j), Cores: cores, Reason: why}
	if kind != Start && kind != Resume {
		return d
	}
	mine := l.queue.KeyOf(j)
	d.PassedMore = l.queue.Before(mine)
	next := func(after queue.Key) int32 { return l.queue.Next(after, queue.Anyone) }
	for k := next(queue.Front); k != nobody && len(d.Passed) < MaxPassed; k = next(l.queue.KeyOf(k)) {
		if !l.queue.KeyOf(k).Less(mine) {
			break
		}
		d.Passed = append(d.Passed, Passed{Job: int(k), Reason: l.whyNot(k)})
	}
	d.PassedMore -= len(d.Passed)
	return d
}

func (l *loop) record(d Decision) {
	if l.recording() {
		l.Recorder.Decision(d)
	}
}

// whyNotAs says why a waiting job can not start now, in its present way.
func (l *loop) whyNotAs(j int32) string {
	cores := l.atLeast(j)
	need, count := l.needs(j, cores)
	home := l.home(j)
	if _, ok := Fit(l.machine.free, need, count, home, nil); ok {
		return l.rules.Admission.HeldBack(l, j)
	}
	where := ""
	if len(l.machine.free) > 1 {
		where = " on one node"
		if home != nil {
			where = " where it was paused"
		} else if count > 1 {
			where = fmt.Sprintf(" on each of %d nodes", count)
		}
	}
	var free Room
	for v, r := range l.machine.free {
		if (home == nil || home[0] == int32(v)) && r.IsOf(need) {
			free = Room{Cores: max(free.Cores, r.Cores), GPUs: max(free.GPUs, r.GPUs), Memory: max(free.Memory, r.Memory)}
		}
	}
	switch {
	case need.Cores > free.Cores:
		return fmt.Sprintf("needs %d cores%s, %d are free", need.Cores, where, free.Cores)
	case need.GPUs > free.GPUs:
		return fmt.Sprintf("needs %d GPUs%s, %d are free", need.GPUs, where, free.GPUs)
	case need.Memory > free.Memory:
		return fmt.Sprintf("needs %d bytes of memory%s, %d are free", need.Memory, where, free.Memory)
	}
	return "needs more" + where + " than is free together"
}
