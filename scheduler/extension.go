package scheduler

import (
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// extension is what only some runs need: servers that come and go, rounds, controllers, samples, a policy with
// further instants. It keeps its state itself. A run without extensions pays nothing for them.
//
// An extension embeds noHooks, and has the hooks that it needs.
type extension interface {
	// arrived is called when a job has arrived, before it waits. It may change or end the job.
	arrived(j *jobState) error
	// notice takes a notice of the engine, if it is for the extension.
	notice(n *Notice) (taken bool, err error)
	// changed is called when the attempt or the nodes of a job change. work is the work that a requeued job keeps.
	changed(j *jobState, c change, work time.Duration)
	// attemptEnded is called when the engine has ended an attempt. again says that the job waits for another one.
	attemptEnded(j *jobState, n *Notice) (again bool)
	// nextInstant returns the next instant at which the extension is to act; Never for none.
	nextInstant() time.Duration
	// reached is called when the run has reached this instant. now may be later, on a real clock.
	reached(now time.Duration)
	// limit restricts the nodes on which a job may start, in its need per node.
	limit(j *jobState, need *cluster.Room)
	// beforeDispatch and afterDispatch are called once an instant, before and after the decisions.
	beforeDispatch() error
	afterDispatch() error
	// pending reports whether the extension waits for a notice of the engine, although no job runs.
	pending() bool
	// stalled is called when jobs wait but no event will come. It reports whether it has caused one.
	stalled() (changed bool, err error)
	// finish ends the extension, at the end of a run without errors.
	finish() error
}

// change is a change of a job.
type change uint8

const (
	attemptStarts change = iota // the job starts, and holds its grant
	placed                      // it holds a grant on other nodes, or with other parts, than before
	leaves                      // it leaves the nodes of its grant
	requeued                    // its attempt was ended, and it is to wait again
	ends                        // it is final
)

// noHooks is an extension that does nothing.
type noHooks struct{}

func (noHooks) arrived(*jobState) error                  { return nil }
func (noHooks) notice(*Notice) (bool, error)             { return false, nil }
func (noHooks) changed(*jobState, change, time.Duration) {}
func (noHooks) attemptEnded(*jobState, *Notice) bool     { return false }
func (noHooks) nextInstant() time.Duration               { return Never }
func (noHooks) reached(time.Duration)                    {}
func (noHooks) limit(*jobState, *cluster.Room)           {}
func (noHooks) beforeDispatch() error                    { return nil }
func (noHooks) afterDispatch() error                     { return nil }
func (noHooks) pending() bool                            { return false }
func (noHooks) stalled() (bool, error)                   { return false, nil }
func (noHooks) finish() error                            { return nil }

// extensions are the extensions of a run, in the order in which they act.
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
	for _, e := range x {
		if e.attemptEnded(j, n) {
			return true
		}
	}
	return false
}

func (x extensions) nextInstant() time.Duration {
	at := Never
	for _, e := range x {
		at = min(at, e.nextInstant())
	}
	return at
}

// at returns the first extension that is to act at an instant; nil if none is.
func (x extensions) at(instant time.Duration) extension {
	for _, e := range x {
		if e.nextInstant() == instant {
			return e
		}
	}
	return nil
}

func (x extensions) limit(j *jobState, need *cluster.Room) {
	for _, e := range x {
		e.limit(j, need)
	}
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
	for _, e := range x {
		if e.pending() {
			return true
		}
	}
	return false
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

// timedPolicy asks the policy at instants that the policy chooses.
type timedPolicy struct {
	noHooks
	l *loop
	TimedPolicy
}

func (p timedPolicy) nextInstant() time.Duration { return max(p.NextWakeup(), p.l.now) }
func (p timedPolicy) reached(time.Duration)      { p.OnWakeup() }
