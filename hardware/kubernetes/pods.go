package kubernetes

import (
	"cmp"
	"fmt"

	"github.com/tfexp/tfexp/hardware/kubernetes/api"
)

// watch follows the pods of the engine until it is closed. It closes listed when it has seen all pods. If that or a
// later list fails, it sets blindness and closes blind, and the run ends.
func (e *Engine) watch(listed chan<- bool) {
	err := e.FollowPods(e.ctx, e.own(), func() { close(listed) }, e.tell)
	if err == nil {
		return
	}
	e.blindness = Unavailable(fmt.Errorf("follow the pods of the run: %w", err))
	e.Break(e.blindness)
	close(e.blind)
}

// tell passes the new state of a pod to its program. gone means that the pod was deleted.
func (e *Engine) tell(p *api.Pod, gone bool) {
	e.mu.Lock()
	of := cmp.Or(e.started[p.Metadata.Labels[labelStart]], e.started[p.Metadata.UID])
	e.mu.Unlock()
	if of != nil {
		of.see(p, gone)
	}
	e.news(p, gone)
}
