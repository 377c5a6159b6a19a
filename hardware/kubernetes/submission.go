package kubernetes

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tfexp/tfexp/hardware/kubernetes/api"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// submissions are the jobs that the cluster itself starts (order = "cluster"). It implements pods.Queuer. Its mu may be
// held when that of the engine is taken, but not the reverse.
type submissions struct {
	e      *Engine
	asking sync.Once // starts to ask why jobs have no pod

	mu      sync.Mutex // guards what follows, and the fields of submissions
	jobs    map[int]*submission
	byStart map[string]*submission // by the value of labelStart
	last    chan struct{}          // closed when the last submission is done
	queues  map[string]bool        // LocalQueues that were found
	kueue   string                 // the version of Kueue's API
}

// submission is a job that the cluster itself starts.
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
func (q *submissions) Submit(number int, queue string) {
	q.asking.Do(func() {
		q.e.calls.Go(func() {
			for api.Pause(q.e.ctx, askPeriod) {
				q.ask()
			}
		})
	})
	q.mu.Lock()
	defer q.mu.Unlock()
	if s := q.jobs[number]; s != nil && s.evicted && q.e.object(programKey{job: number}) != nil {
		return
	}
	s := &submission{number: number, queue: queue}
	before, done := q.last, make(chan struct{})
	q.jobs[number], q.last = s, done
	q.e.calls.Go(func() {
		defer close(done)
		if before != nil {
			<-before
		}
		uid, err := q.create(s)
		q.mu.Lock()
		s.uid, s.err = uid, err
		q.mu.Unlock()
		if err != nil {
			q.changed(number)
		}
	})
}

// create creates the Job of a submission, and returns its UID.
func (q *submissions) create(s *submission) (uid string, err error) {
	e := q.e
	if err := q.useQueue(s.queue); err != nil {
		e.Break(Unavailable(err))
		return "", nil // the job waits until the run ends
	}
	j, start := inImage(e.Job(s.number)), e.newStart()
	q.mu.Lock()
	q.byStart[start] = s
	q.mu.Unlock()
	j.Choose(0)
	cores := int32(max(j.Threads, 1))
	part := scheduler.Part{Cores: scheduler.CoreSet{{Hi: cores}}, GPUs: scheduler.CoreSet{{Hi: int32(j.GPUs)}}}
	control, err := j.Content(int(cores), 0, 0, contract.Message{})
	if err != nil {
		return "", err
	}
	t, err := e.template(&j, part, start, string(control))
	if err != nil {
		return "", err
	}
	e.mu.Lock()
	t.spec["affinity"] = onNodes(slices.Clone(e.nodes)...)
	e.mu.Unlock()
	o, err := e.create(programKey{job: s.number}, &j, t, s.queue)
	if err == nil && s.queue == "" {
		_, err = e.patchJob(o.name, tree{"suspend": false})
	}
	if err != nil {
		return "", err
	}
	return o.uid, nil
}

// useQueue checks a queue before its first job is submitted.
func (q *submissions) useQueue(name string) error {
	if name == "" || q.queues[name] {
		return nil
	}
	version, err := q.e.findQueue(q.e.ctx, name)
	if err != nil {
		return err
	}
	q.mu.Lock()
	q.kueue, q.queues[name] = version, true
	q.mu.Unlock()
	return nil
}

// Withdraw removes the Job of a job that has ended or is not wanted any more.
func (q *submissions) Withdraw(number int) {
	q.mu.Lock()
	delete(q.jobs, number)
	q.mu.Unlock()
	if o := q.e.detach(programKey{job: number}); o != nil {
		q.e.calls.Go(func() { q.e.drop(o) })
	}
}

// Placement returns the node of the hardware on which the cluster has placed a job, or why the job waits; empty if the
// cluster gives no reason.
func (q *submissions) Placement(number int) (node int, placed bool, why string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.jobs[number]
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
	q.e.mu.Lock()
	defer q.e.mu.Unlock()
	node = slices.Index(q.e.nodes, s.pod.Spec.NodeName)
	return node, node >= 0, "the cluster placed it on " + s.pod.Spec.NodeName + ", which is no node of the hardware"
}

// adopt gives a program the pod that the cluster has started for its job. ok is false if tfexp itself starts the job.
func (q *submissions) adopt(p *program) (ok bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	s := q.jobs[p.Number]
	switch {
	case s == nil:
		return false, nil
	case s.err != nil || s.pod == nil:
		return true, cmp.Or(s.err, errors.New("the cluster has no pod for it"))
	}
	uid := s.pod.Metadata.UID
	q.e.mu.Lock()
	q.e.started[uid] = p
	q.e.mu.Unlock()
	p.set(func(now *state) { now.start, now.pod, now.gone, now.adopted = uid, nil, false, true })
	p.see(s.pod, s.gone)
	return true, nil
}

// changed wakes the scheduler of tfexp, since the placement of a job may have changed.
func (q *submissions) changed(number int) {
	q.e.Notice(scheduler.Notice{Kind: scheduler.JobProgress, Job: number, At: q.e.Now()})
}

// tell passes the latest state of a pod to its submission.
func (q *submissions) tell(p *api.Pod, gone bool) {
	q.mu.Lock()
	s := q.byStart[p.Metadata.Labels[labelStart]]
	changed := s != nil && s.see(p, gone)
	asks := changed && s.queue != "" && s.lost() != ""
	q.mu.Unlock()
	switch {
	case asks:
		q.e.calls.Go(q.ask)
	case changed:
		q.changed(s.number)
	}
}

// askPeriod is how often tfexp asks the cluster why jobs have no pod.
const askPeriod = 2 * time.Second

// ask asks why jobs have no pod: first Kueue, then the events of their Jobs.
func (q *submissions) ask() {
	e := q.e
	waiting, queued := map[*submission]bool{}, false // jobs, and whether they have had no pod; whether some have a queue
	q.mu.Lock()
	for _, s := range q.jobs {
		if s.uid != "" && s.err == nil && (s.pod == nil || s.queue != "" && s.lost() != "") {
			waiting[s], queued = s.pod == nil, queued || s.queue != ""
		}
	}
	version := q.kueue
	q.mu.Unlock()
	var of map[string]*workload
	if queued {
		var err error
		if of, err = e.workloads(e.ctx, version); err != nil && e.ctx.Err() == nil {
			e.Break(Unavailable(fmt.Errorf("read the Workloads of Kueue: %w", err)))
		}
	}
	for s, bare := range waiting {
		why, evicted := cmp.Or(of[s.uid], &workload{}).says()
		vain := false
		if why == "" && bare {
			why, vain = e.Refusal(s.uid)
		}
		q.mu.Lock()
		lost := s.lost() != "" && !s.asked
		changed := why != s.why || lost
		if s.why = why; lost {
			s.asked, s.evicted = true, evicted
		}
		if vain {
			s.err = errors.New(why)
		}
		q.mu.Unlock()
		if changed {
			q.changed(s.number)
		}
	}
}
