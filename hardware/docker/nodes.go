package docker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tfexp/tfexp/hardware/docker/daemon"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// Fleet says when servers come and go, on the engine's clock. A node is then some cores of a
// daemon's machine, which are warned and lost as its server is.
type Fleet interface {
	// Acquire creates a server for a node; nil when there is none any more. Release
	// gives it back.
	Acquire(node int, now time.Duration) *scheduler.Server
	Release(node int)
	// Next is the next instant at which something happens to a node, and Take appends
	// what has happened by an instant.
	Next() time.Duration
	Take(now time.Duration, news []scheduler.Notice) []scheduler.Notice
}

// Acquire implements scheduler.Provider.
func (e *Engine) Acquire(node int) (*scheduler.Server, error) {
	if e.opts.Fleet == nil {
		return nil, errors.New("the Docker engine has no servers to give")
	}
	return e.opts.Fleet.Acquire(node, e.Now()), nil
}

// Release implements scheduler.Provider.
func (e *Engine) Release(node int) error {
	e.opts.Fleet.Release(node)
	return nil
}

// nodeNews carries out what has happened to nodes up to now, and returns notices of it.
func (e *Engine) nodeNews() []scheduler.Notice {
	if e.opts.Fleet == nil {
		return nil
	}
	news := e.opts.Fleet.Take(e.Now(), nil)
	for i := range news {
		switch n := &news[i]; n.Kind {
		case scheduler.NodeWarned:
			e.warn(n.Node, n.Until)
		case scheduler.NodeDown:
			e.take(n.Node)
			n.At = e.Now() // after the ends of jobs that came before it
		}
	}
	return news
}

// on returns the live containers on a node, and the jobs that they belong to.
func (e *Engine) on(node int) (boxes []*box, jobs []*running) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.live {
		if r == nil || r.done {
			continue
		}
		for _, b := range r.boxes {
			if b.node != e.nodes[node] || b.done {
				continue
			}
			boxes = append(boxes, b)
			if !slices.Contains(jobs, r) {
				jobs = append(jobs, r)
			}
		}
	}
	return boxes, jobs
}

// warn tells the containers on a node that it is taken away at an instant: by their control
// files at once, and by SIGTERM when only the grace is left. The first container of a job
// that has others there is asked for a checkpoint.
func (e *Engine) warn(node int, until time.Duration) {
	boxes, jobs := e.on(node)
	e.mu.Lock()
	e.serial++
	serial := e.serial
	e.mu.Unlock()
	left := max((until - e.Now()).Seconds(), 0)
	// A program that is not told is killed like one that does not listen.
	each(boxes, func(b *box) { e.tell(b, contract.Message{Serial: serial, Warning: &left}) })
	for _, r := range jobs {
		if b := r.lead(); b.node != e.nodes[node] {
			e.tell(b, contract.Message{Serial: serial, Checkpoint: true})
		}
	}
	time.AfterFunc(until-e.opts.Grace-e.Now(), func() {
		var asked []*box
		e.mu.Lock()
		for _, b := range boxes {
			if !e.closed && !b.gone && b.of.cause == "" {
				b.lost = true
				asked = append(asked, b)
			}
		}
		e.mu.Unlock()
		each(asked, e.ask)
	})
}

// tell writes a request into the control file of a container.
func (e *Engine) tell(b *box, request contract.Message) {
	e.mu.Lock()
	text, err := b.job.Content(len(b.cpus), 0, b.of.used(time.Now()), request)
	e.mu.Unlock()
	if err != nil {
		return
	}
	if b.node.Host.Local() {
		_ = b.job.ReplaceControl(text)
		return
	}
	ctx, cancel := context.WithTimeout(e.ctx, daemon.CallLimit)
	defer cancel()
	_ = e.send(ctx, b, text)
}

// take kills all that runs on a node, and returns when it is gone.
func (e *Engine) take(node int) {
	boxes, jobs := e.on(node)
	e.mu.Lock()
	for _, b := range boxes {
		b.lost = true
	}
	e.mu.Unlock()
	each(boxes, func(b *box) {
		e.end(b)
		<-b.ended
	})
	// A job whose first container had ended by itself ends now, and is not revoked.
	for _, r := range jobs {
		var rest []*box
		e.mu.Lock()
		if r.state != "" {
			rest = slices.Clone(r.boxes)
		}
		e.mu.Unlock()
		for _, b := range rest {
			<-b.ended
		}
	}
}

// Revoke implements scheduler.Provider: the containers of the job that are left are ended.
func (e *Engine) Revoke(job int) (scheduler.Attempt, error) {
	e.mu.Lock()
	if job < 0 || job >= len(e.live) || e.live[job] == nil {
		e.mu.Unlock()
		return scheduler.Attempt{}, fmt.Errorf("revoke: job %d was not started", job)
	}
	r := e.live[job]
	r.quiet = true
	if r.cause == "" {
		r.cause, r.reason = scheduler.Stopped, "a server of the job was taken away"
	}
	r.rest(time.Now())
	boxes := slices.Clone(r.boxes)
	e.mu.Unlock()
	each(boxes, func(b *box) {
		e.ask(b)
		<-b.ended
	})
	e.mu.Lock()
	defer e.mu.Unlock()
	e.settle(r)
	e.ended = slices.DeleteFunc(e.ended, func(n scheduler.Notice) bool { return n.Job == job && n.Kind == scheduler.JobEnded })
	return r.saves.Attempt(), nil
}

// Reshape implements scheduler.Reshaper: the parts of the job that the grant lacks are
// ended, and those that are new are started.
func (e *Engine) Reshape(job int, grant scheduler.Grant) error {
	r, _, err := e.present("reshape", job)
	if r == nil {
		return err
	}
	wanted := launch.Programs(grant)
	same := func(b *box, p scheduler.Part) bool { return b.part.Role == p.Role && b.part.Task == p.Task }
	var left []*box
	e.mu.Lock()
	for _, b := range r.boxes {
		if !b.done && !slices.ContainsFunc(wanted, func(w scheduler.Part) bool { return same(b, w) }) {
			b.lost = true
			left = append(left, b)
		}
	}
	fresh := slices.DeleteFunc(slices.Clone(wanted), func(w scheduler.Part) bool {
		return slices.ContainsFunc(r.boxes, func(b *box) bool { return !b.gone && !b.lost && same(b, w) })
	})
	e.mu.Unlock()
	each(left, func(b *box) {
		e.end(b)
		<-b.ended
	})
	for _, part := range fresh {
		err := e.beginPart(r, part, true)
		e.mu.Lock()
		over := r.state != "" || r.cause != "" || r.lead().gone
		b := r.boxes[len(r.boxes)-1]
		e.mu.Unlock()
		switch {
		case err != nil && over: // its end follows
			return nil
		case err != nil:
			return fmt.Errorf("%s: %w", launch.PartName(part), err)
		}
		e.waiters.Go(func() { e.attend(b) })
		if over {
			e.end(b)
		}
	}
	return nil
}

var _ scheduler.Provider = (*Engine)(nil)
