package launch

import (
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// Stop ends a job: SIGTERM, then SIGKILL after the grace. A job with a failed part ends as failed.
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
	if failed != "" { // the scheduler has found that the job cannot continue without it
		j.terminate(r, scheduler.Failed, failed)
	} else {
		j.terminate(r, scheduler.Stopped, "stopped")
	}
	return nil
}

// terminate ends a job for a cause: SIGTERM, then SIGKILL after the grace.
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

// ask sends SIGTERM to programs of a job, and SIGKILL at an instant. If ask is called again, the earlier instant is
// kept.
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

// kill kills programs at once.
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

// Asked reports whether tfexp ends a program, or its node is taken away.
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

// Deadline returns the instant after which remaining processes of an exited program are killed.
func (j *Jobs[P]) Deadline(p P) time.Time {
	j.mu.Lock()
	defer j.mu.Unlock()
	return p.Base().deadline
}

// Part returns the part of a job that a program is, with its present resources.
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

// Programs returns the programs of a job's last attempt. The first is the leading one.
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

// Runs records that a program starts to run only now. If it is the leading program, the service time of its job
// starts now.
func (j *Jobs[P]) Runs(p P) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if r := j.live[p.Base().Number]; r != nil && !r.paused && len(r.programs) > 0 && r.programs[0] == p {
		r.since = time.Now()
	}
}

// Fate says how a program ended, as seen without the actions of tfexp.
type Fate struct {
	// At is the instant of the end; zero means now.
	At time.Time
	// Finished says that the program has done all of its work: exit status 0. Otherwise Why describes the end.
	Finished bool
	Why      string
	// Exit is the exit status; -1 if it has none.
	Exit int
	// Output is the reason why the output is incomplete; nil if it is complete.
	Output error
	// Remark is appended to the reason why the job ended.
	Remark string
	// Left is the number of processes that the program left running, and that were ended.
	Left int
	// User, System and MaxRSS are as in Usage.
	User, System time.Duration
	MaxRSS       int64
}

// Exited records that a program has exited; processes that it started may still run. When the leading program exits,
// the job ends. Its parameter servers are then ended too, because they would wait forever.
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

// of returns the attempt of a program. The attempt is in live before Attend is called for its programs.
func (j *Jobs[P]) of(p P) *RunningJob[P] {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.live[p.Base().Number]
}

// Ended records that all processes of a program are gone. After the last program of a job, it reports the end of the
// job. It calls shut with the last line for the log: the reason why the program did not finish, or "".
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
	early := r.suspended && s.Lead && f.Finished
	j.mu.Unlock()
	if early && j.opts.Warn != nil {
		j.opts.Warn(r.number, pausedCode, "it exited with status 0 while it was paused, so it counts as finished; a "+
			"program with work left must exit with status 143 on SIGTERM")
	}
	shut(reason)
	if fails != "" {
		j.partFailed(r, s, fails)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	s.done = true
	j.settle(r)
	close(s.Over) // after the job's end is recorded, so that a loss comes after it
}

// failed returns why a part failed that the job still needs; empty if no part has. mu must be held.
func (r *RunningJob[P]) failed() string {
	for _, p := range r.programs {
		if why := p.Base().failed; why != "" {
			return why
		}
	}
	return ""
}

// partFailed reports a failed part if the job may continue without it. Otherwise it ends the job.
func (j *Jobs[P]) partFailed(r *RunningJob[P], s *JobState, why string) {
	j.mu.Lock()
	s.failed = why
	spare := j.jobs[r.number].Spares(s.part.Role)
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

// judge returns the state of the job after a program ended, and the reason if the job did not finish. mu must be
// held.
func (r *RunningJob[P]) judge(f Fate) (scheduler.State, string) {
	switch {
	case r.cause != 0 && !(r.failed() != "" && f.Finished && f.Output == nil):
		return r.cause, r.reason
	case f.Output != nil:
		return scheduler.Failed, f.Output.Error()
	case !f.Finished:
		return scheduler.Failed, f.Why
	}
	return scheduler.Finished, ""
}

// settle ends a job after all of its programs have ended. If the leading program ended because its node is to be
// taken away, the job is revoked. mu must be held.
func (j *Jobs[P]) settle(r *RunningJob[P]) {
	if r.done || slices.ContainsFunc(r.programs, func(p P) bool { return !p.Base().done }) {
		return
	}
	if r.suspended && r.state == 0 {
		j.left(r)
		return
	}
	if lead := r.programs[0].Base(); r.state == 0 && !r.quiet {
		if lead.taken { // the loss of the node revokes it
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

// came returns the progress of an attempt so far. mu must be held.
func (r *RunningJob[P]) came() scheduler.Attempt {
	return r.saves.Attempt(r.used(time.Now()) - r.before)
}
