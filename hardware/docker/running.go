package docker

import (
	"context"
	"errors"
	"sync"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
)

// each calls f for containers, all at once: the daemon takes its time for each.
func each(boxes []*box, f func(*box)) {
	if len(boxes) == 1 {
		f(boxes[0])
		return
	}
	var all sync.WaitGroup
	for _, b := range boxes {
		all.Go(func() { f(b) })
	}
	all.Wait()
}

// actOnAll carries out a call on containers.
func (e *Engine) actOnAll(boxes []*box, call func(context.Context, *box) error) error {
	errs := make([]error, len(boxes))
	var all sync.WaitGroup
	for i, b := range boxes {
		all.Go(func() { errs[i] = e.act(b, func(ctx context.Context) error { return call(ctx, b) }) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// Hold implements running.Hands.
func (h hands) Hold(boxes []*box) error {
	return h.e.actOnAll(boxes, func(ctx context.Context, b *box) error { return b.api().ContainerPause(ctx, b.id) })
}

// GoOn implements running.Hands.
func (h hands) GoOn(boxes []*box) error {
	return h.e.actOnAll(boxes, func(ctx context.Context, b *box) error { return b.api().ContainerUnpause(ctx, b.id) })
}

// Ask implements running.Hands.
func (h hands) Ask(boxes []*box, paused bool) {
	each(boxes, func(b *box) {
		err := h.e.signal(b, "SIGTERM")
		if paused {
			h.e.unpause(b) // what is left is killed later
			if err != nil {
				_ = h.e.signal(b, "SIGTERM") // not every daemon signals a paused one
			}
		}
	})
}

// Kill implements running.Hands.
func (h hands) Kill(boxes []*box) {
	each(boxes, func(b *box) {
		if err := h.e.signal(b, "SIGKILL"); err != nil && h.e.Paused(b) {
			h.e.unpause(b)
			_ = h.e.signal(b, "SIGKILL")
		}
	})
}

func (e *Engine) unpause(b *box) {
	ctx, cancel := context.WithTimeout(e.ctx, CallLimit)
	defer cancel()
	_ = b.api().ContainerUnpause(ctx, b.id)
}

func (e *Engine) signal(b *box, name string) error {
	ctx, cancel := context.WithTimeout(e.ctx, CallLimit)
	defer cancel()
	return b.api().ContainerKill(ctx, b.id, name)
}

// Attend waits for a container to end, and removes it.
func (h hands) Attend(b *box) {
	e := h.e
	what := e.await(b)
	state, why := what.verdict(&b.Job)
	e.Exited(b, what.at, state == scheduler.Finished)
	if what.reachable {
		e.finishOutput(b)
	}
	f := launch.Fate{At: what.at, Finished: state == scheduler.Finished, Why: why, Exit: what.exit, Output: b.out.Err()}
	if what.reachable {
		e.remove(b.node.Host, b.id)
	} else {
		e.mu.Lock()
		e.away = append(e.away, b)
		e.mu.Unlock()
	}
	e.Ended(b, f, b.out.Close)
}
