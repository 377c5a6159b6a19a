//go:build unix

package process

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// Fleet says when servers come and go, on the engine's clock. A node is then a part of
// the cores of this machine, which is warned and lost as its server is.
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
		return nil, errors.New("the process engine has no servers to give")
	}
	return e.opts.Fleet.Acquire(node, e.Now()), nil
}

// Release implements scheduler.Provider.
func (e *Engine) Release(node int) error {
	e.opts.Fleet.Release(node)
	return nil
}

// From implements scheduler.Market.
func (e *Engine) From(node int, at time.Duration) time.Duration {
	if f, ok := e.opts.Fleet.(interface {
		From(node int, now time.Duration) time.Duration
	}); ok {
		return f.From(node, at)
	}
	return at
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

// on returns the live programs on a node, and the jobs that they belong to. mu must be
// held.
func (e *Engine) on(node int) (programs []*program, jobs []*running) {
	for _, r := range e.live {
		if r == nil || r.done {
			continue
		}
		for _, p := range r.programs {
			if p.part.Node != node || p.done {
				continue
			}
			programs = append(programs, p)
			if !slices.Contains(jobs, r) {
				jobs = append(jobs, r)
			}
		}
	}
	return programs, jobs
}

// warn tells the programs on a node that it is taken away at an instant: by their control
// files at once, and by SIGTERM when only the grace is left. The first program of a job
// that has others there is asked for a checkpoint.
func (e *Engine) warn(node int, until time.Duration) {
	e.mu.Lock()
	defer e.mu.Unlock()
	programs, jobs := e.on(node)
	e.serial++
	left := max((until - e.Now()).Seconds(), 0)
	for _, p := range programs {
		// A program that is not told is killed like one that does not listen.
		p.tell(0, contract.Message{Serial: e.serial, Warning: &left})
	}
	for _, r := range jobs {
		if p := r.lead(); p.part.Node != node && !p.gone {
			p.tell(0, contract.Message{Serial: e.serial, Checkpoint: true})
		}
	}
	time.AfterFunc(until-e.opts.Grace-e.Now(), func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		for _, p := range programs {
			if !e.closed && !p.gone && !p.of.ending() {
				p.lost = true
				e.ask(p)
			}
		}
	})
}

// take kills all that runs on a node, and returns when it is gone.
func (e *Engine) take(node int) {
	e.mu.Lock()
	programs, jobs := e.on(node)
	for _, p := range programs {
		p.lost = true
		p.kill()
	}
	e.mu.Unlock()
	for _, p := range programs {
		<-p.ended
	}
	// A job whose first program had ended by itself ends now, and is not revoked.
	for _, r := range jobs {
		e.mu.Lock()
		var rest []*program
		if r.state != "" {
			rest = slices.Clone(r.programs)
		}
		e.mu.Unlock()
		for _, p := range rest {
			<-p.ended
		}
	}
}

// Revoke implements scheduler.Provider: the parts of the job that are left are ended.
func (e *Engine) Revoke(job int) (scheduler.Attempt, error) {
	e.mu.Lock()
	if job < 0 || job >= len(e.live) || e.live[job] == nil {
		e.mu.Unlock()
		return scheduler.Attempt{}, fmt.Errorf("revoke: job %d was not started", job)
	}
	r := e.live[job]
	r.quiet = true
	if !r.ending() {
		r.cause, r.reason = scheduler.Stopped, "a server of the job was taken away"
	}
	r.rest(time.Now())
	programs := slices.Clone(r.programs)
	for _, p := range programs {
		e.ask(p)
	}
	e.mu.Unlock()
	for _, p := range programs {
		<-p.ended
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.settle(r)
	e.ended = slices.DeleteFunc(e.ended, func(n scheduler.Notice) bool { return n.Job == job })
	return r.saves.Attempt(), nil
}

// Reshape implements scheduler.Provider: the parts of the job that the grant lacks are
// ended, and those that are new are started.
func (e *Engine) Reshape(job int, grant scheduler.Grant) error {
	e.mu.Lock()
	r, err := e.present("reshape", job)
	if r == nil {
		e.mu.Unlock()
		return err
	}
	var left []*program
	var fresh []scheduler.Part
	wanted := launch.Programs(grant)
	for _, p := range r.programs {
		kept := slices.ContainsFunc(wanted, func(w scheduler.Part) bool { return w.Role == p.part.Role && w.Task == p.part.Task })
		if !kept && !p.done {
			p.lost = true
			p.kill()
			left = append(left, p)
		}
	}
	for _, w := range wanted {
		if !slices.ContainsFunc(r.programs, func(p *program) bool {
			return !p.gone && !p.lost && w.Role == p.part.Role && w.Task == p.part.Task
		}) {
			fresh = append(fresh, w)
		}
	}
	e.mu.Unlock()
	for _, p := range left {
		<-p.ended
	}
	for _, part := range fresh {
		p, err := e.beginPart(r, part, false, true)
		if err != nil {
			return fmt.Errorf("reshape job %q: %s: %w", e.jobs[job].Name, launch.PartName(part), err)
		}
		e.mu.Lock()
		r.programs = append(r.programs, p)
		if r.state != "" || r.ending() || r.lead().gone { // its job has ended meanwhile
			p.lost = true
			p.kill()
		}
		e.mu.Unlock()
		e.follow(p)
	}
	return nil
}

var _ scheduler.Provider = (*Engine)(nil)
