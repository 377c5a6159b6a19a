package kubernetes

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/tfexp/tfexp/hardware/kubernetes/api"
	"github.com/tfexp/tfexp/hardware/launch"
)

// podLife follows the pods of a program, one after another. Only the goroutine of execute uses it.
type podLife struct {
	e    *Engine
	p    *program
	out  *output
	ran  bool // some pod has run
	lost int  // number of pods that were taken away

	podStart // of the present pod
}

// podStart is what podLife has done with a pod so far.
type podStart struct {
	since  time.Time
	looked time.Time // last time that the reason for no running pod was asked for
	reason string    // why the pod does not run
	seen   string    // UID of the pod whose log is copied
	cut    bool      // the Job was suspended
	force  bool      // the pod was deleted, to end it at once
	resize bool      // the pod is to end and start with another size
	// The cores and the content of the control file that the pod got last.
	cores   int
	control string
}

// mostLost is how many pods of a program may be taken away before the job fails.
const mostLost = 20

var manyLost = fmt.Sprintf("more than %d of its pods were taken away", mostLost)

// lookAfter is how long a pod may take to start before tfexp asks the cluster for the reason.
const lookAfter = 2 * time.Second

// neverRan is the end of a program that is to end before its pod runs.
const neverRan = "it was stopped before it ran"

// execute starts a program, follows its pods, and returns how it ended.
func (e *Engine) execute(p *program) launch.Fate {
	l := &podLife{e: e, p: p, out: &output{log: p.log}}
	defer l.out.end()
	if p.now().asked {
		return *l.fate(neverRan)
	}
	if err := l.begin(); err != nil {
		return *l.failure("its pod could not be started", err)
	}
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-p.news:
		case <-tick.C:
		case <-e.blind:
			return *l.failure("its pod is not followed any more", e.blindness)
		}
		if end := l.step(); end != nil {
			return *end
		}
	}
}

// begin starts a pod of the program.
func (l *podLife) begin() error {
	l.podStart = podStart{since: time.Now(), cores: l.p.now().part.Cores.Count()}
	return l.e.release(l.p)
}

// failure returns the end of a program that cannot continue. If the API server does not answer, or refuses the user,
// the whole run ends.
func (l *podLife) failure(what string, err error) *launch.Fate {
	if err != nil {
		what += ": " + err.Error()
	}
	if _, away := errors.AsType[*api.AwayError](err); away || api.Refused(err, http.StatusUnauthorized) ||
		api.NoPermission(err) {
		l.e.Break(Unavailable(err))
	}
	return l.fate(what)
}

// fate returns the end of a program without an exit status.
func (l *podLife) fate(why string) *launch.Fate {
	return &launch.Fate{At: time.Now(), Exit: -1, Why: why, Output: l.p.log.Err()}
}

// step does what the present state of the program and its pod requires. It returns the end of the program, or nil while
// it runs.
func (l *podLife) step() *launch.Fate {
	p, e, now := l.p, l.e, l.p.now()

	// 1. If the job has lost a part that it needs, all of its parts end and start again.
	if !now.asked && l.partLost(now) && !e.expired(p.key) {
		if now.asked = e.renew(p, l.taken(now.pod)); !now.asked {
			return l.failure(manyLost, nil)
		}
	}

	// 2. A program that is to end gets SIGTERM, and SIGKILL after the grace.
	if (now.asked || l.resize) && !l.cut {
		l.cut = true
		if err := l.endPod(now); err != nil {
			return l.failure("its Job could not be suspended", err)
		}
	}

	// 3. A program that is to end at once gets SIGKILL.
	if now.killed && !l.force && now.hasPod() {
		l.force = true
		if err := e.Delete(e.ctx, "pods", now.pod.Metadata.Name); err != nil {
			return l.failure("its pod could not be ended", err)
		}
	}

	// 4. The rest depends on the state of the pod.
	switch {
	case now.pod == nil && now.asked:
		return l.withdrawn()
	case now.pod != nil && (now.gone || now.pod.Over()):
		return l.ended(now)
	case now.pod != nil && now.pod.State().Running != nil:
		l.follow(now.pod)
		if err := l.adapt(now); err != nil {
			return l.failure("its pod could not be changed", err)
		}
		return nil
	case now.asked:
		return nil
	}
	return l.wait(now)
}

// endPod makes the cluster end the pod of the program. A pod that the cluster itself has started has a Job that its
// queue may suspend and resume: it ends with its Job.
func (l *podLife) endPod(now state) error {
	if !now.adopted {
		return l.e.suspend(l.p.key)
	}
	if now.hasPod() && now.pod.Disruption() == "" {
		l.e.discard(l.p.key)
	}
	return nil
}

// withdrawn handles a program that was asked to end before its Job has created a pod.
func (l *podLife) withdrawn() *launch.Fate {
	quiet, err := l.e.suspended(l.p.key)
	if err != nil {
		return l.failure("its Job cannot be read", err)
	}
	if !quiet || l.p.now().pod != nil {
		return nil
	}
	return l.fate(neverRan)
}

// wait handles a program whose pod does not run yet; a nil pod means that its Job has created none.
func (l *podLife) wait(now state) *launch.Fate {
	waited := time.Since(l.since)
	if now.pod != nil && l.seen != "" { // the Job itself has replaced the last pod
		waited = time.Since(now.at)
	}
	if waited < lookAfter || time.Since(l.looked) < lookAfter {
		return nil
	}
	l.looked = time.Now()
	reason, vain := "", false
	if now.pod != nil {
		reason, vain = l.e.Obstacle(now.pod)
	} else if o := l.e.object(l.p.key); o != nil {
		reason, vain = l.e.Refusal(o.uid)
	}
	l.reason = cmp.Or(reason, l.reason)
	switch {
	case vain:
		return l.failure("its pod cannot start: "+l.reason, nil)
	case waited > l.e.set.Patience:
		if l.reason == "" && now.pod != nil { // an image may take longer to fetch
			l.reason = l.e.LastEvent(now.pod.Metadata.UID)
		}
		return l.failure(fmt.Sprintf("its pod did not start within %s: %s", l.e.set.Patience, cmp.Or(l.reason,
			"the cluster says no reason (kubectl describe job shows its events)")), nil)
	}
	return nil
}

// follow starts to copy the log of a running pod.
func (l *podLife) follow(pod *api.Pod) {
	uid := pod.Metadata.UID
	if l.seen == uid {
		return
	}
	if l.seen != "" { // the Job itself has replaced the last pod
		_ = l.out.finish(logPatience)
		l.lost++
		l.warnLost(nil)
	}
	if !l.ran {
		l.e.Runs(l.p) // the time until the pod runs is no service
	}
	l.ran, l.seen, l.control = true, uid, pod.Metadata.Annotations[annotationControl]
	l.out.start(l.e.ctx, l.e.cluster, pod.Metadata.Name, func() bool {
		now := l.p.now()
		return now.gone || now.pod == nil || now.pod.Metadata.UID != uid || now.pod.Over()
	}, l.p.nudge)
}

// adapt passes changes of the control file and of the cores to a running pod: in place, if the cluster can.
func (l *podLife) adapt(now state) error {
	e, pod := l.e, now.pod
	if now.asked || l.resize || pod.Metadata.Deleted != nil {
		return nil
	}
	if now.control != l.control {
		err := e.Patch(e.ctx, "pods", pod.Metadata.Name,
			tree{"metadata": api.Meta{Annotations: map[string]string{annotationControl: now.control}}}, nil)
		if api.Except(err, http.StatusNotFound) != nil {
			return err
		}
		l.control = now.control
	}
	cores, pending := now.part.Cores.Count(), pod.Status.Conditions.True("PodResizePending")
	switch {
	case cores == l.cores && pending != nil && pending.Reason == "Infeasible":
		l.restart("its node cannot resize its pod: " + pending.Message)
	case cores == l.cores:
	case !e.resizes:
		l.restart("")
	default:
		err := e.resize(pod, cores)
		if api.Refused(err, http.StatusBadRequest, http.StatusForbidden, http.StatusUnprocessableEntity) {
			l.restart(err.Error())
			err = nil
		}
		if err = api.Except(err, http.StatusNotFound); err != nil {
			return err
		}
	}
	l.cores = cores
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
	return e.Patch(e.ctx, "pods/resize", p.Metadata.Name, tree{"spec": tree{"containers": []tree{{
		"name": api.ContainerName, "resources": api.Resources{Requests: size, Limits: size},
	}}}}, nil)
}

// ended handles the end of a pod. It returns nil if the program continues in another pod.
func (l *podLife) ended(now state) *launch.Fate {
	p, e, pod := l.p, l.e, now.pod
	t := pod.State().Terminated
	patience := logPatience
	if t != nil {
		l.follow(pod) // if the program was so short that it was never seen running
		patience = endPatience
	}
	unread := l.out.finish(patience)
	f := l.fate("")
	f.At = l.out.ended(t, now.at)
	if unread != nil && t != nil && f.Output == nil {
		f.Output = fmt.Errorf("its output cannot be read: %w", unread)
	}
	if t != nil {
		f.Exit, f.Finished = t.ExitCode, t.ExitCode == 0 && t.Signal == 0
	}
	switch {
	case f.Finished:
		return f
	case now.asked:
		f.Why = "its pod was ended"
		return f
	case l.resize: // another pod starts with the new size
	case pod.Disruption() == "" && (t != nil || pod.Status.Phase == "Failed"):
		f.Why = outcome(pod, &p.Job)
		return f
	case e.expired(p.key):
		f.Why = fmt.Sprintf("it ran for longer than its Job may (deadline = %q in the hardware block)", e.set.Deadline)
		return f
	case now.adopted: // Placement says that the job has lost its pod
		return nil
	case p.service != "":
		f.Why = l.taken(pod)
		return f
	default: // another pod starts in place of the pod that was taken away
		if l.lost++; l.lost > mostLost {
			return l.failure(manyLost, nil)
		}
		l.warnLost(pod)
		e.discard(p.key)
		if err := e.move(p); err != nil {
			return l.failure("its pod was taken away, and no other could be started", err)
		}
	}
	if err := l.begin(); err != nil {
		return l.failure("its pod could not be started again", err)
	}
	return nil
}

// warnLost warns that a pod was taken away; nil if it exists no more.
func (l *podLife) warnLost(pod *api.Pod) {
	l.e.warn(l.p.Number, evictionCode, l.taken(pod)+"; another pod starts from "+l.e.resumePoint())
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
