package scheduler

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler/control"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// notice handles a notice of the engine.
func (l *loop) notice(n *Notice) error {
	switch n.Kind {
	case JobEnded:
		return l.finish(n)
	case PartEnded:
		return l.partEnded(n)
	case JobProgress:
		if l.predictions.seen != nil {
			l.predictions.progress = append(l.predictions.progress, *n)
		}
	}
	switch taken, err := l.extensions.notice(n); {
	case taken || err != nil:
		return err
	case n.Kind == JobProgress:
		return nil
	case n.Kind == NodeUp || n.Kind == NodeWarned || n.Kind == NodeDown:
		return fmt.Errorf("engine reported %q for node %d, which cannot come and go", n.Kind, n.Node)
	}
	return fmt.Errorf("engine reported %s, which is not a known kind of notice", n.Kind)
}

// NoticeKind is the kind of a Notice.
type NoticeKind uint8

// The kinds of notices. Notices of one instant are handled in this order. Only engines whose nodes come and go send
// notices of nodes.
const (
	JobEnded    NoticeKind = iota + 1 // an attempt of a job ended
	NodeDown                          // a node was lost, with the jobs on it
	NodeWarned                        // a node will be taken away at Notice.Until
	NodeUp                            // a node can run jobs from now on
	PartEnded                         // a part of a job failed, but its node was not lost
	JobProgress                       // a job has finished units of its work
)

var noticeKinds = [...]string{"nothing", "end of a job", "node down", "node warned", "node up",
	"failure of a part of a job", "progress of a job"}

// String describes the kind for users.
func (k NoticeKind) String() string {
	if int(k) < len(noticeKinds) {
		return noticeKinds[k]
	}
	return fmt.Sprintf("notice %d", uint8(k))
}

// Notice is a message of an engine about an event. The fields below At are set only in notices of the kinds that
// their comments name in parentheses.
type Notice struct {
	Kind NoticeKind
	At   time.Duration
	Job  int // JobEnded, PartEnded, JobProgress
	// State is the state of the job after the attempt. Reason says, as text for users, why the job ended: "exit
	// status 1", "time limit of 30s" (JobEnded, PartEnded).
	State  State
	Reason string
	// Revoked says that the attempt ended because Node is to be taken away, and that the job needs another attempt
	// (JobEnded).
	Revoked bool
	// Attempt is the progress in the attempt; nil if the engine does not know it (JobEnded).
	Attempt *Attempt
	// Role and Task identify the part that failed (PartEnded). The scheduler then calls Reshape, so that the job
	// continues without the part; or it calls Stop, and the job fails with the notice's Reason.
	Role string
	Task int
	// Units is the number of units that the job has finished in all (JobProgress).
	Units int
	// Losses are the losses that the job has reported since its last notice (JobProgress).
	Losses []Loss
	// Progress is one report of a job that has a controller; nil in other notices (JobProgress). Each report has its
	// own notice.
	Progress *control.Progress
	// Node is the index of the node in the cluster (NodeUp, NodeWarned, NodeDown; JobEnded if Revoked).
	Node int
	// Until is the instant at which the node will be taken away (NodeWarned).
	Until time.Duration
}

// CompareNotices orders notices by instant, then kind, then job, then node.
func CompareNotices(a, b Notice) int {
	return cmp.Or(
		cmp.Compare(a.At, b.At), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Job, b.Job), cmp.Compare(a.Node, b.Node),
	)
}

// Loss is a training loss that a job reported, with its number of finished units at that instant.
type Loss struct {
	Units int
	Loss  float64
	// Rate is the learning rate; 0 if the program does not report it.
	Rate float64
}

// Server is the rented machine of a node.
type Server struct {
	// Created is the instant at which the machine was created. It can run jobs only after the notice NodeUp.
	Created time.Duration
	// Market is the market on which the machine was rented: "spot", "on_demand".
	Market string
	// Elsewhere says that others decide when the machine is taken away. That may be before the announced instant.
	Elsewhere bool
}

// Attempt is an engine's record of one attempt of a job. Work is measured as run time on the job's full request.
type Attempt struct {
	// From is the finished work at the start of the attempt, Done at its end. Kept is the part of Done that the last
	// checkpoint has.
	From, Done, Kept time.Duration
	// Checkpoints and Restore are the times spent on writing checkpoints and on reading a checkpoint.
	Checkpoints, Restore time.Duration
	// Redone is work of earlier attempts that was lost and repeated in this attempt. An engine that runs real
	// programs gets it from the program, after the restart.
	Redone time.Duration
	// Ran is the service time of the attempt. Began is the part of Ran before the program resumed from a checkpoint.
	// Saved is the part of Ran before the last checkpoint was written; 0 if none was. Only engines that run real
	// programs set them, because they do not know From, Done and Kept.
	Ran, Began, Saved time.Duration
}

// Share returns which fraction of the attempt's progress up to the service time at was real. Repeated work is not
// real progress.
func (a Attempt) Share(at time.Duration) float64 {
	if a.Ran <= 0 || at <= a.Began {
		return 0
	}
	return float64(min(at, a.Ran)-a.Began) / float64(a.Ran)
}

// Lost returns the work that must be repeated, because no checkpoint has it.
func (a Attempt) Lost() time.Duration { return a.Done - a.Kept }

// expect records the expected end of a running job.
func (l *loop) expect(j *jobState) {
	if !l.rules.Ends {
		return
	}
	j.end = l.now + min(l.length(j, int32(j.grant.Cores.Count())), Never-l.now)
	l.running.ends = queue.InsertSorted(l.running.ends, queue.Timer{At: j.end, Of: j.number}, queue.CompareTimers)
}

func (l *loop) unexpect(j *jobState) {
	if !l.rules.Ends {
		return
	}
	l.running.ends = queue.DeleteSorted(l.running.ends, queue.Timer{At: j.end, Of: j.number}, queue.CompareTimers)
}

// retry puts a job that has failed back into the queue, if it has retries left. The job gives back its memory, and
// may start on other nodes and with another number of cores. It keeps only the work that its program saved. The
// failed attempt still counts as service time of the job, and as attained service of the job and its user. The
// predicted remaining time is again the prediction for the whole job.
func (l *loop) retry(j *jobState, reason string) bool {
	if l.result(j).Restarts >= j.job.Retries() {
		return false
	}
	l.result(j).Restarts++
	l.requeue(j, &Attempt{}, Event{Kind: Retry, Job: int(j.number), Reason: reason})
	return true
}

// keepOnly sets the progress of a job to kept, in the unit of the progress model, because the attempt has lost the
// rest.
func (l *loop) keepOnly(j *jobState, kept time.Duration) {
	l.predictions.done.Set(j.number, kept, kept, j.coreTime)
	l.forget(j)
}

// resizesInOrder returns resize requests ordered by instant, then job.
func resizesInOrder(requests []Resize) []Resize {
	requests = slices.Clone(requests)
	slices.SortStableFunc(requests, func(a, b Resize) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Job, b.Job))
	})
	return requests
}
