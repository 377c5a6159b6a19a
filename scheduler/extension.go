package scheduler

import (
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// extension is a part of the scheduler that only some runs need: servers that come and go, rounds, controllers,
// samples, or a policy that is asked at further instants. It has its own state. A run without extensions spends no
// time on them.
//
// An extension embeds noHooks, and overrides the methods that it needs.
type extension interface {
	// arrived is called when a job has arrived, before it is queued. It may change or end the job.
	arrived(j *jobState) error
	// notice handles a notice of the engine. It reports whether the notice was for the extension.
	notice(n *Notice) (taken bool, err error)
	// changed is called when a job starts, ends, or changes its nodes. work is the finished work that a requeued job
	// keeps; 0 for other changes.
	changed(j *jobState, c change, work time.Duration)
	// attemptEnded is called when the engine has ended an attempt. again says that the job waits for another
	// attempt.
	attemptEnded(j *jobState, n *Notice) (again bool)
	// nextInstant returns the next instant at which reached is to be called; Never if it is not to be called.
	nextInstant() time.Duration
	// reached is called at that instant, or after it on a real clock. now is the present instant.
	reached(now time.Duration)
	// limit removes nodes on which a job may not start from need, the job's need per node.
	limit(j *jobState, need cluster.Room) cluster.Room
	// beforeDispatch and afterDispatch are called once an instant: before the decisions, and after them.
	beforeDispatch() error
	afterDispatch() error
	// pending reports whether the run must go on although no job runs, because the extension expects a notice of the
	// engine.
	pending() bool
	// stalled is called when jobs wait but no event is due. It reports whether the extension has done something that
	// leads to an event.
	stalled() (changed bool, err error)
	// finish is called at the end of a run that had no error.
	finish() error
}

// change is a kind of change of a job, for extension.changed.
type change uint8

const (
	attemptStarts change = iota // an attempt starts, with its grant
	placed                      // the job gets other nodes or parts than before
	leaves                      // the job leaves the nodes of its grant
	requeued                    // the attempt has ended, and the job waits again
	ends                        // the state of the job is final
)

// noHooks is an extension that does nothing.
type noHooks struct{}

func (noHooks) arrived(*jobState) error                           { return nil }
func (noHooks) notice(*Notice) (bool, error)                      { return false, nil }
func (noHooks) changed(*jobState, change, time.Duration)          {}
func (noHooks) attemptEnded(*jobState, *Notice) bool              { return false }
func (noHooks) nextInstant() time.Duration                        { return Never }
func (noHooks) reached(time.Duration)                             {}
func (noHooks) limit(_ *jobState, need cluster.Room) cluster.Room { return need }
func (noHooks) beforeDispatch() error                             { return nil }
func (noHooks) afterDispatch() error                              { return nil }
func (noHooks) pending() bool                                     { return false }
func (noHooks) stalled() (bool, error)                            { return false, nil }
func (noHooks) finish() error                                     { return nil }

// extensions are the extensions of a run, in the order in which they are called.
type extensions []extension

func (x extensions) arrived(j *jobState) error {
	for _, e := range x {
		if err := e.arrived(j); err != nil {
			return err
		}
	}
	return nil
}

func (x extensions) notice(n *Notice) (taken bool, err error) {
	for _, e := range x {
		if taken, err = e.notice(n); taken || err != nil {
			return taken, err
		}
	}
	return false, nil
}

func (x extensions) changed(j *jobState, c change, work time.Duration) {
	for _, e := range x {
		e.changed(j, c, work)
	}
}

func (x extensions) attemptEnded(j *jobState, n *Notice) bool {
	return slices.ContainsFunc(x, func(e extension) bool { return e.attemptEnded(j, n) })
}

func (x extensions) nextInstant() time.Duration {
	at := Never
	for _, e := range x {
		at = min(at, e.nextInstant())
	}
	return at
}

// at returns the first extension whose next instant is the given one; nil if there is no such extension.
func (x extensions) at(instant time.Duration) extension {
	for _, e := range x {
		if e.nextInstant() == instant {
			return e
		}
	}
	return nil
}

func (x extensions) limit(j *jobState, need cluster.Room) cluster.Room {
	for _, e := range x {
		need = e.limit(j, need)
	}
	return need
}

func (x extensions) beforeDispatch() error {
	for _, e := range x {
		if err := e.beforeDispatch(); err != nil {
			return err
		}
	}
	return nil
}

func (x extensions) afterDispatch() error {
	for _, e := range x {
		if err := e.afterDispatch(); err != nil {
			return err
		}
	}
	return nil
}

func (x extensions) pending() bool {
	return slices.ContainsFunc(x, extension.pending)
}

func (x extensions) stalled() (bool, error) {
	for _, e := range x {
		if changed, err := e.stalled(); changed || err != nil {
			return changed, err
		}
	}
	return false, nil
}

func (x extensions) finish() error {
	for _, e := range x {
		if err := e.finish(); err != nil {
			return err
		}
	}
	return nil
}

// timedPolicy is the extension that calls OnWakeup of a TimedPolicy.
type timedPolicy struct {
	noHooks
	l *loop
	TimedPolicy
}

func (p timedPolicy) nextInstant() time.Duration { return max(p.NextWakeup(), p.l.now) }
func (p timedPolicy) reached(time.Duration)      { p.OnWakeup() }
