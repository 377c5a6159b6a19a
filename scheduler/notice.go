package scheduler

import (
	"cmp"
	"fmt"
	"time"
)

// NoticeKind says what an engine gives notice of.
type NoticeKind uint8

// The kinds of notices, in the order in which those of one instant are taken. Those of
// nodes come from an engine that is a Provider.
const (
	JobEnded    NoticeKind = iota + 1 // a job ended
	NodeDown                          // a node is gone, and what ran on it
	NodeWarned                        // a node will be taken away at Notice.Until
	NodeUp                            // a node can be used from now on
	PartEnded                         // a part of a job failed by itself
	JobProgress                       // a job has finished so many units of its work
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

// Notice is what an engine says that has happened. The fields below At belong to
// some kinds only, and are zero in the others.
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
	// Attempt is what the attempt came to, if the engine knows (JobEnded).
	Attempt *Attempt
	// Role and Task say which part failed (PartEnded). The scheduler then calls Reshape, and the
	// job goes on without it, or Stop, and the job ends as failed by this reason.
	Role string
	Task int
	// Units is how many units of its work the job has finished in all (JobProgress).
	Units int
	// Losses are those that it has reported since the notice before, if any
	// (JobProgress).
	Losses []Loss
	// Progress is one report of a job that a controller stands beside, of its own
	// notice (JobProgress); nil in other notices.
	Progress *ReportedProgress
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

// Loss is the training loss that a job has reported after so many units in all.
type Loss struct {
	Units int
	Loss  float64
	// Rate is the rate of learning; 0 where the program does not say.
	Rate float64
}

// Server is what a node runs on from its creation to its end: the machine that is
// rented for it.
type Server struct {
	// Created is when its life begins. It can be used from the notice NodeUp on.
	Created time.Duration
	// Market is where it was rented: "spot", "on_demand".
	Market string
	// Elsewhere is set where others decide when it goes: it may do so before its warning says.
	Elsewhere bool
}

// Attempt is what an engine knows of an attempt of a job. Work is told as the run time
// that it takes on the job's full request.
type Attempt struct {
	// From is the work that was done when the attempt began, Done when it ended, and
	// Kept what the last checkpoint holds of it.
	From, Done, Kept time.Duration
	// Checkpoints and Restore are the time spent in writing checkpoints and in
	// reading one.
	Checkpoints, Restore time.Duration
	// Redone is work of attempts before that this one found lost: an engine that runs
	// programs learns it from the one that goes on.
	Redone time.Duration
	// Ran is the service time of the attempt, Began how much of it was over when its program
	// went on from a checkpoint, and Saved when it had written the last one (0: it wrote
	// none). They are of engines that run programs, whose work they do not know.
	Ran, Began, Saved time.Duration
}

// Share returns the part of what the job seemed to do in the attempt that it had really done
// when so much of the attempt's service time was over, by what its program told.
func (a Attempt) Share(at time.Duration) float64 {
	if a.Ran <= 0 || at <= a.Began {
		return 0
	}
	return float64(min(at, a.Ran)-a.Began) / float64(a.Ran)
}

// Lost returns the work that has to be done again.
func (a Attempt) Lost() time.Duration { return a.Done - a.Kept }
