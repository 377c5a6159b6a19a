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
	host *controllerHost
}

// steer adds the extension steering if the run has controllers.
func (l *loop) steer() error {
	if l.Steering == nil {
		return nil
	}
	l.ownJobs() // controllers change requests of jobs
	host, err := newControllerHost(l.Steering, l.jobs.Len(), kernelOfControllers{l})
	l.extensions = append(l.extensions, steering{l: l, host: host})
	return err
}

func (c steering) arrived(j *jobState) error { return c.host.Ask(j.number, nil) }

// notice passes a report of a job to the job's controller.
func (c steering) notice(n *Notice) (taken bool, err error) {
	if n.Kind != JobProgress || n.Progress == nil {
		return false, nil
	}
	if n.Job < 0 || n.Job >= c.l.jobs.Len() {
		return true, fmt.Errorf("engine reported progress of job number %d, which does not exist", n.Job)
	}
	return true, c.host.Ask(int32(n.Job), n.Progress)
}

// begun reports whether a job has started and not ended.
func (l *loop) begun(j *jobState) bool {
	s := j.state
	return s == Running || s == Paused
}

// attemptEnded handles the end of an attempt. It reports whether a controller wanted the job to restart. Such a job
// waits for its next attempt.
func (c steering) attemptEnded(j *jobState, e *Notice) bool {
	l := c.l
	next, anew := c.host.Ended(j.number, e)
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

// reconfigure changes the request of a job that is not running to the request of its new settings.
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

// kernelOfControllers implements controllerKernel.
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

// The controllers of jobs.

// Steering connects controllers with the jobs of a run. A controller is called when its job arrives, and at each
// report of the job. Its decision is carried out at once, before the dispatch of the instant, and recorded as an
// event.
type Steering struct {
	// Controllers has the controller of each job, by number; nil for a job without one.
	Controllers []control.Controller
	// Settings has the initial settings of each job, by number.
	Settings [][]control.Setting
	// Reconfigurer changes the settings of the jobs' programs.
	Reconfigurer Reconfigurer
}

// Reconfigurer is the part of an engine that passes decisions of controllers to programs.
type Reconfigurer interface {
	// Follow makes the engine report all progress of the jobs for which jobs[number] is true. Each report is a
	// notice with its own instant. Follow is called before the first job starts.
	Follow(jobs []bool)
	// Adopt sets all settings of a job from its next start on. restart says that the job will restart for them. A
	// running program that can change the settings gets them at once, and needs no restart. The error says why the
	// job cannot have the settings; then nothing changes.
	Adopt(job int, settings []control.Setting, restart bool) (Adopted, error)
	// Deepen makes a program add a layer to a block of its network, at once or when the job starts.
	Deepen(job, block int) error
	// Restart makes a running job save its work and end. The notice JobEnded follows, with the state Stopped.
	Restart(job int) error
}

// serviceMeter is an engine that measures the service time of its jobs, over all attempts. A program may begin long
// after the decision to start it, and only the time after that counts against its budget.
type serviceMeter interface {
	Used(job int) time.Duration
}

// Adopted says what new settings of a job change for the scheduler.
type Adopted struct {
	// Threads and Roles are the request of the job with the settings.
	Threads int
	Roles   []Role
	// Restart says that the program must restart to use the settings.
	Restart bool
}

// controllerKernel are the methods of the scheduler that a controllerHost needs.
type controllerKernel interface {
	// Name returns the name of a job.
	Name(job int32) string
	// Begun reports whether a job has started and not ended.
	Begun(job int32) bool
	// Stopping reports whether the run is being ended early.
	Stopping() bool
	// Facts returns the used service time of a job, its resources and its remaining budget, as a report.
	Facts(job int32) control.Report
	// Decided records a decision of a controller.
	Decided(job int32, c *control.Decision)
	// Reconfigure changes the request of a job that has not started.
	Reconfigure(job int32, to Adopted)
	// Request changes the requested cores of a job. Demand changes the request to the one of new settings, including
	// the parts of roles.
	Request(job, cores int32)
	Demand(job int32, to Adopted) error
	// Satisfy ends a job, because its controller has stopped it.
	Satisfy(job int32, reason string) error
}

// controllerHost calls the controllers of a run, and carries out their decisions. A nil host does nothing.
type controllerHost struct {
	Steering
	kernel controllerKernel
	jobs   []*controlledJob // by job number; nil for a job without a controller
}

// controlledJob is the state of a job that has a controller.
type controlledJob struct {
	settings []control.Setting
	// leaving says that the attempt is ending; the job restarts with next.
	leaving   bool
	next      Adopted
	restarted bool
	// unproven says that the job has not reported since its settings changed.
	unproven bool
	// refused are settings that the job cannot have. The next report to the controller has them.
	refused []control.Setting
	// done is the reason why the controller has stopped the job; empty while it has not.
	done string
}

// newControllerHost returns the host of a run's controllers, and makes the engine report the progress of their jobs.
func newControllerHost(s *Steering, jobs int, k controllerKernel) (*controllerHost, error) {
	if len(s.Controllers) != jobs || s.Reconfigurer == nil {
		return nil, fmt.Errorf("controllers: the run has %d jobs and %d controllers (nil counts), or no Reconfigurer",
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

// Ask calls the controller of a job, and carries out its decision. p is a report of the job; nil at its arrival.
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

// report returns a report of a job at this instant, without progress.
func (d *controllerHost) report(j int32) control.Report {
	r := d.kernel.Facts(j)
	r.Loss, r.Accuracy, r.Seconds = math.NaN(), math.NaN(), math.NaN()
	r.Settings, r.Restarted = d.jobs[j].settings, d.jobs[j].restarted
	return r
}

// obey records an action of a controller, and carries it out.
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

// adopt gives a job the settings of an action, if the action has any. If the job cannot have them, the next report
// to the controller says so.
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

// Ended handles the end of an attempt. restart reports whether a controller wanted the end, and next has the request
// for the restart. A job that finished meanwhile does not restart. A job that its controller has stopped is
// finished.
func (d *controllerHost) Ended(j int32, e *Notice) (next Adopted, restart bool) {
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

// recover asks the controller of a job for other settings after the job failed with its new settings. It reports
// whether the job restarts with them.
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
