package validate

import "github.com/tfexp/tfexp/scheduler"

// lawfulIn has, for each kind of event of a job, the states in which it can happen to the job.
var lawfulIn = [...]states{
	scheduler.Arrive:      in(scheduler.Pending),
	scheduler.Start:       in(scheduler.Queued),
	scheduler.Level:       in(scheduler.Queued, scheduler.Paused),
	scheduler.Pause:       in(scheduler.Running),
	scheduler.ResizeJob:   in(scheduler.Running),
	scheduler.Profiled:    in(scheduler.Running),
	scheduler.Predict:     in(scheduler.Running, scheduler.Paused),
	scheduler.Resume:      in(scheduler.Paused),
	scheduler.Finish:      in(scheduler.Running, scheduler.Paused),
	scheduler.Retry:       in(scheduler.Running, scheduler.Paused),
	scheduler.Revoke:      in(scheduler.Running, scheduler.Paused),
	scheduler.Move:        in(scheduler.Running, scheduler.Paused),
	scheduler.Reconfigure: in(scheduler.Running, scheduler.Paused, scheduler.Queued),
	scheduler.Fail:        in(scheduler.Running, scheduler.Paused, scheduler.Queued),
	scheduler.Stop:        in(scheduler.Running, scheduler.Paused, scheduler.Queued),
	scheduler.Request:     in(scheduler.Pending, scheduler.Queued, scheduler.Running, scheduler.Paused),
	scheduler.Decided:     in(scheduler.Pending, scheduler.Queued, scheduler.Running, scheduler.Paused),
}

// states is a set of states, a bit each.
type states uint16

func in(all ...scheduler.State) (s states) {
	for _, x := range all {
		s |= 1 << x
	}
	return s
}

// allows reports whether an event of a kind can happen to a job in its state.
func (t *traced) allows(k scheduler.EventKind) bool {
	return int(k) < len(lawfulIn) && lawfulIn[k]&(1<<t.state) != 0
}

// unlawful reports an event that cannot happen to a job in its state.
func (v *Validator) unlawful(e *scheduler.Event, t *traced) {
	switch {
	case int(e.Kind) >= len(lawfulIn) || lawfulIn[e.Kind] == 0:
		v.report(e.At, e.Job, "the event %q is unknown", e.Kind)
	case t.state == scheduler.Pending:
		v.report(e.At, e.Job, "%q happens to job %q before its arrival", e.Kind, v.name(e.Job))
	default:
		v.report(e.At, e.Job, "%q happens to job %q, which is %s", e.Kind, v.name(e.Job), t.state)
	}
}
