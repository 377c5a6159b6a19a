package docker

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"golang.org/x/sync/errgroup"

	"github.com/tfexp/tfexp/hardware/engine"
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

// Hold implements launch.ProgramHands.
func (h hands) Hold(boxes []*box) error {
	return h.e.actOnAll(boxes, func(ctx context.Context, b *box) error { return b.api().ContainerPause(ctx, b.id) })
}

// GoOn implements launch.ProgramHands.
func (h hands) GoOn(boxes []*box) error {
	return h.e.actOnAll(boxes, func(ctx context.Context, b *box) error { return b.api().ContainerUnpause(ctx, b.id) })
}

// Ask implements launch.ProgramHands.
func (h hands) Ask(boxes []*box, paused bool) {
	each(boxes, func(b *box) {
		err := h.e.signal(b, "SIGTERM")
		if paused {
			h.e.unpause(b) // the rest is killed later
			if err != nil {
				_ = h.e.signal(b, "SIGTERM") // not every daemon signals a paused one
			}
		}
	})
}

// Kill implements launch.ProgramHands.
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

// follow copies a daemon's stream of output to its end into a log: frames of a header
// (the stream's number, three zeros, the length in big-endian order) and data.
// The error is nil at a proper end.
func follow(log *launch.Log, r io.Reader) error {
	var header [8]byte
	buf := make([]byte, 32<<10)
	for {
		if _, err := io.ReadFull(r, header[:]); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		for left := int64(binary.BigEndian.Uint32(header[4:])); left > 0; {
			n, err := io.ReadFull(r, buf[:min(left, int64(len(buf)))])
			log.Write(buf[:n])
			if err != nil {
				return err
			}
			left -= int64(n)
		}
	}
}

// counter is a container's CPU time at an instant.
type counter struct {
	used time.Duration
	at   time.Time
}

// watch samples the containers of a node until the engine is closed. Since it
// asks the daemon repeatedly, it also finds out that a daemon no longer
// answers.
func (e *Engine) watch(n *node) {
	tick := time.NewTicker(e.opts.Sampling)
	defer tick.Stop()
	for {
		select {
		case <-e.ctx.Done():
			return
		case <-tick.C:
		}
		list := slices.DeleteFunc(e.Living(), func(b *box) bool { return b.node != n })
		// All at once: the daemon answers when it has looked itself, which it
		// does once a second.
		var looks errgroup.Group
		for _, b := range list {
			looks.Go(func() error { return e.sample(b) })
		}
		if err := looks.Wait(); err != nil && Gone(err) && e.ctx.Err() == nil {
			n.lost()
		}
	}
}

// sample looks at one container.
func (e *Engine) sample(b *box) error {
	ctx, cancel := context.WithTimeout(e.ctx, DialLimit)
	defer cancel()
	reply, err := b.api().ContainerStatsOneShot(ctx, b.id)
	if errdefs.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	var s container.StatsResponse
	if err := json.NewDecoder(reply.Body).Decode(&s); err != nil {
		return err
	}
	if s.CPUStats.CPUUsage.TotalUsage == 0 || s.Read.IsZero() {
		return nil // it has just ended, or not yet begun
	}
	now := counter{time.Duration(s.CPUStats.CPUUsage.TotalUsage), s.Read}
	e.mu.Lock()
	before := b.cpu
	if before.at.IsZero() {
		before.at = now.at.Add(-time.Since(b.started))
	}
	b.cpu = now
	e.mu.Unlock()
	part := e.Part(b)
	out := engine.Sample{At: e.Now(), Job: b.Number, Memory: resident(s.MemoryStats), Limit: int64(s.MemoryStats.Limit),
		Cores: part.Cores.Count()}
	if part.Role != "" {
		out.Part = launch.PartName(part)
	}
	if e.Paused(b) {
		out.Cores = 0
	}
	over := e.Gone(b)
	if span := now.at.Sub(before.at); span > 0 {
		out.CPU = 100 * float64(now.used-before.used) / float64(span)
	}
	if e.opts.Observe != nil && !over {
		e.observing.Lock()
		defer e.observing.Unlock()
		e.opts.Observe(out)
	}
	return nil
}

// resident is the memory in use, as the docker command shows it: without the
// pages of files that were not used lately (cgroup v1, then v2).
func resident(m container.MemoryStats) int64 {
	for _, name := range []string{"total_inactive_file", "inactive_file"} {
		if cached, ok := m.Stats[name]; ok && cached < m.Usage {
			return int64(m.Usage - cached)
		}
	}
	return int64(m.Usage)
}
