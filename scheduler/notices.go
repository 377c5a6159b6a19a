package scheduler

import "fmt"

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
