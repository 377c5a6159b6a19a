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
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// submission is a job that the cluster starts when its own scheduler, or Kueue, says so.
type submission struct {
	number  int
	queue   string // a LocalQueue of Kueue; empty for none
	uid     string // of the Job; empty before it is made
	pod     *pod   // the last one
	gone    bool   // it was deleted
	why     string // it has no pod, as Kueue or its events say
	asked   bool   // Kueue was asked since the pod was lost
	evicted bool   // by Kueue, which starts the job again
	err     error  // why the job could not be submitted
}

// Labels of Kueue, on Jobs and on its own objects.
const (
	labelQueue    = "kueue.x-k8s.io/queue-name"
	labelWorkload = "kueue.x-k8s.io/job-uid"
)

// see takes news of a pod. It reports whether they may change where the job is.
func (s *submission) see(p *pod, gone bool) bool {
	if s.pod != nil && s.pod.Metadata.UID != p.Metadata.UID && (gone || p.over() || p.Metadata.Deleted != nil) {
		return false // an earlier one
	}
	before, had := s.lost()+s.unscheduled(), s.pod
	s.pod, s.gone = p, gone
	if s.lost() == "" {
		s.asked, s.evicted = false, false
	}
	return had == nil || had.Metadata.UID != p.Metadata.UID || had.Spec.NodeName != p.Spec.NodeName ||
		before != s.lost()+s.unscheduled()
}

// lost is why the job has lost its pod; empty if it has not.
func (s *submission) lost() string {
	switch {
	case s.pod == nil:
		return ""
	case s.gone && !s.pod.over():
		return cmp.Or(disturbed(s.pod), "somebody deleted its pod")
	}
	return disturbed(s.pod)
}

// Submit gives a job to the cluster: to a LocalQueue of Kueue, or at once to the scheduler of pods. A job that waits in
// its queue stays there. Jobs are submitted one after the other.
func (e *Engine) Submit(number int, queue string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.submissions == nil {
		e.submissions, e.byStart, e.queues = map[int]*submission{}, map[string]*submission{}, map[string]bool{}
		e.asks = make(chan struct{}, 1)
		e.calls.Go(e.followSubmissions)
	}
	s := e.submissions[number]
	if s != nil && s.evicted && e.objects[number] != nil {
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

// submit makes the Job of a submission.
func (e *Engine) submit(s *submission) error {
	if err := e.useQueue(s.queue); err != nil {
		e.Break(unavailable(err))
		return err
	}
	e.mu.Lock()
	j := e.launches[s.number]
	e.mu.Unlock()
	j.Choose(0)
	cores := int32(max(j.Threads, 1))
	part := scheduler.Part{Cores: scheduler.CoreSet{{Hi: cores}}, GPUs: scheduler.CoreSet{{Hi: int32(j.GPUs)}}}
	text, err := j.Content(int(cores), 0, 0, contract.Message{})
	if err != nil {
		return err
	}
	spec, hidden, err := e.template(&j, part)
	if err != nil {
		return err
	}
	e.mu.Lock()
	start := e.newStart()
	e.byStart[start] = s
	spec["affinity"] = onNodes(e.nodes...)
	e.mu.Unlock()
	o, err := e.create(s.number, &j, e.podMeta(&j, start, string(text)), spec, hidden, s.queue)
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

// useQueue looks for a queue before its first job is submitted.
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

// findQueue looks whether a LocalQueue of Kueue takes jobs. It returns the version of Kueue's API.
func (k *cluster) findQueue(ctx context.Context, name string) (version string, err error) {
	var group struct {
		Preferred struct {
			Version string `json:"groupVersion"`
		} `json:"preferredVersion"`
	}
	hint := "leave queue out of the policy to use the scheduler of the cluster alone"
	err = k.do(ctx, call{verb: "get", absolute: "/apis/kueue.x-k8s.io"}, &group)
	version = group.Preferred.Version
	if refused(err, http.StatusNotFound) {
		err = errors.New("it has no Kueue")
	}
	if err == nil {
		hint = fmt.Sprintf("kubectl -n %s get localqueues shows which ones take jobs", k.namespace)
		var q workload
		err = k.do(ctx, call{verb: "get", group: version, resource: "localqueues", namespace: k.namespace, name: name}, &q)
		for _, c := range q.Status.Conditions {
			if c.Type == "Active" && c.Status == "False" {
				err = errors.New(c.Message)
			}
		}
	}
	if err != nil {
		err = &engine.Unavailable{Engine: kindName, Err: fmt.Errorf("the queue %q of the cluster: %w", name, err), Hint: hint}
	}
	return version, err
}

// Withdraw removes the Job of a job that is over, or is not to start any more.
func (e *Engine) Withdraw(number int) {
	e.mu.Lock()
	delete(e.submissions, number)
	e.mu.Unlock()
	if o := e.detach(number); o != nil {
		e.calls.Go(func() { e.drop(o) })
	}
}

// Placement returns the node of the hardware on which the cluster has placed a job, or why it is not placed; empty while
// the cluster has said nothing.
func (e *Engine) Placement(number int) (node int, placed bool, why string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.submissions[number]
	switch {
	case s == nil:
		return -1, false, "it is not submitted"
	case s.err != nil:
		return 0, true, "" // its start fails by that
	case s.lost() != "" && (s.asked || s.queue == ""):
		return -1, false, cmp.Or(s.why, s.lost())
	case s.pod == nil || s.pod.Spec.NodeName == "":
		return -1, false, cmp.Or(s.why, s.unscheduled())
	}
	node = slices.Index(e.nodes, s.pod.Spec.NodeName)
	return node, node >= 0, "it is on the node " + s.pod.Spec.NodeName + ", which is not of the hardware"
}

// unscheduled is why the scheduler of pods has not placed the pod.
func (s *submission) unscheduled() string {
	if s.pod != nil {
		for _, c := range s.pod.Status.Conditions {
			if c.Type == "PodScheduled" && c.Status == "False" {
				return c.Reason + ": " + c.Message
			}
		}
	}
	return ""
}

// adopt gives a program the pod that the cluster has started for its job; ok is false for a job that tfexp starts.
func (e *Engine) adopt(p *program) (ok bool, err error) {
	e.mu.Lock()
	s := e.submissions[p.Number]
	if s == nil || s.err != nil || s.pod == nil {
		defer e.mu.Unlock()
		if s == nil {
			return false, nil
		}
		return true, cmp.Or(s.err, errors.New("the cluster has no pod for it"))
	}
	pod, gone, uid := s.pod, s.gone, s.pod.Metadata.UID
	e.started[uid] = p
	e.mu.Unlock()
	p.mu.Lock()
	p.start, p.pod, p.gone, p.adopted = uid, nil, false, true
	p.mu.Unlock()
	p.see(pod, gone)
	return true, nil
}

// changed wakes the scheduler: the cluster may have decided about a job.
func (e *Engine) changed(number int) {
	e.Notice(scheduler.Notice{Kind: scheduler.JobProgress, Job: number, At: e.Now()})
}

// news takes news of a pod of a submission.
func (e *Engine) news(p *pod, gone bool) {
	e.mu.Lock()
	s := e.byStart[p.Metadata.Labels[labelStart]]
	changed := s != nil && s.see(p, gone)
	asks := changed && s.queue != "" && s.lost() != ""
	e.mu.Unlock()
	switch {
	case asks:
		select {
		case e.asks <- struct{}{}:
		default:
		}
	case changed:
		e.changed(s.number)
	}
}

// askPeriod is how often the cluster is asked why jobs have no pod.
const askPeriod = 2 * time.Second

// followSubmissions asks why jobs have no pod, until the engine is closed.
func (e *Engine) followSubmissions() {
	tick := time.NewTicker(askPeriod)
	defer tick.Stop()
	for {
		select {
		case <-e.ctx.Done():
			return
		case <-tick.C:
		case <-e.asks:
		}
		e.explain()
	}
}

// workload is what Kueue knows of a Job, or of a queue.
type workload struct {
	Metadata meta `json:"metadata"`
	Status   struct {
		Conditions []statusCondition `json:"conditions"`
	} `json:"status"`
}

// says is why the Job waits, or was stopped.
func (w *workload) says() (text string, evicted bool) {
	var said []string
	for _, c := range w.Status.Conditions {
		evicted = evicted || c.Type == "Evicted" && c.Status == "True"
		if c.Message != "" && (c.Type == "Evicted" && c.Status == "True" || c.Type == "QuotaReserved" && c.Status == "False") &&
			!slices.ContainsFunc(said, func(text string) bool { return strings.Contains(text, c.Message) }) {
			said = append(said, c.Type+" "+c.Status+", "+c.Reason+": "+c.Message)
		}
	}
	if said == nil {
		return "", evicted
	}
	return "Kueue: " + strings.Join(said, "; "), evicted
}

// explain asks why jobs have no pod: Kueue, and, where it says nothing, the events of their Jobs.
func (e *Engine) explain() {
	waiting, asks := map[string]*submission{}, false // by the UID of their Jobs
	bare := map[string]bool{}                        // that have had no pod
	e.mu.Lock()
	for _, s := range e.submissions {
		if s.uid != "" && s.err == nil && (s.pod == nil || s.queue != "" && s.lost() != "") {
			waiting[s.uid], bare[s.uid], asks = s, s.pod == nil, asks || s.queue != ""
		}
	}
	group := e.kueue
	e.mu.Unlock()
	of := map[string]*workload{}
	if asks {
		found, _, err := all[workload](e.ctx, e.client, call{verb: "list", group: group, resource: "workloads",
			namespace: e.namespace, query: url.Values{"labelSelector": {labelWorkload}}})
		for i := range found {
			of[found[i].Metadata.Labels[labelWorkload]] = &found[i]
		}
		if err != nil && e.ctx.Err() == nil {
			e.Break(unavailable(fmt.Errorf("read the Workloads of Kueue: %w", err)))
		}
	}
	for uid, s := range waiting {
		why, evicted, vain := "", false, false
		if w := of[uid]; w != nil {
			why, evicted = w.says()
		}
		if why == "" && bare[uid] {
			why, vain = e.refusal(uid)
		}
		e.mu.Lock()
		lost := s.lost() != "" && !s.asked
		changed := why != s.why || lost
		if s.why, s.asked = why, s.asked || lost; lost {
			s.evicted = evicted
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
