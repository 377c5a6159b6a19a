package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/kubernetes/api"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// submission is a job that the cluster itself starts (order = "cluster").
type submission struct {
	number  int
	queue   string   // LocalQueue of Kueue; empty for none
	uid     string   // UID of its Job; empty before it is created
	pod     *api.Pod // latest pod
	gone    bool     // pod was deleted
	why     string   // why it has no pod, by Kueue or by events of the Job
	asked   bool     // Kueue was asked after the pod was lost
	evicted bool     // Kueue took the pod away, and will start the job again
	err     error    // why the job could not be submitted
}

// labelWorkload is the label of a Workload of Kueue that has the UID of its Job.
const labelWorkload = "kueue.x-k8s.io/job-uid"

// see takes the latest state of a pod. It reports whether the placement of the job may have changed.
func (s *submission) see(p *api.Pod, gone bool) bool {
	if s.pod != nil && s.pod.Metadata.UID != p.Metadata.UID && (gone || p.Over() || p.Metadata.Deleted != nil) {
		return false // the end of an earlier pod
	}
	before, had := s.lost()+s.pod.Unscheduled(), s.pod
	s.pod, s.gone = p, gone
	if s.lost() == "" {
		s.asked, s.evicted = false, false
	}
	return had == nil || had.Metadata.UID != p.Metadata.UID || had.Spec.NodeName != p.Spec.NodeName ||
		before != s.lost()+s.pod.Unscheduled()
}

// lost returns why the job has lost its pod; empty if it has not.
func (s *submission) lost() string {
	if s.pod != nil && s.gone && !s.pod.Over() {
		return cmp.Or(s.pod.Disruption(), "somebody deleted its pod")
	}
	return s.pod.Disruption()
}

// Submit implements pods.Queuer. A job with a LocalQueue waits for Kueue; others go to the scheduler of the cluster at
// once. A job that Kueue has evicted is still in its queue. Jobs are submitted one after another.
func (e *Engine) Submit(number int, queue string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.submissions == nil {
		e.submissions, e.byStart, e.queues = map[int]*submission{}, map[string]*submission{}, map[string]bool{}
		e.calls.Go(func() {
			for api.Pause(e.ctx, askPeriod) {
				e.explain()
			}
		})
	}
	s := e.submissions[number]
	if s != nil && s.evicted && e.objects[programKey{job: number}] != nil {
		return
	}
	s = &submission{number: number, queue: queue}
	e.submissions[number] = s
	before, done := e.submitted, make(chan struct{})
	e.submitted = done
	e.calls.Go(func() {
		defer close(done)
		if before != nil {
			<-before
		}
		err := e.submit(s)
		e.mu.Lock()
		s.err = err
		e.mu.Unlock()
		if err != nil {
			e.changed(number)
		}
	})
}

// submit creates the Job of a submission.
func (e *Engine) submit(s *submission) error {
	if err := e.useQueue(s.queue); err != nil {
		e.Break(Unavailable(err))
		return nil // the job waits until the run ends
	}
	e.mu.Lock()
	j, start, nodes := e.launches[s.number], e.newStart(), slices.Clone(e.nodes)
	e.byStart[start] = s
	e.mu.Unlock()
	j.Choose(0)
	cores := int32(max(j.Threads, 1))
	part := scheduler.Part{Cores: scheduler.CoreSet{{Hi: cores}}, GPUs: scheduler.CoreSet{{Hi: int32(j.GPUs)}}}
	text, err := j.Content(int(cores), 0, 0, contract.Message{})
	if err != nil {
		return err
	}
	t, err := e.template(&j, part, start, string(text))
	if err != nil {
		return err
	}
	t.spec["affinity"] = onNodes(nodes...)
	o, err := e.create(programKey{job: s.number}, &j, t, s.queue)
	if err == nil && s.queue == "" {
		_, err = e.patchJob(o.name, tree{"suspend": false})
	}
	if err != nil {
		return err
	}
	e.mu.Lock()
	s.uid = o.uid
	e.mu.Unlock()
	return nil
}

// useQueue checks a queue before its first job is submitted.
func (e *Engine) useQueue(name string) error {
	if name == "" || e.queues[name] {
		return nil
	}
	version, err := e.findQueue(e.ctx, name)
	if err != nil {
		return err
	}
	e.mu.Lock()
	e.kueue, e.queues[name] = version, true
	e.mu.Unlock()
	return nil
}

// findQueue returns an error if a LocalQueue of Kueue does not exist or takes no jobs, and otherwise the version of
// Kueue's API.
func (k *cluster) findQueue(ctx context.Context, name string) (version string, err error) {
	var group struct{ PreferredVersion struct{ GroupVersion string } }
	hint := "remove queue from the policy to use only the scheduler of the cluster"
	err = k.Do(ctx, api.Call{Verb: "get", Group: "kueue.x-k8s.io"}, &group)
	version = group.PreferredVersion.GroupVersion
	if api.Refused(err, http.StatusNotFound) {
		err = errors.New("the cluster has no Kueue")
	}
	if err == nil {
		hint = fmt.Sprintf("kubectl -n %s get localqueues lists the queues", k.Namespace.Name)
		var q workload
		err = k.Do(ctx, api.Call{Verb: "get", Group: version, Resource: "localqueues", Namespace: k.Namespace.Name, Name: name}, &q)
		if c := q.Status.Conditions.Find("Active", "False"); c != nil {
			err = errors.New(c.Message)
		}
	}
	if err != nil {
		err = &engine.Unavailable{Engine: Name, Err: fmt.Errorf("the queue %q cannot be used: %w", name, err), Hint: hint}
	}
	return version, err
}

// Withdraw removes the Job of a job that has ended or is not wanted any more.
func (e *Engine) Withdraw(number int) {
	e.mu.Lock()
	delete(e.submissions, number)
	e.mu.Unlock()
	if o := e.detach(programKey{job: number}); o != nil {
		e.calls.Go(func() { e.drop(o) })
	}
}

// Placement returns the node of the hardware on which the cluster has placed a job, or why the job waits; empty if the
// cluster gives no reason.
func (e *Engine) Placement(number int) (node int, placed bool, why string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.submissions[number]
	switch {
	case s == nil:
		return -1, false, "it is not submitted"
	case s.err != nil:
		return 0, true, "" // Start then returns the error
	case s.lost() != "" && (s.asked || s.queue == ""):
		return -1, false, cmp.Or(s.why, s.lost())
	case s.pod == nil || s.pod.Spec.NodeName == "":
		return -1, false, cmp.Or(s.why, s.pod.Unscheduled())
	}
	node = slices.Index(e.nodes, s.pod.Spec.NodeName)
	return node, node >= 0, "the cluster placed it on " + s.pod.Spec.NodeName + ", which is no node of the hardware"
}

// adopt gives a program the pod that the cluster has started for its job. ok is false if tfexp itself starts the job.
func (e *Engine) adopt(p *program) (ok bool, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.submissions[p.Number]
	switch {
	case s == nil:
		return false, nil
	case s.err != nil || s.pod == nil:
		return true, cmp.Or(s.err, errors.New("the cluster has no pod for it"))
	}
	uid := s.pod.Metadata.UID
	e.started[uid] = p
	p.set(func(now *state) { now.start, now.pod, now.gone, now.adopted = uid, nil, false, true })
	p.see(s.pod, s.gone)
	return true, nil
}

// changed wakes the scheduler of tfexp, since the placement of a job may have changed.
func (e *Engine) changed(number int) {
	e.Notice(scheduler.Notice{Kind: scheduler.JobProgress, Job: number, At: e.Now()})
}

// news passes the latest state of a pod to its submission.
func (e *Engine) news(p *api.Pod, gone bool) {
	e.mu.Lock()
	s := e.byStart[p.Metadata.Labels[labelStart]]
	changed := s != nil && s.see(p, gone)
	asks := changed && s.queue != "" && s.lost() != ""
	e.mu.Unlock()
	switch {
	case asks:
		e.calls.Go(e.explain)
	case changed:
		e.changed(s.number)
	}
}

// askPeriod is how often tfexp asks the cluster why jobs have no pod.
const askPeriod = 2 * time.Second

// workload is a Workload of Kueue (one for each Job), or a LocalQueue. Keys of JSON match fields in any case.
type workload struct {
	Metadata api.Meta
	Status   struct{ Conditions api.Conditions }
}

// says returns why the Job waits or was stopped, and whether Kueue has evicted it.
func (w *workload) says() (text string, evicted bool) {
	for _, c := range w.Status.Conditions {
		out := c.Type == "Evicted" && c.Status == "True"
		waits := c.Type == "QuotaReserved" && c.Status == "False"
		if (out || waits) && !strings.Contains(text, c.Message) { // the empty text contains the empty message
			text += fmt.Sprintf("; %s %s, %s: %s", c.Type, c.Status, c.Reason, c.Message)
		}
		evicted = evicted || out
	}
	return strings.Replace(text, "; ", "Kueue: ", 1), evicted
}

// explain asks why jobs have no pod: first Kueue, then the events of their Jobs.
func (e *Engine) explain() {
	waiting, queued := map[*submission]bool{}, false // jobs, and whether they have had no pod; whether some have a queue
	e.mu.Lock()
	for _, s := range e.submissions {
		if s.uid != "" && s.err == nil && (s.pod == nil || s.queue != "" && s.lost() != "") {
			waiting[s], queued = s.pod == nil, queued || s.queue != ""
		}
	}
	group := e.kueue
	e.mu.Unlock()
	of := map[string]*workload{} // by the UID of the Job
	if queued {
		found, _, err := api.List[workload](e.ctx, e.Client, api.Call{Verb: "list", Group: group, Resource: "workloads",
			Namespace: e.Namespace.Name, Query: url.Values{"labelSelector": {labelWorkload}}})
		for i := range found {
			of[found[i].Metadata.Labels[labelWorkload]] = &found[i]
		}
		if err != nil && e.ctx.Err() == nil {
			e.Break(Unavailable(fmt.Errorf("read the Workloads of Kueue: %w", err)))
		}
	}
	for s, bare := range waiting {
		why, evicted := cmp.Or(of[s.uid], &workload{}).says()
		vain := false
		if why == "" && bare {
			why, vain = e.Refusal(s.uid)
		}
		e.mu.Lock()
		lost := s.lost() != "" && !s.asked
		changed := why != s.why || lost
		if s.why = why; lost {
			s.asked, s.evicted = true, evicted
		}
		if vain {
			s.err = errors.New(why)
		}
		e.mu.Unlock()
		if changed {
			e.changed(s.number)
		}
	}
}
