package docker

import (
	"context"
	"errors"
	"sync"
)

// each calls f for all containers at the same time, because the daemon takes long for each.
func each(containers []*jobContainer, f func(*jobContainer)) {
	if len(containers) == 1 {
		f(containers[0])
		return
	}
	var all sync.WaitGroup
	for _, jc := range containers {
		all.Go(func() { f(jc) })
	}
	all.Wait()
}

// callAll makes a call for each container.
func (e *Engine) callAll(containers []*jobContainer, call func(context.Context, *jobContainer) error) error {
	errs := make([]error, len(containers))
	var all sync.WaitGroup
	for i, jc := range containers {
		all.Go(func() { errs[i] = e.callDaemon(jc, func(ctx context.Context) error { return call(ctx, jc) }) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// Hold implements launch.ProgramHands.
func (h hands) Hold(containers []*jobContainer) error {
	return h.e.callAll(containers, func(ctx context.Context,
		jc *jobContainer) error {
		return jc.api().ContainerPause(ctx, jc.id)
	})
}

// GoOn implements launch.ProgramHands.
func (h hands) GoOn(containers []*jobContainer) error {
	return h.e.callAll(containers, func(ctx context.Context,
		jc *jobContainer) error {
		return jc.api().ContainerUnpause(ctx, jc.id)
	})
}

// Ask implements launch.ProgramHands.
func (h hands) Ask(containers []*jobContainer, paused bool) {
	each(containers, func(jc *jobContainer) {
		err := h.e.signal(jc, "SIGTERM")
		if paused {
			h.e.unpause(jc) // those that cannot be continued are killed later
			if err != nil {
				_ = h.e.signal(jc, "SIGTERM") // some daemons do not signal paused containers
			}
		}
	})
}

// Kill implements launch.ProgramHands.
func (h hands) Kill(containers []*jobContainer) {
	each(containers, func(jc *jobContainer) {
		if err := h.e.signal(jc, "SIGKILL"); err != nil && h.e.Paused(jc) {
			h.e.unpause(jc)
			_ = h.e.signal(jc, "SIGKILL")
		}
	})
}

func (e *Engine) unpause(jc *jobContainer) {
	ctx, cancel := context.WithTimeout(e.ctx, CallLimit)
	defer cancel()
	_ = jc.api().ContainerUnpause(ctx, jc.id)
}

func (e *Engine) signal(jc *jobContainer, name string) error {
	ctx, cancel := context.WithTimeout(e.ctx, CallLimit)
	defer cancel()
	return jc.api().ContainerKill(ctx, jc.id, name)
}
