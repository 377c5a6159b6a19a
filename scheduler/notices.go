package scheduler

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler/control"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// notice takes a notice of the engine, at the present instant.
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
		return fmt.Errorf("engine: %s: node %d does not come and go", n.Kind, n.Node)
	}
	return fmt.Errorf("engine: %s is not a notice", n.Kind)
}

// NoticeKind is the kind of a notice.
type NoticeKind uint8

// The kinds of notices, in the order in which notices of one instant are handled.
// Notices of nodes come from an engine whose nodes come and go.
const (
	JobEnded    NoticeKind = iota + 1 // a job ended
	NodeDown                          // a node is gone, with the jobs on it
	NodeWarned                        // a node will be taken away at Notice.Until
	NodeUp                            // a node can be used from now on
	PartEnded                         // a part of a job failed by itself
	JobProgress                       // a job has finished units of its work
)

var noticeKinds = [...]string{"nothing", "end of a job", "node down", "node warned", "node up",
	"failure of a part of a job", "progress of a job"}

// String is a phrase for people.
func (k NoticeKind) String() string {
	if int(k) < len(noticeKinds) {
		return noticeKinds[k]
	}
	return fmt.Sprintf("notice %d", uint8(k))
}

// Notice is an engine's message that something has happened. The fields below At
// belong to some kinds only, and are zero in the others.
type Notice struct {
	Kind NoticeKind
	At   time.Duration
	Job  int // JobEnded, PartEnded, JobProgress
	// State is how the job ended, and Reason a phrase for people that says why:
	// "exit status 1", "time limit of 30s" (JobEnded, PartEnded).
	State  State
	Reason string
	// Revoked says that the program ended, for another attempt, because Node was to be taken away
	// (JobEnded).
	Revoked bool
	// Attempt is the progress of the attempt, if the engine knows it (JobEnded).
	Attempt *Attempt
	// Role and Task say which part failed (PartEnded). The scheduler then calls Reshape, and the
	// job continues without the part, or Stop, and the job ends as failed by this reason.
	Role string
	Task int
	// Units is the total number of units that the job has finished (JobProgress).
	Units int
	// Losses are the losses that the job has reported since its last notice, if any (JobProgress).
	Losses []Loss
	// Progress is one report of a job that has a controller, in a separate notice
	// (JobProgress); nil in other notices.
	Progress *control.Progress
	// Node is the node's index in the cluster (NodeUp, NodeWarned, NodeDown, JobEnded where Revoked).
	Node int
	// Until is when the node will be taken away (NodeWarned).
	Until time.Duration
}

// CompareNotices orders notices by instant, then kind, then job and node.
func CompareNotices(a, b Notice) int {
	return cmp.Or(
		cmp.Compare(a.At, b.At), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Job, b.Job), cmp.Compare(a.Node, b.Node),
	)
}

// Loss is the training loss that a job reported, and its number of finished units then.
type Loss struct {
	Units int
	Loss  float64
	// Rate is the rate of learning; 0 where the program does not say.
	Rate float64
}

// Server is the machine that is rented for a node, from its creation to its end.
type Server struct {
	// Created is when its life begins. It can be used from the notice NodeUp on.
	Created time.Duration
	// Market is where it was rented: "spot", "on_demand".
	Market string
	// Elsewhere is set where others decide when it goes: it may do so before its warning says.
	Elsewhere bool
}

// Attempt is an engine's record of an attempt of a job. Work is measured as run time
// on the job's full request.
type Attempt struct {
	// From is the work done when the attempt began, Done the work done when it
	// ended, and Kept the part in the last checkpoint.
	From, Done, Kept time.Duration
	// Checkpoints and Restore are the time spent in writing checkpoints and in
	// reading one.
	Checkpoints, Restore time.Duration
	// Redone is work of earlier attempts that this attempt found lost. An engine that
	// runs programs learns it from the continued program.
	Redone time.Duration
	// Ran is the service time of the attempt, Began the part of it before its program
	// resumed from a checkpoint, and Saved the part before the last checkpoint was written
	// (0: none was written). Engines that run programs set them, as they do not know the
	// work of programs.
	Ran, Began, Saved time.Duration
}

// Share returns the part of the attempt's apparent progress that was real after the service
// time at, according to its program.
func (a Attempt) Share(at time.Duration) float64 {
	if a.Ran <= 0 || at <= a.Began {
		return 0
	}
	return float64(min(at, a.Ran)-a.Began) / float64(a.Ran)
}

// Lost returns the work that must be repeated.
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

// retry lets a job that has failed wait for another start, if it has retries
// left. It also gives back its memory, may start on other cores and in another
// size, and keeps only the work that its program saved. The failed attempt still
// counts as service time of the job, and as attained service of the job and its
// user. Its predicted remaining time is reset to the whole job.
func (l *loop) retry(j *jobState, reason string) bool {
	if l.result(j).Restarts >= j.job.Retries() {
		return false
	}
	l.result(j).Restarts++
	l.requeue(j, &Attempt{}, Event{Kind: Retry, Job: int(j.number), Reason: reason})
	return true
}

// keepOnly sets the progress of a job to kept, in the unit of the progress model, after an attempt
// that keeps no more.
func (l *loop) keepOnly(j *jobState, kept time.Duration) {
	l.predictions.done.Set(j.number, kept, kept, j.coreTime)
	l.forget(j)
}

// resizesInOrder returns resize requests by instant, then job.
func resizesInOrder(requests []Resize) []Resize {
	requests = slices.Clone(requests)
	slices.SortStableFunc(requests, func(a, b Resize) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Job, b.Job))
	})
	return requests
}
