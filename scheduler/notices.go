package scheduler

import (
	"errors"
	"fmt"
)

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
	case PartEnded:
		return l.partEnded(n)
	case JobProgress:
		if l.seen != nil {
			l.progress = append(l.progress, *n)
		}
		if n.Progress != nil {
			return l.report(n)
		}
		return nil
	case NodeUp, NodeWarned, NodeDown:
		return l.nodeNotice(n)
	}
	return fmt.Errorf("engine: %s is no notice", n.Kind)
}
