package process

import (
	"fmt"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/progress"
	"github.com/tfexp/tfexp/scheduler"
)

// ident is a process for good: numbers are used again, but not by a process
// that started at the same time.
type ident struct {
	pid   int
	start uint64 // in the system's own unit, since boot or 1970
}

// running is a job that was started. Its engine's mu guards all but the
// first five fields, which do not change.
type running struct {
	number   int
	id       ident
	mark     string // value of runEnv in the job's environment
	log      *jobLog
	progress *progress.Attempt

	paused bool
	gone   bool // the program has exited and its number may be used again
	done   bool // nothing is left of the job, and usage is complete
	since  time.Time
	limit  time.Duration // service time; 0 none
	alarm  *time.Timer   // goes off at the limit; nil without one, and while paused
	usage  launch.Usage

	// Why tfexp ends the job: the first cause counts. deadline is when
	// whatever is still alive is killed.
	cause    scheduler.State
	reason   string
	deadline time.Time
	last     *time.Timer // kills at the deadline

	expire func() // called when the alarm goes off
}

func (r *running) ending() bool { return r.cause != "" }

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

// members returns the live processes of the job outside of its process
// group, and those in it if all is set.
func (r *running) members(all bool) []int {
	roots := []int{r.id.pid}
	for _, p := range orphans() {
		if r.owns(p) {
			roots = append(roots, p.pid)
		}
	}
	var pids []int
	for _, pid := range descendants(roots) {
		if group, err := syscall.Getpgid(pid); err == nil && (all || group != r.id.pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// owns reports whether an orphan was once part of the job.
func (r *running) owns(p proc) bool {
	return p.session == r.id.pid || hasMark(p.pid, r.mark)
}

// signal sends sig to every process of the job, those that fork meanwhile
// included. The program must not be gone.
func (r *running) signal(sig syscall.Signal) error {
	// All of the process group at once; those who left it one by one, until
	// no new one is found.
	if err := syscall.Kill(-r.id.pid, sig); err != nil {
		// A group of zombies cannot be signalled on some systems.
		if p, listed := readProc(r.id.pid); listed && !p.zombie {
			return err
		}
	}
	seen := map[int]bool{}
	for range maxPasses {
		found := false
		for _, pid := range r.members(false) {
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

// bind binds every thread of every process of the job to cpus.
func (r *running) bind(cpus []int) error {
	seen := map[int]bool{}
	for range maxPasses {
		found, err := bindThreads(r.members(true), cpus, seen)
		if err != nil || !found {
			return err
		}
	}
	return nil
}

// terminate asks a job to end, and sees to it after the grace. mu must be held.
func (e *Engine) terminate(r *running, cause scheduler.State, reason string) {
	if r.gone || r.ending() {
		return
	}
	r.cause, r.reason = cause, reason
	r.deadline = time.Now().Add(e.opts.Grace)
	r.last = time.AfterFunc(e.opts.Grace, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.kill(r, cause, reason)
	})
	// The other order would let a paused job run on before it hears of its end.
	r.signal(syscall.SIGTERM)
	if r.paused {
		r.signal(syscall.SIGCONT)
	}
}

// kill ends a job at once. mu must be held.
func (e *Engine) kill(r *running, cause scheduler.State, reason string) {
	if !r.ending() {
		r.cause, r.reason = cause, reason
	}
	r.deadline = time.Now()
	if !r.gone {
		r.signal(syscall.SIGKILL)
	}
}

// attend waits for a job's program to exit, kills what it leaves behind, and
// gives notice of its end.
func (e *Engine) attend(r *running) {
	awaitExit(r.id.pid)

	e.mu.Lock()
	status, used := children.reap(r.id.pid)
	r.gone = true
	r.rest(time.Now())
	e.mu.Unlock()

	stuck := e.clear(r)
	logErr := r.log.finish()
	r.progress.End(status.Exited() && status.ExitStatus() == 0)

	e.mu.Lock()
	if r.last != nil {
		r.last.Stop()
	}
	u := &r.usage
	u.User = time.Duration(used.Utime.Nano())
	u.System = time.Duration(used.Stime.Nano())
	u.MaxRSS = int64(used.Maxrss) * rssUnit
	u.ExitCode = status.ExitStatus()
	state, reason := scheduler.Finished, ""
	switch {
	case r.ending():
		state, reason = r.cause, r.reason
	case logErr != nil:
		state, reason = scheduler.Failed, logErr.Error()
	case status.Signaled():
		state, reason = scheduler.Failed, fmt.Sprintf("killed by signal %d (%s)", status.Signal(),
			signalName(status.Signal()))
	case u.ExitCode != 0:
		state, reason = scheduler.Failed, fmt.Sprintf("exit status %d", u.ExitCode)
	}
	if stuck > 0 {
		reason += fmt.Sprintf("; %d of its processes could not be killed", stuck)
	}
	u.Reason = reason
	r.log.close(reason)
	r.done = true
	e.ended = append(e.ended, scheduler.Notice{Kind: scheduler.JobEnded, Job: r.number, At: e.Now(), State: state,
		Reason: reason})
	e.alive--
	e.mu.Unlock()
	select {
	case e.wake <- struct{}{}:
	default:
	}
	guard.forget(r.id)
	e.records.ended(r.id)
}

// The patience with what a program leaves behind when it exits.
const (
	clearPause = 500 * time.Microsecond // between looks; doubled up to 20 ms
	clearLimit = 10 * time.Second       // for processes that SIGKILL does not end
)

// clear kills what is left of a job whose program has exited, or waits for it
// until the deadline if the job was asked to end. It returns the number of
// processes that could not be killed.
func (e *Engine) clear(r *running) (stuck int) {
	began := time.Now()
	for pause := clearPause; ; pause = min(2*pause, 20*time.Millisecond) {
		left := r.leftovers()
		if left == nil {
			return 0
		}
		e.mu.Lock()
		deadline := r.deadline
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

// leftovers returns what lives of a job whose program has exited: process
// numbers, and that of its group with a minus; nil if nothing does.
func (r *running) leftovers() (left []int) {
	var roots []int
	for _, p := range orphans() { // also reaps those that are dead
		if r.owns(p) {
			roots = append(roots, p.pid)
		}
	}
	if syscall.Kill(-r.id.pid, 0) != syscall.ESRCH {
		left = append(left, -r.id.pid)
	}
	if len(roots) > 0 {
		left = append(append(left, roots...), descendants(roots)...)
	}
	return left
}

// signalName is the system's phrase for a signal: "killed", "segmentation fault".
func signalName(s syscall.Signal) string {
	if text := s.String(); text != "" {
		return text
	}
	return unix.SignalName(s)
}
