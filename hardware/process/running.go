//go:build unix

package process

import (
	"errors"
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/progress"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// ident is a process for good: numbers are used again, but not by a process
// that started at the same time.
type ident struct {
	pid   int
	start uint64 // in the system's own unit, since boot or 1970
}

// running is a job that was started: one program, or one for each of its parts.
// Its engine's mu guards all but the first six fields, which do not change.
type running struct {
	number   int
	progress *progress.Attempt
	cluster  contract.Cluster // addresses of the parts; nil for one program
	expire   func()           // called when the alarm goes off
	limit    time.Duration    // service time of this attempt; 0 none
	before   time.Duration    // service time of the attempts before

	programs []*program // the first speaks for the job
	paused   bool
	done     bool // nothing is left of the job, and usage is complete
	since    time.Time
	alarm    *time.Timer // goes off at the limit; nil without one, and while paused
	usage    launch.Usage

	// Why tfexp ends the job: the first cause counts.
	cause  scheduler.State
	reason string
	// state and why are how the job ended, by its first program.
	state scheduler.State
	why   string
	quiet bool // no notice of its end is wanted
	part  bool // it is ended because one of its parts failed
	saves progress.Saves
}

// program is a job's program, or that of one of its parts: a session of its own.
// The engine's mu guards all but the first six fields.
type program struct {
	of    *running
	part  scheduler.Part // its cores change
	job   launch.Job     // the program, as it was started
	id    ident
	mark  string // value of runEnv in its environment
	log   *jobLog
	ended chan struct{} // closed when nothing is left of it

	gone bool // the program has exited and its number may be used again
	done bool // nothing is left of it
	// lost says that its node is taken away: that it ends is no failure.
	lost bool
	// deadline is when whatever is still alive of it is killed.
	deadline time.Time
	last     *time.Timer // kills at the deadline
}

func (r *running) ending() bool { return r.cause != "" }

// lead returns the program that speaks for the job.
func (r *running) lead() *program { return r.programs[0] }

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

// used is the service time of all attempts up to now. mu must be held.
func (r *running) used(now time.Time) time.Duration {
	d := r.before + r.usage.Service
	if !r.paused && !r.since.IsZero() {
		d += now.Sub(r.since)
	}
	return d
}

// tell writes the control file of a program that had so many cores before: how things stand, and a request.
// mu must be held.
func (p *program) tell(cores int, request contract.Message) error {
	text, err := p.job.Content(p.part.Cores.Count(), cores, p.of.used(time.Now()), request)
	if err != nil {
		return err
	}
	return p.job.ReplaceControl(text)
}

// signal sends sig to all programs of the job. mu must be held.
func (r *running) signal(sig syscall.Signal) error {
	var errs []error
	for _, p := range r.programs {
		if !p.gone {
			errs = append(errs, p.signal(sig))
		}
	}
	return errors.Join(errs...)
}

// members returns the live processes of the program outside of its process
// group, and those in it if all is set.
func (p *program) members(all bool) []int {
	roots := []int{p.id.pid}
	for _, o := range orphans() {
		if p.owns(o) {
			roots = append(roots, o.pid)
		}
	}
	var pids []int
	for _, pid := range descendants(roots) {
		if group, err := syscall.Getpgid(pid); err == nil && (all || group != p.id.pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// owns reports whether an orphan was once part of the program.
func (p *program) owns(o proc) bool {
	return o.session == p.id.pid || hasMark(o.pid, p.mark)
}

// signal sends sig to every process of the program, those that fork meanwhile
// included. The program must not be gone.
func (p *program) signal(sig syscall.Signal) error {
	// All of the process group at once; those who left it one by one, until
	// no new one is found.
	if err := syscall.Kill(-p.id.pid, sig); err != nil {
		// A group of zombies cannot be signalled on some systems.
		if o, listed := readProc(p.id.pid); listed && !o.zombie {
			return err
		}
	}
	seen := map[int]bool{}
	for range maxPasses {
		found := false
		for _, pid := range p.members(false) {
			if !seen[pid] {
				seen[pid], found = true, true
				syscall.Kill(pid, sig) // it may have exited
			}
		}
		if !found {
			break
		}
	}
	return nil
}

// maxPasses bounds the search for processes and threads that come into being
// while it goes on.
const maxPasses = 20

// bind binds every thread of every process of the program to cpus.
func (p *program) bind(cpus []int) error {
	seen := map[int]bool{}
	for range maxPasses {
		found, err := bindThreads(p.members(true), cpus, seen)
		if err != nil || !found {
			return err
		}
	}
	return nil
}

// terminate asks a job to end, and sees to it after the grace. mu must be held.
func (e *Engine) terminate(r *running, cause scheduler.State, reason string) {
	if r.lead().gone || r.ending() {
		return
	}
	r.cause, r.reason = cause, reason
	for _, p := range r.programs {
		e.ask(p)
	}
}

// ask asks a program to end: SIGTERM, then SIGKILL after the grace. mu must be held.
func (e *Engine) ask(p *program) {
	if p.gone || p.last != nil {
		return
	}
	p.deadline = time.Now().Add(e.opts.Grace)
	p.last = time.AfterFunc(e.opts.Grace, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		p.kill()
	})
	// The other order would let a paused job run on before it hears of its end.
	p.signal(syscall.SIGTERM)
	if p.of.paused {
		p.signal(syscall.SIGCONT)
	}
}

// kill ends a job at once. mu must be held.
func (e *Engine) kill(r *running, cause scheduler.State, reason string) {
	if !r.ending() {
		r.cause, r.reason = cause, reason
	}
	for _, p := range r.programs {
		p.kill()
	}
}

// kill ends a program at once. The engine's mu must be held.
func (p *program) kill() {
	p.deadline = time.Now()
	if !p.gone {
		p.signal(syscall.SIGKILL)
	}
}

// attend waits for a program to exit, kills what it leaves behind, and gives notice
// of the end of its job when that was the last of it.
func (e *Engine) attend(p *program) {
	r := p.of
	awaitExit(p.id.pid)

	e.mu.Lock()
	status, used := children.reap(p.id.pid)
	p.gone = true
	lead := p == r.lead()
	if lead {
		r.progress.Last()
		r.rest(time.Now())
		if !e.leaves(p, status) {
			// The job ends with its first program; so do parameter servers, which
			// would wait for ever.
			for _, other := range r.programs[1:] {
				e.ask(other)
			}
		}
	}
	e.mu.Unlock()

	stuck := e.clear(p)
	logErr := p.log.finish()
	if lead {
		r.progress.End(status.Exited() && status.ExitStatus() == 0)
	}

	e.mu.Lock()
	if p.last != nil {
		p.last.Stop()
	}
	r.usage.User += time.Duration(used.Utime.Nano())
	r.usage.System += time.Duration(used.Stime.Nano())
	r.usage.MaxRSS = max(r.usage.MaxRSS, int64(used.Maxrss)*rssUnit)
	state, reason := r.judge(status, logErr)
	if stuck > 0 {
		reason += fmt.Sprintf("; %d of its processes could not be killed", stuck)
	}
	switch {
	case e.leaves(p, status):
		reason = "its server was taken away"
	case lead:
		r.state, r.why, r.usage.ExitCode = state, reason, status.ExitStatus()
		r.usage.Reason = reason
	case r.ending():
	case r.lead().gone, r.lead().lost:
		reason = ""
	case state == scheduler.Failed:
		r.part = true
		e.terminate(r, scheduler.Failed, launch.PartName(p.part)+": "+reason)
	}
	p.log.close(reason)
	p.done = true
	close(p.ended)
	e.settle(r)
	e.mu.Unlock()
	guard.forget(p.id)
	e.records.ended(p.id)
}

// leaves reports whether a program ended because its node is taken away. mu must be
// held.
func (e *Engine) leaves(p *program, status syscall.WaitStatus) bool {
	return p.lost && !p.of.ending() && !(status.Exited() && status.ExitStatus() == 0)
}

// judge returns how a program of the job ended, and why if it did not finish. mu must
// be held.
func (r *running) judge(status syscall.WaitStatus, logErr error) (scheduler.State, string) {
	finished := status.Exited() && status.ExitStatus() == 0
	switch {
	case r.ending() && !(r.part && finished && logErr == nil): // it may have done its work all the same
		return r.cause, r.reason
	case logErr != nil:
		return scheduler.Failed, logErr.Error()
	case status.Signaled():
		return scheduler.Failed, fmt.Sprintf("killed by signal %d (%s)", status.Signal(), signalName(status.Signal()))
	case !finished:
		return scheduler.Failed, fmt.Sprintf("exit status %d", status.ExitStatus())
	}
	return scheduler.Finished, ""
}

// settle ends a job when nothing is left of its programs. One whose first program was
// taken away with its node goes on until it is revoked. mu must be held.
func (e *Engine) settle(r *running) {
	if r.done || r.state == "" && !r.quiet {
		return
	}
	for _, p := range r.programs {
		if !p.done {
			return
		}
	}
	r.done = true
	e.alive--
	if r.quiet {
		return
	}
	e.ended = append(e.ended, scheduler.Notice{
		Kind: scheduler.JobEnded, Job: r.number, At: e.Now(), State: r.state, Reason: r.why, Attempt: r.attempt(e),
	})
	select {
	case e.wake <- struct{}{}:
	default:
	}
}

// attempt returns what an attempt came to, where servers come and go. mu must be held.
func (r *running) attempt(e *Engine) *scheduler.Attempt {
	if e.opts.Fleet == nil {
		return nil
	}
	a := r.saves.Attempt()
	return &a
}

// The patience with what a program leaves behind when it exits.
const (
	clearPause = 500 * time.Microsecond // between looks; doubled up to 20 ms
	clearLimit = 10 * time.Second       // for processes that SIGKILL does not end
	maxDoubts  = 4                      // looks at orphans that have no environment
)

// clear kills what is left of a program that has exited, or waits for it
// until the deadline if it was asked to end. It returns the number of
// processes that could not be killed.
func (e *Engine) clear(p *program) (stuck int) {
	began := time.Now()
	known := map[ident]bool{}
	doubts := 0
	for pause := clearPause; ; pause = min(2*pause, 20*time.Millisecond) {
		left, unsure := p.leftovers(known)
		if left == nil {
			if doubts++; !unsure || doubts > maxDoubts {
				return 0
			}
		}
		e.mu.Lock()
		deadline := p.deadline
		e.mu.Unlock()
		now := time.Now()
		if now.Sub(began) > e.opts.Grace+clearLimit {
			return len(left)
		}
		if !now.Before(deadline) {
			for _, pid := range left {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		time.Sleep(pause)
	}
}

// leftovers returns what lives of a program that has exited: process
// numbers, and that of its group with a minus; nil if nothing does. A process
// has no environment, and so no mark, between two programs and while it exits:
// known holds the orphans that were found before, and unsure says that there is
// one that another look may tell more of.
func (p *program) leftovers(known map[ident]bool) (left []int, unsure bool) {
	var roots []int
	for _, o := range orphans() { // also reaps those that are dead
		id := ident{o.pid, o.start}
		switch {
		case known[id], p.owns(o):
			known[id] = true
			roots = append(roots, o.pid)
		case !hasEnviron(o.pid):
			unsure = true
		}
	}
	if syscall.Kill(-p.id.pid, 0) != syscall.ESRCH {
		left = append(left, -p.id.pid)
	}
	if len(roots) > 0 {
		left = append(append(left, roots...), descendants(roots)...)
	}
	return left, unsure
}

// signalName is the system's phrase for a signal: "killed", "segmentation fault".
func signalName(s syscall.Signal) string {
	if text := s.String(); text != "" {
		return text
	}
	return unix.SignalName(s)
}
