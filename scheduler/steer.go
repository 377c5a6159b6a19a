package scheduler

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler/trace"
)

// Steering joins controllers to the jobs of a run. A controller is asked when its job
// arrives, and at each of its reports; its decisions are carried out at once, before the
// dispatch of the instant, and each is an event of the trace.
type Steering struct {
	// Controllers has the one that stands beside each job; nil for none.
	Controllers []Controller
	// Settings are those with which each job starts.
	Settings [][]Setting
	// Helm reaches the programs.
	Helm Helm
}

// Helm carries out what controllers decide about programs, through the engine.
type Helm interface {
	// Follow asks for a notice of every report (Notice.Progress) of the jobs for which
	// it is true, each an instant of its own. It is called before the first job starts.
	Follow(jobs []bool)
	// Adopt makes these all of the settings of a job, from its next start on; restart
	// asks for that start. A program that runs and can take them on is told, and needs
	// none. The error says why no job can have such settings, and changes nothing.
	Adopt(job int, settings []Setting, restart bool) (Adopted, error)
	// Deepen asks a program for another layer in a block of its network. It is asked
	// once, when the job starts or else at once.
	Deepen(job, block int) error
	// Restart asks a running job to save its work and to end, so as to be started anew.
	// The notice JobEnded follows, with the state Stopped.
	Restart(job int) error
}

// Meter is an engine that measures the service time of its jobs, of all attempts: a program may begin long after the
// decision to start it, and its budget is counted from there.
type Meter interface {
	Used(job int) time.Duration
}

// Adopted is what settings come to for the scheduler.
type Adopted struct {
	// Threads and Roles are the request of the job with the settings.
	Threads int
	Roles   []Role
	// Restart says that the program takes the settings on only when it starts anew.
	Restart bool
}

// steered is what the loop knows of a job that a controller stands beside.
type steered struct {
	settings []Setting
	// leaving is set while the job ends its attempt, to be started anew with next.
	leaving   bool
	next      Adopted
	restarted bool
	// unproven is set from a change of settings to the next report.
	unproven bool
	// refused are settings that the job cannot have, to be told with the next report.
	refused []Setting
	// done is set when the controller has stopped the job, and says why.
	done string
}

// steer prepares the controllers of a run.
func (l *loop) steer() error {
	if l.Steering == nil {
		return nil
	}
	if len(l.Steering.Controllers) != len(l.Jobs) || l.Steering.Helm == nil {
		return fmt.Errorf("controllers: %d jobs, but the controllers of %d, or no way to reach them",
			len(l.Jobs), len(l.Steering.Controllers))
	}
	l.steered = make([]*steered, len(l.Jobs))
	follow := make([]bool, len(l.Jobs))
	for j, c := range l.Steering.Controllers {
		if follow[j] = c != nil; follow[j] {
			l.steered[j] = &steered{}
			if l.Steering.Settings != nil {
				l.steered[j].settings = l.Steering.Settings[j]
			}
		}
	}
	l.Jobs = append([]Job(nil), l.Jobs...) // their requests change
	l.Steering.Helm.Follow(follow)
	return nil
}

// report takes a report of a job that a controller stands beside.
func (l *loop) report(n *Notice) error {
	if n.Job < 0 || n.Job >= len(l.lives) {
		return fmt.Errorf("engine: progress of a job with number %d, which does not exist", n.Job)
	}
	return l.ask(int32(n.Job), n.Progress)
}

// ask asks the controller of a job, and carries out what it decides. p is what the job
// has reported; nil before its first start.
func (l *loop) ask(j int32, p *trace.Progress) error {
	if l.steered == nil || l.steered[j] == nil || l.stopping {
		return nil
	}
	s, f := l.steered[j], &l.lives[j]
	if s.leaving || s.done != "" || p != nil && f.State != Running && f.State != Paused {
		return nil
	}
	r := l.reportOf(j)
	if p != nil {
		r.Epoch, r.Step, r.Loss, r.Accuracy, r.Seconds = p.Epoch, p.Step, p.Loss, p.Accuracy, p.Seconds
		r.Took, r.Refused = p.Took, append(p.Refused, s.refused...)
		r.Impossible, s.refused, s.unproven = s.refused != nil, nil, false
	}
	s.restarted = false
	a := l.Steering.Controllers[j].Decide(r)
	if a.Nothing() && a.Reason == "" {
		return nil
	}
	return l.obey(j, r, a)
}

// reportOf returns a report of a job as it stands.
func (l *loop) reportOf(j int32) Report {
	s, f := l.steered[j], &l.lives[j]
	r := Report{
		Job: int(j), Loss: math.NaN(), Accuracy: math.NaN(), Seconds: math.NaN(), Left: trace.NoBudget,
		Used: f.Service, Allotment: trace.Allotment{Threads: int(f.request), GPUs: l.Jobs[j].GPUs}, Settings: s.settings,
		Restarted: s.restarted,
	}
	if f.State == Running {
		r.Used = l.service(j)
		if m, ok := l.Engine.(Meter); ok {
			r.Used = m.Used(int(j))
		}
		r.Allotment = trace.Allotment{Threads: f.grant.Cores.Count(), GPUs: f.grant.GPUs.Count()}
	}
	if b := l.Jobs[j].Budget; b != nil {
		r.Left = max(*b-r.Used, 0)
	}
	return r
}

// obey carries out an action, and records it before what follows from it.
func (l *loop) obey(j int32, r Report, a Action) error {
	s, f := l.steered[j], &l.lives[j]
	c := &trace.Control{Report: r, Action: a, Settings: s.settings}
	var to Adopted
	if len(a.Settings) > 0 {
		wanted := trace.With(s.settings, a.Settings)
		var err error
		if to, err = l.Steering.Helm.Adopt(int(j), wanted, a.Restart && l.begun(j)); err != nil {
			c.Refused = err.Error()
			for _, x := range a.Settings {
				s.refused = append(s.refused, Setting{Name: x.Name, Value: c.Refused})
			}
		} else {
			s.unproven = true
			s.settings, c.Settings, c.Restart = wanted, wanted, to.Restart && l.begun(j)
		}
	}
	if a.Deepen != nil && c.Refused == "" {
		if err := l.Steering.Helm.Deepen(int(j), *a.Deepen); err != nil {
			c.Refused = err.Error()
		}
	}
	l.guard.News()
	l.emit(Event{Kind: Decided, Job: int(j), Cores: l.holds(j), GPUs: l.holdsGPUs(j), Control: c})
	if c.Refused != "" {
		return nil
	}
	switch {
	case len(a.Settings) == 0:
	case c.Restart:
		s.leaving, s.next = true, to
		if err := l.Steering.Helm.Restart(int(j)); err != nil {
			return fmt.Errorf("restart job %q: %w", l.Jobs[j].Name, err)
		}
	case !l.begun(j):
		l.reconfigure(j, to, nil)
	case len(to.Roles) > 0:
		for _, r := range to.Roles {
			if i := l.roleOf(j, r.Name); i >= 0 && l.wanted(j, i) != r.Count {
				if err := l.askParts(j, r.Name, r.Count); err != nil {
					return err
				}
			}
		}
	case to.Threads != int(f.asked):
		l.request(j, int32(to.Threads))
	}
	if a.Allotment != nil && a.Allotment.Threads > 0 && !s.leaving {
		l.request(j, int32(a.Allotment.Threads))
	}
	if a.Stop {
		return l.satisfy(j, a.Reason)
	}
	return nil
}

// begun reports whether a job has started and not ended.
func (l *loop) begun(j int32) bool {
	s := l.lives[j].State
	return s == Running || s == Paused
}

// satisfy ends a job that its controller stops: it is finished with what it has learned,
// or stopped where it has not begun.
func (l *loop) satisfy(j int32, reason string) error {
	s, f := l.steered[j], &l.lives[j]
	if s.done = reason; reason == "" {
		s.done = "its controller stopped it"
	}
	if l.begun(j) {
		if err := l.Engine.Stop(int(j)); err != nil {
			return fmt.Errorf("stop job %q: %w", l.Jobs[j].Name, err)
		}
		return nil
	}
	l.settleTime(j)
	f.State = Stopped
	l.close(j, Stop, s.done)
	return nil
}

// steersOn takes the end of an attempt that a controller has asked for, and reports
// whether it was one. A job that has done all of its work meanwhile is over.
func (l *loop) steersOn(j int32, e *Notice) bool {
	if l.steered == nil || l.steered[j] == nil || l.stopping {
		return false
	}
	s := l.steered[j]
	if e.State == Failed && s.unproven && s.done == "" && l.recover(j, e.Reason) {
		s.leaving, e.State = true, Stopped
	}
	if e.State != Stopped {
		return false
	}
	if s.done != "" {
		e.State, e.Reason = Finished, s.done
		return false
	}
	if !s.leaving {
		return false
	}
	f := &l.lives[j]
	s.leaving, s.restarted = false, true
	f.Reconfigurations++
	l.nodes.Vacate(j, f.grant.Cores, l.now)
	l.unbook(j)
	f.State, f.grant, f.timer, f.level = Queued, Grant{}, Never, int32(max(l.Jobs[j].Priority, 0))
	l.reconfigure(j, s.next, e.Attempt)
	l.wait(j)
	return true
}

// recover asks the controller of a job that has failed with new settings for others, and
// reports whether it is started anew with them.
func (l *loop) recover(j int32, reason string) bool {
	s, r := l.steered[j], l.reportOf(j)
	r.Crashed, r.Used = reason, l.lives[j].Service
	a := l.Steering.Controllers[j].Decide(r)
	if len(a.Settings) == 0 {
		return false
	}
	wanted := trace.With(s.settings, a.Settings)
	to, err := l.Steering.Helm.Adopt(int(j), wanted, true)
	if err != nil {
		return false
	}
	l.emit(Event{Kind: Decided, Job: int(j), Cores: l.holds(j), GPUs: l.holdsGPUs(j), Control: &trace.Control{
		Report: r, Action: a, Settings: wanted, Restart: true,
	}})
	s.settings, s.next = wanted, to
	return true
}

// reconfigure gives a job that waits to be started, or is about to, another request.
func (l *loop) reconfigure(j int32, to Adopted, attempt *Attempt) {
	f, job := &l.lives[j], &l.Jobs[j]
	if f.State == Queued && attempt == nil && to.Threads == job.Threads && slices.Equal(to.Roles, job.Roles) && f.Reconfigurations == 0 {
		return
	}
	job.Threads, job.Roles = to.Threads, to.Roles
	job.MinThreads = min(job.MinThreads, job.Threads)
	f.request, f.asked = int32(to.Threads), int32(to.Threads)
	delete(l.parts.asked, j)
	l.emit(Event{Kind: Reconfigure, Job: int(j), Request: to.Threads, Roles: to.Roles, Attempt: attempt})
}
