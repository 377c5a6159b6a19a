package scheduler

import (
	"fmt"
	"slices"
)

// steer prepares the controllers of a run.
func (l *loop) steer() (err error) {
	if l.Steering != nil {
		l.Jobs = append([]Job(nil), l.Jobs...) // their requests change
		l.desk, err = NewSteeringDesk(l.Steering, len(l.Jobs), steered{l})
	}
	return err
}

// report takes a report of a job that a controller stands beside.
func (l *loop) report(n *Notice) error {
	if n.Job < 0 || n.Job >= len(l.Jobs) {
		return fmt.Errorf("engine: progress of a job with number %d, which does not exist", n.Job)
	}
	return l.desk.Ask(int32(n.Job), n.Progress)
}

// begun reports whether a job has started and not ended.
func (l *loop) begun(j int32) bool {
	s := l.life(j).state
	return s == Running || s == Paused
}

// steersOn takes the end of an attempt that a controller has asked for, and reports
// whether it was one: the job waits to be started anew.
func (l *loop) steersOn(j int32, e *Notice) bool {
	next, anew := l.desk.Ended(j, e)
	if !anew {
		return false
	}
	f := l.life(j)
	l.result(j).Reconfigurations++
	l.nodes.Vacate(j, f.grant.Cores, l.now)
	l.unbook(j)
	f.state, f.grant, f.timer, f.level = Queued, Grant{}, Never, int32(max(l.Jobs[j].Priority, 0))
	l.reconfigure(j, next, e.Attempt)
	l.wait(j)
	return true
}

// reconfigure gives a job that waits to be started, or is about to, another request.
func (l *loop) reconfigure(j int32, to Adopted, attempt *Attempt) {
	f, job := l.life(j), &l.Jobs[j]
	if f.state == Queued && attempt == nil && to.Threads == job.Threads && slices.Equal(to.Roles, job.Roles()) && l.result(j).Reconfigurations == 0 {
		return
	}
	job.Threads, job.Own().Roles = to.Threads, to.Roles
	f.plain = job.Plain()
	job.MinThreads = min(job.MinThreads, job.Threads)
	f.request, f.asked = int32(to.Threads), int32(to.Threads)
	l.parts.Withdraw(j)
	l.emit(Event{Kind: Reconfigure, Job: int(j), Request: to.Threads, Roles: to.Roles, Attempt: attempt})
}

// steered is the loop as controllers see it: a steering.Kernel.
type steered struct{ *loop }

func (l steered) Name(j int32) string             { return l.Jobs[j].Name }
func (l steered) Begun(j int32) bool              { return l.begun(j) }
func (l steered) Stopping() bool                  { return l.stopping }
func (l steered) Reconfigure(j int32, to Adopted) { l.reconfigure(j, to, nil) }
func (l steered) Request(j, cores int32)          { l.request(j, cores) }

func (l steered) Facts(j int32) Report {
	f := l.life(j)
	r := Report{
		Job: int(j), Left: NoBudget, Used: f.service,
		Allotment: JobAllotment{Threads: int(f.request), GPUs: l.Jobs[j].GPUs},
	}
	if f.state == Running {
		r.Used = l.service(j)
		if m, ok := l.Engine.(SteeringMeter); ok {
			r.Used = m.Used(int(j))
		}
		r.Allotment = JobAllotment{Threads: f.grant.Cores.Count(), GPUs: f.grant.GPUs.Count()}
	}
	if b := l.Jobs[j].Budget(); b != nil {
		r.Left = max(*b-r.Used, 0)
	}
	return r
}

func (l steered) Decided(j int32, c *Control) {
	l.guard.News()
	l.emit(Event{Kind: Decided, Job: int(j), Cores: l.held(j).Cores, GPUs: l.held(j).GPUs, Control: c})
}

func (l steered) Demand(j int32, to Adopted) error {
	if len(to.Roles) == 0 {
		if to.Threads != int(l.life(j).asked) {
			l.request(j, int32(to.Threads))
		}
		return nil
	}
	for _, r := range to.Roles {
		if i := RoleOf(&l.Jobs[j], r.Name); i >= 0 && l.parts.Wanted(j, i, &l.Jobs[j]) != r.Count {
			if err := l.askParts(j, r.Name, r.Count); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l steered) Satisfy(j int32, reason string) error {
	if l.begun(j) {
		if err := l.Engine.Stop(int(j)); err != nil {
			return fmt.Errorf("stop job %q: %w", l.Jobs[j].Name, err)
		}
		return nil
	}
	l.settleTime(j)
	l.life(j).state = Stopped
	l.close(j, Stop, reason)
	return nil
}
