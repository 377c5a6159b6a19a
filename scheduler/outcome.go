package scheduler

import "time"

// Outcome is what a run came to.
type Outcome struct {
	// Jobs has a result for each job, by number; nil if they were given with the events.
	Jobs []Result
	// End is the instant of the last event.
	End time.Duration
	// Closed is the horizon, when the run was closed at it: the jobs that had
	// arrived are stopped, the others pending. 0 when all jobs ended before.
	Closed time.Duration
	// Undone counts the jobs that were stopped or never arrived.
	Undone Undone
	// Events and Instants count what happened: events of the trace, and
	// instants at which the scheduler looked.
	Events, Instants int
}

// Undone counts jobs that did not come to their own end: those that were stopped after they had started, those that
// were stopped before, and those that had not arrived when the run was closed.
type Undone struct{ Started, Waited, Missing int }

// Count counts a job that was stopped.
func (u *Undone) Count(r *Result) {
	if r.FirstStart == Never {
		u.Waited++
	} else {
		u.Started++
	}
}

// Sum returns how many they are.
func (u Undone) Sum() int { return u.Started + u.Waited + u.Missing }

// Result is what became of a job. Instants are since the start of the cell.
type Result struct {
	// State is final, unless the run was broken off.
	State State
	// Reason is why the job failed or was stopped.
	Reason string
	// FirstStart and Finish are Never when they did not come about. A job
	// that failed or was stopped has a Finish as well.
	FirstStart, Finish time.Duration
	// Waiting is the time in which the job had arrived, was not finished and
	// held nothing; Service that in which it ran. Together they are the JCT.
	Waiting, Service time.Duration
	// CoreTime is the service time times the cores held: the attained service.
	// It stops counting at math.MaxInt64.
	CoreTime time.Duration
	// Cores is what the job was granted first.
	Cores int
	// Alternative is the one that the job started with, an index of its
	// alternatives; 0 for a job that has none.
	Alternative int
	// Preemptions counts pauses; Resizes counts changes of what it held while
	// it ran; Restarts counts the attempts that failed and were made up for.
	Preemptions, Resizes, Restarts int
	// Migrations counts the times that it went on on other nodes, or with other GPUs, than
	// those of its last pause.
	Migrations int
	// Reconfigurations counts the attempts that ended for a change of settings.
	Reconfigurations int
	// Revocations counts the attempts that ended because a node was lost. LostWork
	// is the work that was done again for that, Checkpoints and Restore the time spent
	// in writing checkpoints and in reading them, as far as the engine tells.
	Revocations                    int
	LostWork, Checkpoints, Restore time.Duration
}

// Add adds what an attempt spent beside the work.
func (r *Result) Add(a *Attempt) {
	r.Checkpoints += a.Checkpoints
	r.Restore += a.Restore
	r.LostWork += a.Redone
}
