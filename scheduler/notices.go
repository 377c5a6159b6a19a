package scheduler

import (
	"cmp"
	"errors"
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
	JobProgress                       // a job has finished so many units of its work
)

var noticeKinds = [...]string{"nothing", "end of a job", "node down", "node warned", "node up", "progress of a job"}

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
	Job  int // JobEnded, JobProgress
	// State is how the job ended, and Reason a phrase for people that says why:
	// "exit status 1", "time limit of 30s" (JobEnded).
	State  State
	Reason string
	// Attempt is what the attempt came to, if the engine knows (JobEnded).
	Attempt *Attempt
	// Units is how many units of its work the job has finished in all (JobProgress).
	Units int
	// Losses are those that it has reported since the notice before, if any
	// (JobProgress).
	Losses []Loss
	// Node is the node's index in the cluster (NodeUp, NodeWarned, NodeDown).
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

// Watcher is an engine that can give notice of the progress of its jobs.
type Watcher interface {
	// Watch asks for notices of progress, before the first job starts; units is
	// as in Online. From then on Next returns as well when a job has finished
	// its first unit, and each time that its finished units have doubled: what
	// there is to learn from a unit shrinks with their number, and a job of a
	// million units is looked at twenty times. Whenever Next returns, it gives
	// the latest progress of each job that has made some.
	Watch(units []int)
}

// errNoProgress is returned for an engine that is no Watcher.
var errNoProgress = errors.New("online estimates: the engine does not report the progress of its jobs")

// notice takes a notice of the engine, at the present instant.
func (l *loop) notice(n *Notice) error {
	switch n.Kind {
	case JobEnded:
		return l.finish(n)
	case JobProgress:
		if l.seen != nil {
			l.progress = append(l.progress, *n)
		}
		return nil
	case NodeUp, NodeWarned, NodeDown:
		return l.nodeNotice(n)
	}
	return fmt.Errorf("engine: %s is no notice", n.Kind)
}
