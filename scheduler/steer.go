package scheduler

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler/control"
)

// steering is the extension of runs with controllers.
type steering struct {
	noHooks
	l    *loop
	desk *controllerHost
}

// steer prepares the controllers of a run.
func (l *loop) steer() error {
	if l.Steering == nil {
		return nil
	}
	l.ownJobs() // their requests change
	desk, err := newControllerHost(l.Steering, l.jobs.Len(), kernelOfControllers{l})
	l.extensions = append(l.extensions, steering{l: l, desk: desk})
	return err
}

func (c steering) arrived(j *jobState) error { return c.desk.Ask(j.number, nil) }

// notice takes a report of a job that has a controller.
func (c steering) notice(n *Notice) (taken bool, err error) {
	if n.Kind != JobProgress || n.Progress == nil {
		return false, nil
	}
	if n.Job < 0 || n.Job >= c.l.jobs.Len() {
		return true, fmt.Errorf("engine: progress of a job with number %d, which does not exist", n.Job)
	}
	return true, c.desk.Ask(int32(n.Job), n.Progress)
}

// begun reports whether a job has started and not ended.
func (l *loop) begun(j *jobState) bool {
	s := j.state
	return s == Running || s == Paused
}

// attemptEnded handles the end of an attempt, and reports whether a controller asked
// for that end. If so, the job waits for its restart.
func (c steering) attemptEnded(j *jobState, e *Notice) bool {
	l := c.l
	next, anew := c.desk.Ended(j.number, e)
	if !anew {
		return false
	}
	l.result(j).Reconfigurations++
	l.extensions.changed(j, leaves, 0)
	l.unbook(j)
	j.state, j.grant, j.timer, j.level = Queued, Grant{}, Never, int32(max(j.job.Priority, 0))
	l.reconfigure(j, next, e.Attempt)
	l.wait(j)
	return true
}

// reconfigure gives a job that waits to be started, or is about to, another request.
func (l *loop) reconfigure(j *jobState, to Adopted, attempt *Attempt) {
	job := j.job
	same := to.Threads == job.Threads && slices.Equal(to.Roles, job.Roles())
	if same && j.state == Queued && attempt == nil && l.result(j).Reconfigurations == 0 {
		return
	}
	job.Threads, job.Own().Roles = to.Threads, to.Roles
	j.plain = job.Plain()
	job.MinThreads = min(job.MinThreads, job.Threads)
	j.request, j.asked = int32(to.Threads), int32(to.Threads)
	l.roles.Withdraw(j.number)
	l.emit(Event{Kind: Reconfigure, Job: int(j.number), Request: to.Threads, Roles: to.Roles, Attempt: attempt})
}

// kernelOfControllers is the loop as controllers see it.
type kernelOfControllers struct{ *loop }

func (l kernelOfControllers) Name(j int32) string             { return l.job(j).Name }
func (l kernelOfControllers) Begun(j int32) bool              { return l.begun(l.state(j)) }
func (l kernelOfControllers) Reconfigure(j int32, to Adopted) { l.reconfigure(l.state(j), to, nil) }
func (l kernelOfControllers) Request(j, cores int32)          { l.request(l.state(j), cores) }

func (l kernelOfControllers) Facts(number int32) control.Report {
	j := l.state(number)
	r := control.Report{
		Job: int(number), Left: control.NoBudget, Used: l.Job(number).Times().Service,
		Allotment: control.Allotment{Threads: int(j.request), GPUs: j.job.GPUs},
	}
	if j.state == Running {
		if m, ok := l.Engine.(serviceMeter); ok {
			r.Used = m.Used(int(number))
		}
		r.Allotment = control.Allotment{Threads: j.grant.Cores.Count(), GPUs: j.grant.GPUs.Count()}
	}
	if b := j.job.Budget(); b != nil {
		r.Left = max(*b-r.Used, 0)
	}
	return r
}

func (l kernelOfControllers) Decided(number int32, c *control.Decision) {
	j := l.state(number)
	l.detector.Progressed()
	l.emit(Event{Kind: Decided, Job: int(number), Cores: l.held(j).Cores, GPUs: l.held(j).GPUs, Control: c})
}

func (l kernelOfControllers) Demand(number int32, to Adopted) error {
	j := l.state(number)
	if len(to.Roles) == 0 {
		if to.Threads != int(j.asked) {
			l.request(j, int32(to.Threads))
		}
		return nil
	}
	for _, r := range to.Roles {
		if i := roleOf(j.job, r.Name); i >= 0 && l.roles.Wanted(number, i, j.job) != r.Count {
			if err := l.askParts(j, r.Name, r.Count); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l kernelOfControllers) Satisfy(number int32, reason string) error {
	j := l.state(number)
	if l.begun(j) {
		if err := l.Engine.Stop(int(number)); err != nil {
			return fmt.Errorf("stop job %q: %w", j.job.Name, err)
		}
		return nil
	}
	l.settleTime(j)
	j.state = Stopped
	l.close(j, Stop, reason)
	return nil
}

// Steering joins controllers to the jobs of a run: it asks them when their jobs arrive
// and report, and has their decisions carried out by the programs (Reconfigurer) and by the
// scheduler (Kernel).

// Steering joins controllers to the jobs of a run. A controller is asked when its job
// arrives, and at each of its reports; its decisions are carried out at once, before the
// dispatch of the instant, and each is an event of the trace.
type Steering struct {
	// Controllers has the controller of each job; nil for none.
	Controllers []control.Controller
	// Settings are the initial settings of each job.
	Settings [][]control.Setting
	// Reconfigurer reaches the programs.
	Reconfigurer Reconfigurer
}

// Reconfigurer carries out decisions of controllers about programs, through the engine.
type Reconfigurer interface {
	// Follow asks for a notice of every report (Notice.Progress) of the jobs for which
	// it is true, each at a separate instant. It is called before the first job starts.
	Follow(jobs []bool)
	// Adopt makes these all of the settings of a job, from its next start on; restart
	// asks for that start. A running program that can change them receives them, and
	// needs no restart. The error says why no job can have such settings; nothing has
	// changed then.
	Adopt(job int, settings []control.Setting, restart bool) (Adopted, error)
	// Deepen asks a program for another layer in a block of its network. It is asked
	// once, when the job starts or else at once.
	Deepen(job, block int) error
	// Restart asks a running job to save its work and to end, for a restart. The notice
	// JobEnded follows, with the state Stopped.
	Restart(job int) error
}

// serviceMeter is an engine that measures the service time of its jobs, of all attempts: a program may begin long after the
// decision to start it, and its budget is counted from there.
type serviceMeter interface {
	Used(job int) time.Duration
}

// Adopted is the effect of settings on the scheduler.
type Adopted struct {
	// Threads and Roles are the request of the job with the settings.
	Threads int
	Roles   []Role
	// Restart says that the program needs a restart to use the settings.
	Restart bool
}

// controllerKernel has the scheduler's actions for controllers.
type controllerKernel interface {
	// Name returns the name of a job.
	Name(job int32) string
	// Begun reports whether a job has started and not ended.
	Begun(job int32) bool
	// Stopping reports whether the run is broken off or closed.
	Stopping() bool
	// Facts returns the present report of a job: its used service time, its limits and
	// its remaining budget.
	Facts(job int32) control.Report
	// Decided records a decision.
	Decided(job int32, c *control.Decision)
	// Reconfigure gives a job another request that has not begun.
	Reconfigure(job int32, to Adopted)
	// Request changes the request of a job in cores; Demand changes it to the demand
	// of settings, including parts.
	Request(job, cores int32)
	Demand(job int32, to Adopted) error
	// Satisfy ends a job that its controller stops.
	Satisfy(job int32, reason string) error
}

// controllerHost runs the controllers of one run. A nil host has none.
type controllerHost struct {
	Steering
	kernel controllerKernel
	jobs   []*controlledJob // by job; nil for one without a controller
}

// controlledJob is the state of a job that has a controller.
type controlledJob struct {
	settings []control.Setting
	// leaving is set while the job ends its attempt, to restart with next.
	leaving   bool
	next      Adopted
	restarted bool
	// unproven is set from a change of settings to the next report.
	unproven bool
	// refused are settings that the job cannot have; the next report names them.
	refused []control.Setting
	// done is set when the controller has stopped the job, and says why.
	done string
}

// newControllerHost returns the host of a run's controllers, and asks for the reports of its jobs.
func newControllerHost(s *Steering, jobs int, k controllerKernel) (*controllerHost, error) {
	if len(s.Controllers) != jobs || s.Reconfigurer == nil {
		return nil, fmt.Errorf("controllers: %d jobs, but the controllers of %d, or no way to reach them",
			jobs, len(s.Controllers))
	}
	d := &controllerHost{Steering: *s, kernel: k, jobs: make([]*controlledJob, jobs)}
	follow := make([]bool, jobs)
	for j, c := range s.Controllers {
		if follow[j] = c != nil; follow[j] {
			d.jobs[j] = &controlledJob{}
			if s.Settings != nil {
				d.jobs[j].settings = s.Settings[j]
			}
		}
	}
	s.Reconfigurer.Follow(follow)
	return d, nil
}

// Ask asks the controller of a job, and carries out its decision. p is the job's
// report; nil before its first start. begun says that the job has started and not
// ended.
func (d *controllerHost) Ask(j int32, p *control.Progress) error {
	if d == nil || d.jobs[j] == nil || d.kernel.Stopping() {
		return nil
	}
	s := d.jobs[j]
	if s.leaving || s.done != "" || p != nil && !d.kernel.Begun(j) {
		return nil
	}
	r := d.report(j)
	if p != nil {
		r.Epoch, r.Step, r.Loss, r.Accuracy, r.Seconds = p.Epoch, p.Step, p.Loss, p.Accuracy, p.Seconds
		r.Took, r.Refused = p.Took, append(p.Refused, s.refused...)
		r.Impossible, s.refused, s.unproven = s.refused != nil, nil, false
	}
	s.restarted = false
	a := d.Controllers[j].Decide(r)
	if a.Nothing() && a.Reason == "" {
		return nil
	}
	return d.obey(j, r, a)
}

// report returns the present report of a job.
func (d *controllerHost) report(j int32) control.Report {
	r := d.kernel.Facts(j)
	r.Loss, r.Accuracy, r.Seconds = math.NaN(), math.NaN(), math.NaN()
	r.Settings, r.Restarted = d.jobs[j].settings, d.jobs[j].restarted
	return r
}

// obey carries out an action, and records it before its consequences.
func (d *controllerHost) obey(j int32, r control.Report, a control.Action) error {
	s, c := d.jobs[j], &control.Decision{Report: r, Action: a, Settings: d.jobs[j].settings}
	begun := d.kernel.Begun(j)
	to, err := d.adopt(j, a, begun, c)
	if err == nil && a.Deepen != nil {
		err = d.Reconfigurer.Deepen(int(j), *a.Deepen)
	}
	if err != nil {
		c.Refused = err.Error()
	}
	d.kernel.Decided(j, c)
	if err != nil {
		return nil
	}
	switch {
	case len(a.Settings) == 0:
	case c.Restart:
		s.leaving, s.next = true, to
		err = d.Reconfigurer.Restart(int(j))
		if err != nil {
			return fmt.Errorf("restart job %q: %w", d.kernel.Name(j), err)
		}
	case !begun:
		d.kernel.Reconfigure(j, to)
	default:
		if err := d.kernel.Demand(j, to); err != nil {
			return err
		}
	}
	if a.Allotment != nil && a.Allotment.Threads > 0 && !s.leaving {
		d.kernel.Request(j, int32(a.Allotment.Threads))
	}
	if !a.Stop {
		return nil
	}
	if s.done = a.Reason; s.done == "" {
		s.done = "its controller stopped it"
	}
	return d.kernel.Satisfy(j, s.done)
}

// adopt gives a job the settings of an action, if there are any. The next report names
// the settings that the job cannot have.
func (d *controllerHost) adopt(j int32, a control.Action, begun bool, c *control.Decision) (Adopted, error) {
	if len(a.Settings) == 0 {
		return Adopted{}, nil
	}
	s := d.jobs[j]
	wanted := control.With(s.settings, a.Settings)
	to, err := d.Reconfigurer.Adopt(int(j), wanted, a.Restart && begun)
	if err != nil {
		for _, x := range a.Settings {
			s.refused = append(s.refused, control.Setting{Name: x.Name, Value: err.Error()})
		}
		return to, err
	}
	s.unproven = true
	s.settings, c.Settings, c.Restart = wanted, wanted, to.Restart && begun
	return to, nil
}

// Ended handles the end of an attempt. It reports whether a controller asked for it,
// and the settings for the restart. A job that has done all of its work meanwhile is
// over. A job stopped by its controller is finished, with its model so far.
func (d *controllerHost) Ended(j int32, e *Notice) (next Adopted, anew bool) {
	if d == nil || d.jobs[j] == nil || d.kernel.Stopping() {
		return Adopted{}, false
	}
	s := d.jobs[j]
	if e.State == Failed && s.unproven && s.done == "" && d.recover(j, e.Reason) {
		s.leaving, e.State = true, Stopped
	}
	if e.State != Stopped {
		return Adopted{}, false
	}
	if s.done != "" {
		e.State, e.Reason = Finished, s.done
		return Adopted{}, false
	}
	if !s.leaving {
		return Adopted{}, false
	}
	s.leaving, s.restarted = false, true
	return s.next, true
}

// recover asks the controller of a job that failed with new settings for other settings.
// It reports whether the job restarts with them.
func (d *controllerHost) recover(j int32, reason string) bool {
	s, r := d.jobs[j], d.report(j)
	r.Crashed = reason
	a := d.Controllers[j].Decide(r)
	if len(a.Settings) == 0 {
		return false
	}
	wanted := control.With(s.settings, a.Settings)
	to, err := d.Reconfigurer.Adopt(int(j), wanted, true)
	if err != nil {
		return false
	}
	d.kernel.Decided(j, &control.Decision{Report: r, Action: a, Settings: wanted, Restart: true})
	s.settings, s.next = wanted, to
	return true
}
