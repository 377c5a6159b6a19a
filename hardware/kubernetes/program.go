package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/tfexp/tfexp/hardware/kubernetes/api"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// program is the program of a job, from a start of the job to its pause or end. If a pod is taken away, or restarted
// with another size, another pod runs the same program.
type program struct {
	launch.JobState
	key  programKey
	log  *launch.Log
	news chan struct{} // an element says that the state has changed
	// service is the Service of a job with roles, and host the name of the program in it; empty for other jobs.
	service, host string

	mu sync.Mutex // guards state
	state
}

// state is the part of a program that several goroutines change.
type state struct {
	part    scheduler.Part
	control string   // content of the control file
	start   string   // labelStart of the pod; for an adopted pod, its UID
	pod     *api.Pod // latest state of the pod; nil before the first
	gone    bool     // the pod was deleted
	at      time.Time
	taken   string // who took its last pod away
	asked   bool   // the program was asked to end
	killed  bool   // its pod is to be ended at once
	adopted bool   // the cluster itself has started its pod
}

// now returns the present state.
func (p *program) now() state {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state
}

// set changes the state.
func (p *program) set(change func(*state)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.state)
	p.nudge()
}

func (p *program) nudge() {
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// see takes the latest state of the program's pod.
func (p *program) see(pod *api.Pod, gone bool) {
	p.set(func(s *state) {
		if pod.Metadata.Labels[labelStart] != s.start && pod.Metadata.UID != s.start { // the pod is an earlier one
			return
		}
		if s.pod == nil || s.pod.Metadata.UID != pod.Metadata.UID || !s.pod.Over() && pod.Over() {
			s.at = time.Now()
		}
		s.pod, s.gone, s.taken = pod, gone, cmp.Or(pod.Disruption(), s.taken)
	})
}

// hands implements launch.ProgramHands for pods.
type hands struct{ e *Engine }

// Begin opens the log of a program. Attend starts its pod, so that a slow API server delays no other job.
func (h hands) Begin(s launch.JobState, part scheduler.Part, again bool, seen func([]byte), fail func(string)) (*program,
	error) {
	p := &program{JobState: s, key: programKey{job: s.Number}, news: make(chan struct{}, 1)}
	if part.Role != "" {
		h.e.mu.Lock()
		p.service = h.e.services[s.Number]
		h.e.mu.Unlock()
		p.key.part, p.host = launch.PartName(part), hostName(part)
	}
	if len(s.Job.Argv) == 0 {
		return nil, errors.New("the job has no program")
	}
	text, err := s.Job.Content(part.Cores.Count(), 0, s.Before, contract.Message{})
	if err != nil {
		return nil, err
	}
	p.part, p.control = part, string(text)
	if p.log, err = launch.OpenLog(s.Job.LogPath, launch.DefaultLogLimit, again, fail, seen); err != nil {
		return nil, err
	}
	return p, nil
}

// Discard closes the log of a program that is not started.
func (h hands) Discard(p *program) { p.log.Close("another part of the job could not be started") }

// errHold is returned by Hold and GoOn: a pod cannot be stopped in place.
var errHold = errors.New("pods cannot be stopped in place")

// Hold and GoOn always fail: the programs of paused jobs end instead.
func (h hands) Hold([]*program) error { return errHold }
func (h hands) GoOn([]*program) error { return errHold }

// Bind gives a program the cores of a part. Attend then resizes its pod.
func (h hands) Bind(p *program, part scheduler.Part) error {
	p.set(func(s *state) { s.part = part })
	return nil
}

// Write replaces the content of a program's control file, which is an annotation of its pod. Attend passes it on.
func (h hands) Write(p *program, content []byte, _ time.Time) error {
	p.set(func(s *state) { s.control = string(content) })
	return nil
}

// Codes of warnings.
const (
	resizeCode   = "kubernetes_restart"
	evictionCode = "kubernetes_pod_lost"
)

// warn gives a warning about a job.
func (e *Engine) warn(job int, code, text string) {
	if e.warnings != nil {
		e.warnings(job, code, text)
	}
}

// Ask asks programs to end. Attend suspends their Jobs; their pods get SIGTERM, and SIGKILL after the grace.
func (h hands) Ask(programs []*program, _ bool) { h.end(programs, false) }

// Kill ends programs at once.
func (h hands) Kill(programs []*program) { h.end(programs, true) }

func (h hands) end(programs []*program, kill bool) {
	for _, p := range programs {
		p.set(func(s *state) { s.asked, s.killed = true, s.killed || kill })
	}
}

// Attend starts the pod of a program and follows the program to its end.
func (h hands) Attend(p *program) {
	e := h.e
	f := e.execute(p)
	e.mu.Lock()
	delete(e.started, p.start)
	e.mu.Unlock()
	var done *madeJob
	if f.Finished || !p.now().asked || p.service != "" { // other suspended Jobs are reused when their jobs resume
		done = e.detach(p.key)
	}
	e.Exited(p, f.At, f.Finished)
	f.At = time.Time{} // now: the cores are free only when the node has reported the end
	e.Ended(p, f, p.log.Close)
	e.drop(done)
}

// podLife is the state of execute: the pods of one program, one after another.
type podLife struct {
	e      *Engine
	p      *program
	out    *output
	seen   string // UID of the pod whose log is copied
	since  time.Time
	looked time.Time // last time that the reason for no pod was asked for
	reason string    // why no pod runs
	stop   context.CancelFunc
	copied chan error // receives the error of copying its log
	cut    bool       // the Job was suspended
	force  bool       // its pod was deleted, to end it at once
	resize bool       // the pod is to end and start with another size
	ran    bool       // some pod has run
	lost   int        // number of pods that were taken away
	// The cores and the content of the control file that the pod got last.
	cores   int
	control string
}

// mostLost is how many pods of a program may be taken away before the job fails.
const mostLost = 20

var manyLost = fmt.Sprintf("more than %d of its pods were taken away", mostLost)

// lookAfter is how long a pod may take to start before tfexp asks the cluster for the reason.
const lookAfter = 2 * time.Second

// execute starts a program, follows its pods, and returns how it ended.
func (e *Engine) execute(p *program) launch.Fate {
	l := &podLife{e: e, p: p, out: &output{log: p.log}, since: time.Now()}
	defer func() {
		if l.stop != nil {
			l.stop()
			_ = l.finish()
		}
	}()
	if p.now().asked {
		return launch.Fate{At: time.Now(), Exit: -1, Why: "it was stopped before it ran"}
	}
	if err := l.begin(); err != nil {
		f, _ := l.failure("its pod could not be started", err)
		return f
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-p.news:
		case <-tick.C:
		case <-e.blind:
			f, _ := l.failure("its pod is not followed any more", e.blindness)
			return f
		}
		if f, over := l.step(); over {
			return f
		}
	}
}

// failure returns the end of a program that cannot continue. If the API server does not answer, or refuses the user,
// the whole run ends.
func (l *podLife) failure(what string, err error) (launch.Fate, bool) {
	if err != nil {
		what += ": " + err.Error()
	}
	if _, away := errors.AsType[*api.AwayError](err); away || api.Refused(err, http.StatusUnauthorized) || api.NoPermission(err) {
		l.e.Break(Unavailable(err))
	}
	return launch.Fate{At: time.Now(), Exit: -1, Why: what, Output: l.p.log.Err()}, true
}

// begin starts a pod of the program.
func (l *podLife) begin() error {
	l.cores = l.p.now().part.Cores.Count()
	l.cut, l.force, l.resize, l.seen, l.since, l.reason = false, false, false, "", time.Now(), ""
	return l.e.release(l.p)
}

// step looks at the program once, and acts.
func (l *podLife) step() (launch.Fate, bool) {
	p, e := l.p, l.e
	now := p.now()
	pod, gone, asked := now.pod, now.gone, now.asked
	if p.service != "" && !asked && l.partLost(pod, gone) && !e.expired(p.key) {
		if asked = e.renew(p, l.taken(pod)); !asked {
			return l.failure(manyLost, nil)
		}
	}
	if (asked || l.resize) && !l.cut {
		l.cut = true
		if p.adopted {
			if pod != nil && !gone && pod.Disruption() == "" {
				e.drop(e.detach(p.key))
			}
		} else if err := e.suspend(p.key); err != nil {
			return l.failure("its Job could not be suspended", err)
		}
	}
	if now.killed && !l.force && pod != nil && !gone {
		l.force = true
		if err := e.Delete(e.ctx, "pods", pod.Metadata.Name); err != nil {
			return l.failure("its pod could not be ended", err)
		}
	}
	switch {
	case pod == nil && asked:
		return l.withdrawn()
	case pod != nil && (pod.Over() || gone):
		return l.ended(pod, now.at, asked)
	case pod != nil && pod.State().Running != nil:
		l.follow(pod)
		if err := l.adapt(pod); err != nil {
			return l.failure("its pod could not be changed", err)
		}
		return launch.Fate{}, false
	case asked:
		return launch.Fate{}, false
	}
	return l.wait(pod)
}

// follow starts to copy the log of a running pod.
func (l *podLife) follow(pod *api.Pod) {
	if l.seen == pod.Metadata.UID {
		return
	}
	if l.seen != "" { // the Job itself has replaced the last pod
		_ = l.finish()
		l.lost++
		l.e.warn(l.p.Number, evictionCode, l.taken(nil)+"; another pod starts from "+l.e.resumePoint())
	}
	if !l.ran {
		l.e.Runs(l.p) // the time until the pod runs is no service
	}
	l.ran = true
	l.seen, l.reason, l.control = pod.Metadata.UID, "", pod.Metadata.Annotations[annotationControl]
	ctx, cancel := context.WithCancel(l.e.ctx)
	l.stop, l.copied = cancel, make(chan error, 1)
	copied, out, uid, name := l.copied, l.out, pod.Metadata.UID, pod.Metadata.Name
	out.last, out.bytes = time.Time{}, 0
	go func() {
		copied <- out.read(ctx, l.e.cluster, name, func() bool {
			now := l.p.now()
			return now.gone || now.pod == nil || now.pod.Metadata.UID != uid || now.pod.Over()
		})
		l.p.nudge()
	}()
}

// taken describes who took a pod of the program away. pod may be nil.
func (l *podLife) taken(pod *api.Pod) string {
	text := l.p.now().taken
	if pod != nil {
		text = pod.Disruption()
	}
	return cmp.Or(text, "somebody deleted its pod")
}

// resumePoint says from where programs continue in another pod.
func (e *Engine) resumePoint() string {
	if e.set.Checkpoints == "" {
		return "the beginning (checkpoints in the hardware block would keep its work)"
	}
	return "the last checkpoint"
}

// adapt passes changes of the control file and of the cores to a running pod: in place, if the cluster can.
func (l *podLife) adapt(pod *api.Pod) error {
	p, e := l.p, l.e
	now := p.now()
	cores, control := now.part.Cores.Count(), now.control
	if now.asked || pod.Metadata.Deleted != nil {
		return nil
	}
	if control != l.control {
		err := e.Patch(e.ctx, "pods", pod.Metadata.Name,
			tree{"metadata": api.Meta{Annotations: map[string]string{annotationControl: control}}}, nil)
		if err != nil && !api.Refused(err, http.StatusNotFound) {
			return err
		}
		l.control = control
	}
	c := pod.Status.Conditions.True("PodResizePending")
	if c != nil && c.Reason == "Infeasible" && !l.resize && l.cores == cores {
		l.restart("its node cannot resize its pod: " + c.Message)
	}
	if cores == l.cores || l.resize {
		return nil
	}
	l.cores = cores
	if e.resizes {
		err := e.resize(pod, cores)
		if err == nil || api.Refused(err, http.StatusNotFound) {
			return nil
		}
		if !api.Refused(err, http.StatusBadRequest, http.StatusForbidden, http.StatusUnprocessableEntity) {
			return err
		}
		l.restart(err.Error())
		return nil
	}
	l.restart("")
	return nil
}

// restart ends the pod, so that another pod starts with the new size. A pod that the cluster itself has started keeps
// its size, and also a pod that other parts of its job are connected to.
func (l *podLife) restart(why string) {
	end, keeps := "its pod is started again with its new size", l.p.adopted || l.p.service != ""
	if keeps {
		end = "its pod keeps its size"
	}
	if why != "" || keeps {
		l.e.warn(l.p.Number, resizeCode, strings.TrimSuffix(end+": "+why, ": "))
	}
	if l.resize = !keeps; l.resize {
		l.p.nudge()
	}
}

// resize changes the size of a running pod.
func (e *Engine) resize(p *api.Pod, cores int) error {
	size := map[string]string{"cpu": fmt.Sprint(cores)}
	body := tree{"spec": tree{"containers": []tree{{
		"name": ContainerName, "resources": api.Resources{Requests: size, Limits: size},
	}}}}
	return e.Patch(e.ctx, "pods/resize", p.Metadata.Name, body, nil)
}

// finish waits until the log of the pod is copied, at most for logPatience.
func (l *podLife) finish() (err error) {
	if l.copied == nil {
		return nil
	}
	t := time.AfterFunc(logPatience, l.stop)
	err = <-l.copied
	t.Stop()
	l.stop()
	l.stop, l.copied = nil, nil
	return err
}

// logPatience is how long tfexp waits for the rest of a pod's log.
const logPatience = 5 * time.Second

// ended handles the end of a pod. If the program continues in another pod, over is false.
func (l *podLife) ended(pod *api.Pod, at time.Time, asked bool) (launch.Fate, bool) {
	p, e := l.p, l.e
	t := pod.State().Terminated
	if t != nil {
		l.follow(pod) // if the program was so short that it was never seen running
	}
	unread := l.finish()
	f := launch.Fate{At: l.instant(t, at), Exit: -1, Output: p.log.Err()}
	if unread != nil && f.Output == nil {
		f.Output = fmt.Errorf("its output cannot be read: %w", unread)
	}
	if t != nil {
		f.Exit = t.ExitCode
	}
	f.Finished = t != nil && t.ExitCode == 0 && t.Signal == 0
	switch {
	case f.Finished:
		return f, true
	case asked:
		f.Why = "its pod was ended"
		return f, true
	case l.resize:
	case pod.Disruption() == "" && (t != nil || pod.Status.Phase == "Failed"):
		f.Why = outcome(pod, &p.Job)
		return f, true
	case e.expired(p.key):
		f.Why = fmt.Sprintf("it ran for longer than its Job may (deadline = %q in the hardware block)", e.set.Deadline)
		return f, true
	case p.adopted: // Placement says that the job has lost its pod
		return launch.Fate{}, false
	case p.service != "":
		f.Why = l.taken(pod)
		return f, true
	default:
		if l.lost++; l.lost > mostLost {
			return l.failure(manyLost, nil)
		}
		e.warn(p.Number, evictionCode, l.taken(pod)+"; another pod starts from "+e.resumePoint())
		e.drop(e.detach(p.key))
		if err := e.move(p); err != nil {
			return l.failure("its pod was taken away, and no other could be started", err)
		}
	}
	if err := l.begin(); err != nil {
		return l.failure("its pod could not be started again", err)
	}
	return f, false
}

// instant returns when a container ended. The API has this time in whole seconds; the time stamp of the last line may
// be later, and then is closer.
func (l *podLife) instant(t *api.Termination, seen time.Time) time.Time {
	if t == nil || !l.out.live || t.FinishedAt.IsZero() {
		return seen
	}
	at := t.FinishedAt
	if l.out.last.After(at) {
		at = l.out.last
	}
	if at = at.Add(l.out.lag); at.Before(seen) && seen.Sub(at) < 3*time.Second {
		return at
	}
	return seen
}

// withdrawn handles a program that was asked to end before its Job has created a pod.
func (l *podLife) withdrawn() (launch.Fate, bool) {
	quiet, err := l.e.suspended(l.p.key)
	if err != nil {
		return l.failure("its Job cannot be read", err)
	}
	if !quiet || l.p.now().pod != nil {
		return launch.Fate{}, false
	}
	return launch.Fate{At: time.Now(), Exit: -1, Why: "it was stopped before it ran", Output: l.p.log.Err()}, true
}

// wait handles a program whose pod does not run yet; a nil pod means that its Job has created none.
func (l *podLife) wait(pod *api.Pod) (launch.Fate, bool) {
	waited := time.Since(l.since)
	if waited < lookAfter || time.Since(l.looked) < lookAfter {
		return launch.Fate{}, false
	}
	l.looked = time.Now()
	reason, vain := "", false
	if pod != nil {
		reason, vain = l.e.Obstacle(pod)
	} else if o := l.e.object(l.p.key); o != nil {
		reason, vain = l.e.Refusal(o.uid)
	}
	l.reason = cmp.Or(reason, l.reason)
	switch {
	case vain:
		return l.failure("its pod cannot start: "+l.reason, nil)
	case waited > l.e.set.Patience:
		return l.failure(fmt.Sprintf("its pod did not start within %s: %s", l.e.set.Patience, cmp.Or(l.reason,
			"the cluster says no reason (kubectl describe job shows its events)")), nil)
	}
	return launch.Fate{}, false
}

// outcome describes the end of a program that did not succeed.
func outcome(pod *api.Pod, j *launch.Job) string {
	text := pod.Failure(j.Argv[0], imageOf(j))
	if t := pod.State().Terminated; t != nil && t.Reason == "OOMKilled" && j.Memory > 0 {
		text += fmt.Sprintf(": it needs more than its limit of %d MiB (memory in the job block)", j.Memory>>20)
	}
	return text
}

func imageOf(j *launch.Job) string {
	if j.Container == nil {
		return ""
	}
	return j.Container.Image
}
