package launch

import (
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// Stop asks a job to end: SIGTERM, then SIGKILL after the grace. A job with a failed part ends as failed.
func (j *Jobs[P]) Stop(job int) error {
	if j.stopSuspended(job, "stopped") {
		return nil
	}
	r, _, err := j.present("stop", job)
	if r == nil {
		return err
	}
	j.mu.Lock()
	failed := r.failed()
	j.mu.Unlock()
	if failed != "" { // and the scheduler has found that it cannot go on without
		j.terminate(r, scheduler.Failed, failed)
	} else {
		j.terminate(r, scheduler.Stopped, "stopped")
	}
	return nil
}

// terminate asks a job to end, and sees to it after the grace.
func (j *Jobs[P]) terminate(r *RunningJob[P], cause scheduler.State, reason string) {
	j.mu.Lock()
	if r.leadGone() || r.cause != 0 {
		j.mu.Unlock()
		return
	}
	r.cause, r.reason = cause, reason
	programs := slices.Clone(r.programs)
	j.mu.Unlock()
	j.ask(r, programs, time.Now().Add(j.opts.Grace))
}

// ask asks programs of a job to end: SIGTERM, then SIGKILL at an instant. Of two instants the earlier one counts.
func (j *Jobs[P]) ask(r *RunningJob[P], programs []P, until time.Time) {
	j.mu.Lock()
	var fresh []P
	for _, p := range programs {
		s := p.Base()
		if s.gone || s.asked && !until.Before(s.deadline) {
			continue
		}
		if !s.asked {
			fresh = append(fresh, p)
		}
		s.asked, s.deadline = true, until
		if s.last != nil {
			s.last.Stop()
		}
		s.last = time.AfterFunc(time.Until(until), func() { j.kill([]P{p}) })
	}
	paused := r.paused && !r.suspended
	j.mu.Unlock()
	if len(fresh) > 0 {
		j.hands.Ask(fresh, paused)
	}
}

// kill ends programs at once.
func (j *Jobs[P]) kill(programs []P) {
	j.mu.Lock()
	now := time.Now()
	for _, p := range programs {
		p.Base().asked, p.Base().deadline = true, now
	}
	left := alive(programs)
	j.mu.Unlock()
	if len(left) > 0 {
		j.hands.Kill(left)
	}
}

// Asked reports whether tfexp itself ends a program, or its node is taken away.
func (j *Jobs[P]) Asked(p P) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.live[p.Base().Number]
	return p.Base().asked || p.Base().lost || r != nil && slices.Contains(r.programs, p) && r.cause != 0
}

// Lost reports whether the node of a program is taken away.
func (j *Jobs[P]) Lost(p P) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return p.Base().lost
}

// Deadline is the instant after which the remaining processes of an exited program are killed.
func (j *Jobs[P]) Deadline(p P) time.Time {
	j.mu.Lock()
	defer j.mu.Unlock()
	return p.Base().deadline
}

// Part is the part that a program holds at present, and paused whether its job is paused.
func (j *Jobs[P]) Part(p P) scheduler.Part {
	j.mu.Lock()
	defer j.mu.Unlock()
	return p.Base().part
}

// Paused reports whether the job of a program is paused.
func (j *Jobs[P]) Paused(p P) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.live[p.Base().Number]
	return r != nil && r.paused
}

// Living returns the programs of all jobs that have not exited.
func (j *Jobs[P]) Living() []P {
	j.mu.Lock()
	defer j.mu.Unlock()
	var programs []P
	for _, r := range j.live {
		if r != nil && !r.done {
			programs = append(programs, alive(r.programs)...)
		}
	}
	return programs
}

// Programs returns the programs of a job's last attempt: the first speaks for it.
func (j *Jobs[P]) Programs(job int) []P {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.live[job] == nil {
		return nil
	}
	return slices.Clone(j.live[job].programs)
}

// Gone reports whether a program has exited.
func (j *Jobs[P]) Gone(p P) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return p.Base().gone
}

// Runs notes that a program runs only now, which counts as the beginning of its job's service time if it speaks for it.
func (j *Jobs[P]) Runs(p P) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if r := j.live[p.Base().Number]; r != nil && !r.paused && len(r.programs) > 0 && r.programs[0] == p {
		r.since = time.Now()
	}
}

// Fate is how a program ended, but for why tfexp has ended it.
type Fate struct {
	// At is when that was over; zero for now.
	At time.Time
	// Finished reports whether it has done all of its work: exit status 0. Why describes any other end.
	Finished bool
	Why      string
	// Exit is its exit status; -1 if it has none.
	Exit int
	// Output is why its output is not complete; nil when it is.
	Output error
	// Remark is added to the reason of the job's end.
	Remark string
	// Left counts the processes that the program left running; they have been ended.
	Left int
	// User, System and MaxRSS are its usage, as in launch.Usage.
	User, System time.Duration
	MaxRSS       int64
}

// Exited notes that a program has exited; processes that it started may still live. The job ends with the program that
// speaks for it. Its parameter servers then end too, since they would wait endlessly.
func (j *Jobs[P]) Exited(p P, at time.Time, finished bool) {
	s := p.Base()
	r := j.of(p)
	if s.Lead {
		r.Progress.Last()
	}
	j.mu.Lock()
	s.gone = true
	var others []P
	if s.Lead {
		r.rest(at)
		if !s.taken {
			others = slices.Clone(r.programs[1:])
		}
	}
	j.mu.Unlock()
	j.ask(r, others, time.Now().Add(j.opts.Grace))
}

// of returns the attempt that a program belongs to. A program is attended only once its job is among the live.
func (j *Jobs[P]) of(p P) *RunningJob[P] {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.live[p.Base().Number]
}

// Ended notes that no process of a program is left. If it was the last program of its job, Ended gives notice of the
// job's end. shut is called with the last line of the log: the reason why the program did not finish, empty if it did.
func (j *Jobs[P]) Ended(p P, f Fate, shut func(reason string)) {
	s, r := p.Base(), j.of(p)
	if s.Lead {
		r.Progress.End(f.Finished)
	}
	if warn := j.opts.Warn; s.Lead && f.Finished && warn != nil {
		if text := detachedWork(&j.jobs[r.number], f.Left); text != "" {
			warn(r.number, detachedCode, text)
		}
	}
	j.mu.Lock()
	if s.last != nil {
		s.last.Stop()
	}
	r.usage.User += f.User
	r.usage.System += f.System
	r.usage.MaxRSS = max(r.usage.MaxRSS, f.MaxRSS)
	state, reason := r.judge(f)
	reason += f.Remark
	fails := ""
	switch {
	case leaves(r, s, f.Finished):
		reason = "its server was taken away"
	case r.suspended && r.cause == 0 && !(s.Lead && f.Finished):
		reason = "paused: it goes on when it is started again"
	case s.Lead:
		r.state, r.why, r.at = state, reason, f.At
		r.usage.ExitCode, r.usage.Reason = f.Exit, reason
	case r.cause != 0:
	case r.leadGone(), r.programs[0].Base().lost:
		reason = ""
	case state == scheduler.Failed:
		fails = PartName(s.part) + ": " + reason
	}
	j.mu.Unlock()
	shut(reason)
	if fails != "" {
		j.partFailed(r, s, fails)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	s.done = true
	j.settle(r)
	close(s.Over) // so that a loss that waits for it comes after the end of its job
}

// failed is why one of the parts that the job still counts on failed; empty when none has. mu must be held.
func (r *RunningJob[P]) failed() string {
	for _, p := range r.programs {
		if why := p.Base().failed; why != "" {
			return why
		}
	}
	return ""
}

// partFailed gives notice of a part that failed by itself, if the job may be able to do without, and ends the job
// otherwise.
func (j *Jobs[P]) partFailed(r *RunningJob[P], s *JobState, why string) {
	j.mu.Lock()
	s.failed = why
	spare := slices.ContainsFunc(j.jobs[r.number].Roles, func(role scheduler.Role) bool {
		return role.Name == s.part.Role && role.Elastic && !role.Vital
	})
	if spare {
		j.tell(scheduler.Notice{
			Kind: scheduler.PartEnded, Job: r.number, At: j.Now(), Role: s.part.Role, Task: s.part.Task, Reason: why,
		})
	}
	j.mu.Unlock()
	if !spare {
		j.terminate(r, scheduler.Failed, why)
	}
}

// leaves reports whether a program ended because its node is taken away. mu must be held.
func leaves[P RunningProgram](r *RunningJob[P], s *JobState, finished bool) bool {
	return s.lost && r.cause == 0 && !finished
}

// judge returns how a program of the job ended, and why if it did not finish. mu must be held.
func (r *RunningJob[P]) judge(f Fate) (scheduler.State, string) {
	switch {
	case r.cause != 0 && !(r.failed() != "" && f.Finished && f.Output == nil): // it may have done its work all the same
		return r.cause, r.reason
	case f.Output != nil:
		return scheduler.Failed, f.Output.Error()
	case !f.Finished:
		return scheduler.Failed, f.Why
	}
	return scheduler.Finished, ""
}

// settle ends a job when nothing is left of its programs. One whose first program ended because its node is to be
// taken away is revoked by that. mu must be held.
func (j *Jobs[P]) settle(r *RunningJob[P]) {
	if r.done || slices.ContainsFunc(r.programs, func(p P) bool { return !p.Base().done }) {
		return
	}
	if r.suspended && r.state == 0 {
		j.left(r)
		return
	}
	if lead := r.programs[0].Base(); r.state == 0 && !r.quiet {
		if lead.taken { // it is revoked by the loss
			return
		}
		r.done = true
		j.open--
		a := r.came()
		j.tell(scheduler.Notice{
			Kind: scheduler.JobEnded, Job: r.number, At: j.Now(), State: scheduler.Stopped, Reason: "its server is taken away",
			Revoked: true, Node: lead.part.Node, Attempt: &a,
		})
		return
	}
	r.done = true
	j.open--
	if r.quiet {
		return
	}
	at := j.Now()
	if len(r.programs) == 1 && !r.at.IsZero() {
		at = r.at.Sub(j.zero)
	}
	n := scheduler.Notice{Kind: scheduler.JobEnded, Job: r.number, At: at, State: r.state, Reason: r.why}
	if j.opts.Saves {
		a := r.came()
		n.Attempt = &a
	}
	j.tell(n)
}

// came is the progress of an attempt so far. mu must be held.
func (r *RunningJob[P]) came() scheduler.Attempt {
	return r.saves.Attempt(r.used(time.Now()) - r.before)
}
