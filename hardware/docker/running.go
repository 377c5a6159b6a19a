package docker

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/tfexp/tfexp/hardware/docker/daemon"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/progress"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// running is a job that was started: one container, or one for each of its parts.
// Its engine's mu guards all but the first six fields, which do not change.
type running struct {
	number   int
	limit    time.Duration // service time of this attempt; 0 none
	before   time.Duration // service time of the attempts before
	progress *progress.Attempt
	cluster  contract.Cluster // addresses of the parts; nil for one container
	expire   func()           // called when the alarm goes off

	boxes  []*box // the first speaks for the job
	paused bool
	done   bool // nothing is left of the job, and usage is complete
	since  time.Time
	alarm  *time.Timer // goes off at the limit; nil without one, and while paused
	usage  launch.Usage

	// Why tfexp ends the job: the first cause counts.
	cause  scheduler.State
	reason string
	// state and why are how the job ended, by its first container, and at when.
	state scheduler.State
	why   string
	at    time.Time
	quiet bool // no notice of its end is wanted
	part  bool // it is ended because one of its parts failed
	saves progress.Saves
}

// lead returns the container that speaks for the job.
func (r *running) lead() *box { return r.boxes[0] }

// used is the service time of all attempts up to now. mu must be held.
func (r *running) used(now time.Time) time.Duration {
	d := r.before + r.usage.Service
	if !r.paused && !r.since.IsZero() {
		d += now.Sub(r.since)
	}
	return d
}

// carryOn begins, and rest ends, a stretch of service time. mu must be held.
func (r *running) carryOn(now time.Time) {
	r.paused, r.since = false, now
	if r.limit > 0 {
		r.alarm = time.AfterFunc(r.limit-r.usage.Service, r.expire)
	}
}

func (r *running) rest(now time.Time) {
	if !r.paused {
		r.usage.Service += now.Sub(r.since)
	}
	r.paused = true
	if r.alarm != nil {
		r.alarm.Stop()
		r.alarm = nil
	}
}

// alive returns the containers of a job that have not ended.
func (e *Engine) alive(r *running) []*box {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.boxes), func(b *box) bool { return b.gone })
}

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

// terminate asks a job to end, and sees to it after the grace.
func (e *Engine) terminate(r *running, cause scheduler.State, reason string) {
	e.mu.Lock()
	over := r.lead().gone || r.cause != ""
	if !over {
		r.cause, r.reason = cause, reason
	}
	e.mu.Unlock()
	if !over {
		each(e.alive(r), e.ask)
	}
}

// ask asks a container to end: SIGTERM, then SIGKILL after the grace.
func (e *Engine) ask(b *box) {
	e.mu.Lock()
	if b.gone || b.last != nil {
		e.mu.Unlock()
		return
	}
	b.last = time.AfterFunc(e.opts.Grace, func() { e.end(b) })
	paused := b.of.paused
	e.mu.Unlock()
	err := e.signal(b, "SIGTERM")
	if paused {
		ctx, cancel := context.WithTimeout(e.ctx, daemon.CallLimit)
		defer cancel()
		_ = b.api().ContainerUnpause(ctx, b.id) // what is left is killed after the grace
		if err != nil {
			_ = e.signal(b, "SIGTERM") // not every daemon signals a paused one
		}
	}
}

// kill ends a job at once.
func (e *Engine) kill(r *running, cause scheduler.State, reason string) {
	e.mu.Lock()
	if r.cause == "" {
		r.cause, r.reason = cause, reason
	}
	e.mu.Unlock()
	each(e.alive(r), e.end)
}

// end kills a container.
func (e *Engine) end(b *box) {
	e.mu.Lock()
	paused, over := b.of.paused, b.gone
	e.mu.Unlock()
	if over {
		return
	}
	if err := e.signal(b, "SIGKILL"); err != nil && paused {
		ctx, cancel := context.WithTimeout(e.ctx, daemon.CallLimit)
		defer cancel()
		_ = b.api().ContainerUnpause(ctx, b.id)
		_ = e.signal(b, "SIGKILL")
	}
}

func (e *Engine) signal(b *box, name string) error {
	ctx, cancel := context.WithTimeout(e.ctx, daemon.CallLimit)
	defer cancel()
	return b.api().ContainerKill(ctx, b.id, name)
}

// attend waits for a container to end, removes it, and gives notice of the end of its job
// when that was the last of it.
func (e *Engine) attend(b *box) {
	r := b.of
	what := e.await(b)

	if b == r.lead() {
		r.progress.Last()
	}
	e.mu.Lock()
	b.gone = true
	lead := b == r.lead()
	var others []*box
	if lead {
		r.rest(what.at)
		r.at = what.at
		if !e.leaves(b, what) {
			// The job ends with its first container; so do parameter servers, which
			// would wait for ever.
			others = slices.Clone(r.boxes[1:])
		}
	}
	e.mu.Unlock()
	if len(others) > 0 {
		each(others, e.ask)
	}

	if what.reachable {
		e.finishOutput(b)
	}
	logErr := b.out.Err()
	if ended, _ := what.verdict(&b.job); lead {
		r.progress.End(ended == scheduler.Finished)
	}
	if what.reachable {
		e.remove(b.node.Host, b.id)
	}
	if failed := e.close(b, what, logErr); failed != "" {
		e.terminate(r, scheduler.Failed, failed)
	}
}

// close notes how a container ended. It returns why the job has to end for that, if it has.
func (e *Engine) close(b *box, what fate, logErr error) (failed string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	r := b.of
	if b.last != nil {
		b.last.Stop()
	}
	state, reason := what.verdict(&b.job)
	switch {
	case r.cause != "" && !(r.part && state == scheduler.Finished && logErr == nil): // it may have done its work all the same
		state, reason = r.cause, r.reason
	case logErr != nil:
		state, reason = scheduler.Failed, logErr.Error()
	}
	switch {
	case e.leaves(b, what):
		reason = "its server was taken away"
	case b == r.lead():
		r.state, r.why = state, reason
		r.usage.ExitCode, r.usage.Reason = what.exit, reason
	case r.cause != "":
	case r.lead().gone, r.lead().lost:
		reason = ""
	case state == scheduler.Failed:
		r.part = true
		failed = launch.PartName(b.part) + ": " + reason
	}
	b.out.Close(reason)
	b.done = true
	close(b.ended)
	if !what.reachable {
		e.lost = append(e.lost, b)
	}
	e.settle(r)
	return failed
}

// leaves reports whether a container ended because its node is taken away. mu must be
// held.
func (e *Engine) leaves(b *box, what fate) bool {
	return b.lost && b.of.cause == "" && !(what.reachable && !what.vanished && what.exit == 0)
}

// settle ends a job when nothing is left of its containers. One whose first container was
// taken away with its node goes on until it is revoked. mu must be held.
func (e *Engine) settle(r *running) {
	if r.done || r.state == "" && !r.quiet || slices.ContainsFunc(r.boxes, func(b *box) bool { return !b.done }) {
		return
	}
	r.done = true
	e.open--
	if r.quiet {
		return
	}
	at := r.at.Sub(e.zero)
	if len(r.boxes) > 1 {
		at = e.Now()
	}
	n := scheduler.Notice{Kind: scheduler.JobEnded, Job: r.number, At: at, State: r.state, Reason: r.why}
	if e.opts.Fleet != nil {
		a := r.saves.Attempt()
		n.Attempt = &a
	}
	e.ended = append(e.ended, n)
	select {
	case e.wake <- struct{}{}:
	default:
	}
}
