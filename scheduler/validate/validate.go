// Package validate checks schedules, simulated or real, by their traces. It knows the rules that every schedule must
// follow, and no policies. It computes the states of jobs itself, without code of the scheduler or of
// scheduler/ledger, so that its checks are independent.
package validate

import (
	"fmt"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/jobtable"
)

// MaxViolations is the greatest number of violations that a Validator keeps. It counts all.
const MaxViolations = 100

// Violation is a rule that a trace breaks.
type Violation struct {
	At  time.Duration
	Job int // -1 if the violation is not about one job
	// Text is a sentence for users.
	Text string
}

func (v Violation) String() string { return fmt.Sprintf("at %s: %s", v.At, v.Text) }

// Validator checks a trace, while the run makes it or afterwards. It is a scheduler.Recorder. Except for the
// container of its jobs, it shares no code with the scheduler. It checks these rules:
//
//   - No core or GPU is held twice, or is not in the cluster. Two jobs may share GPUs: all
//     GPUs of each of them, and only if the speed of both is known for it.
//   - Jobs on a node need no more than its memory. A job holds its memory from its start
//     to its end.
//   - Events are ordered by time. The events of a job are an arrival, a start, any number of
//     pauses, resumes and resizes, and one end.
//   - Nothing happens to a job before its arrival, which is at the stated time.
//   - A paused job holds no cores or GPUs.
//   - A grant is within the bounds of the job's request, or of the alternative with which the
//     job started and which it keeps. GPUs are as requested, and of the right type.
//   - A rigid job has the same number of cores from start to end, or in each attempt if it is
//     restarted. It is restarted only as often as it may be.
//   - A job on several nodes has the same number of cores and GPUs on each; other jobs are on
//     one node. A job resumes on its former nodes, or the event says that it migrates.
//   - The parts of a job have all resources of its grant, each on one node. A job with roles
//     starts with all parts, and elastic roles always have at least their minimum.
//   - No part is on a node without a server. On a node that will be taken away, no job starts,
//     resumes or gets a part. Servers are requested, start, are warned and end in this order.
//     They do not end before the announced instant, unless others decide that.
//   - After the loss of a node, a job restarts with at most the work in its last checkpoint.
//   - Every job ends exactly once.
//   - The waiting and service times in the trace equal the times in the outcome. Their sum is the
//     time from arrival to finish.
type Validator struct {
	cluster   scheduler.Cluster
	jobs      scheduler.JobSet
	own       bool // jobs is a copy
	cores     holders
	gpus      holders
	memory    []int64 // free bytes by node
	servers   []server
	changes   bool   // some nodes come and go
	rules     []Rule // rules of features
	profiling *profiling
	orphans   []int32 // jobs on a lost node, whose next event must leave it
	lives     jobtable.Table[traced]
	nodes     []int        // result of granted, reused
	spare     []*grantedTo // values of jobs that are over, for reuse
	last      time.Duration
	found     []Violation
	count     int
}

// traced is the state of a job, from the events so far.
type traced struct {
	since, arrival   time.Duration
	first, finish    time.Duration
	waiting, service time.Duration
	size, low, high  int32 // size is the first number of granted cores; low and high bound it
	pauses, resizes  int32
	migrations       int32
	retries          int32
	revocations      int32
	reconfigured     int32         // number of attempts that ended for a change of settings
	alternative      int32         // index of the alternative with which it started
	kept             time.Duration // greatest work that the job can have at the start of an attempt
	state            scheduler.State
	steered          bool // a controller has changed the job, so its request may change
	asked            bool // another number of parts was requested
	memory           bool // it requests memory
	plain            bool // scheduler.Job.Plain
	compared         bool // its end was checked; no event may follow
	*grantedTo            // nil before the first start and after the end
}

// grantedTo is the last grant of a started job.
type grantedTo struct {
	cores, gpus scheduler.CoreSet // present resources
	nodes       []int
	units       []int // of a divided job, the cores on each node
}

// holders records which job holds each core, or each GPU; -1 means no job.
type holders struct {
	what   string
	job    []int32
	second []int32 // by number, the other job that shares it; nil until one is shared
	node   []int32 // by number, the node
	byNode []int   // by node, how many of them the last grant has
	on     []int   // nodes on which the last grant has some
}

// New returns a validator for jobs on a cluster. resizes are the requests of the workload.
func New(c scheduler.Cluster, jobs []scheduler.Job, resizes []scheduler.Resize) *Validator {
	return Of(c, scheduler.JobSet{List: jobs}, resizes)
}

// Of is New for a JobSet, whose jobs may not all be in memory.
func Of(c scheduler.Cluster, jobs scheduler.JobSet, resizes []scheduler.Resize) *Validator {
	v := &Validator{cluster: c, jobs: jobs, changes: c.Changes()}
	v.lives = jobtable.New(jobs.Len(), v.untouched, traced{state: scheduler.Finished, compared: true})
	v.cores.what, v.gpus.what = "core", "GPU"
	for i, n := range c.Nodes {
		v.memory = append(v.memory, n.Memory)
		v.servers = append(v.servers, server{up: n.Supply == cluster.Standing, stands: n.Supply == cluster.Standing})
		v.cores.add(i, n.Threads)
		v.gpus.add(i, n.GPUs)
	}
	for _, z := range resizes {
		if z.Job >= 0 && z.Job < jobs.Len() && z.Role == "" {
			t := v.life(z.Job)
			t.low, t.high = min(t.low, int32(z.Threads)), max(t.high, int32(z.Threads))
		}
	}
	return v
}

// untouched sets the state of a job before its first event.
func (v *Validator) untouched(job int32, t *traced) {
	j := v.job(int(job))
	*t = traced{}
	t.state, t.arrival, t.first, t.finish = scheduler.Pending, j.Arrival, scheduler.Never, scheduler.Never
	t.memory = j.Memory > 0 || len(j.Alternatives()) > 0
	t.plain = !t.memory && j.GPUs == 0 && j.Nodes <= 1 && !j.Elastic && !j.Divided && len(j.Roles()) == 0
	t.low, t.high = int32(min(max(j.MinThreads, 1), j.Threads)), int32(max(j.Threads, j.MaxThreads))
}

func (v *Validator) life(job int) *traced { return v.lives.At(int32(job)) }

// Trace checks all events of a trace, and the outcome of the run if it is not nil.
func Trace(
	c scheduler.Cluster, jobs []scheduler.Job, resizes []scheduler.Resize, trace []scheduler.Event, o *scheduler.Outcome,
) []Violation {
	v := New(c, jobs, resizes)
	for i := range trace {
		v.Event(&trace[i])
	}
	v.Close(o)
	return v.Violations()
}

// Violations returns the violations so far, at most MaxViolations.
func (v *Validator) Violations() []Violation { return v.found }

// Count returns the number of violations so far.
func (v *Validator) Count() int { return v.count }

// Decision implements scheduler.Recorder. Decisions are not checked.
func (v *Validator) Decision(*scheduler.Decision) {}

// Event checks the next event of the trace.
func (v *Validator) Event(e *scheduler.Event) {
	if e.At < v.last {
		v.report(e.At, e.Job, "the trace goes back in time: %s is after %s", e.At, v.last)
	} else {
		v.last = e.At
	}
	for _, r := range v.rules {
		r.Event(e, v)
	}
	if len(v.orphans) > 0 {
		v.handled(e)
	}
	if e.Kind.OfNode() {
		v.node(e)
		return
	}
	if e.Job < 0 || e.Job >= v.jobs.Len() {
		v.report(e.At, -1, "an event is about job number %d, which does not exist", e.Job)
		return
	}
	t := v.lives.Look(int32(e.Job))
	if t == nil {
		t = v.life(e.Job)
	}
	if !t.allows(e.Kind) {
		v.unlawful(e, t)
		return
	}
	v.passTime(e.At, t)
	switch e.Kind {
	case scheduler.Arrive:
		t.state, t.since = scheduler.Queued, t.arrival
		if e.At != t.since {
			v.report(e.At, e.Job, "job %q arrives at %s instead of %s", v.name(e.Job), e.At, t.since)
		}
		v.holdNothing(e)
	case scheduler.Start:
		if t.state, t.size = scheduler.Running, int32(e.Cores.Count()); t.first == scheduler.Never {
			t.first = e.At
		}
		t.grantedTo = v.another()
		if t.plain && v.grantPlain(e, t) {
			break
		}
		v.choose(e, t)
		v.grant(e, t)
		v.takeMemory(e, t)
	case scheduler.Resume:
		t.state = scheduler.Running
		other := e.Alternative != int(t.alternative)
		if other {
			t.size = int32(e.Cores.Count())
		}
		v.resume(e, t, other)
	case scheduler.ResizeJob:
		t.resizes++
		v.drop(e, t)
		v.grant(e, t)
	case scheduler.Pause:
		t.state = scheduler.Paused
		t.pauses++
		v.drop(e, t)
		v.holdNothing(e)
	case scheduler.Retry:
		if t.retries++; int(t.retries) > v.job(e.Job).Retries() {
			v.report(e.At, e.Job, "job %q is restarted %d times, more than its %d retries",
				v.name(e.Job), t.retries, v.job(e.Job).Retries())
		}
		v.takeBack(e, t)
		t.state, t.kept = scheduler.Queued, 0
	case scheduler.Revoke:
		t.revocations++
		v.attempt(e, t)
		v.takeBack(e, t)
		t.state = scheduler.Queued
	case scheduler.Move:
		v.attempt(e, t)
		v.takeBack(e, t)
		t.state = scheduler.Queued
	case scheduler.Profiled:
		v.profiling.sample(v, e, t)
		v.takeBack(e, t)
		t.state, t.kept = scheduler.Queued, 0
	case scheduler.Reconfigure:
		v.reconfigure(e, t)
	case scheduler.Finish, scheduler.Fail, scheduler.Stop:
		if e.Attempt != nil {
			v.attempt(e, t)
		}
		v.takeBack(e, t)
		t.finish = e.At
		switch e.Kind {
		case scheduler.Finish:
			if t.state = scheduler.Finished; v.profiling != nil {
				v.profiling.finish(v, e)
			}
		case scheduler.Fail:
			t.state = scheduler.Failed
		case scheduler.Stop:
			t.state = scheduler.Stopped
		}
		if e.Result != nil {
			v.compare(e.Job, t, e.Result)
			t.compared = true
			v.lives.Over(int32(e.Job))
		}
	case scheduler.Decided:
		if e.Control != nil && e.Control.Refused == "" && !e.Control.Action.Nothing() {
			// The same work takes another time with other settings.
			t.steered, t.kept = true, unknownWork
		}
	case scheduler.Request:
		if t.steered {
			t.low, t.high = min(t.low, int32(e.Request)), max(t.high, int32(e.Request))
		}
		t.asked = len(v.job(e.Job).Roles()) > 0
	case scheduler.Level, scheduler.Predict:
	}
}

// resume checks that a job resumes on its former nodes. Otherwise the event must say that the job migrates, or
// resumes with another alternative (other).
func (v *Validator) resume(e *scheduler.Event, t *traced, other bool) {
	old, units, memory := slices.Clone(t.nodes), slices.Clone(t.units), v.memoryOn(e.Job, t, 0)
	if e.Migrated {
		t.migrations++
		v.leaves(e.Job, t)
		v.giveMemory(e, t)
	}
	if other {
		v.choose(e, t)
	}
	v.grant(e, t)
	if moved := !slices.Equal(old, t.nodes) || !slices.Equal(units, t.units); moved && !e.Migrated {
		v.report(e.At, e.Job, "job %q resumes on other nodes than before its pause", v.name(e.Job))
	} else if e.Migrated && !moved && !other && len(e.GPUs) == 0 {
		v.report(e.At, e.Job, "job %q migrates to the nodes on which it was before", v.name(e.Job))
	}
	if e.Migrated && (memory > 0 || other) {
		v.takeMemory(e, t)
	}
}

// reconfigure changes the request of a job. A decision of a controller must have come before. A started job gives
// back its grant.
func (v *Validator) reconfigure(e *scheduler.Event, t *traced) {
	if !t.steered {
		v.report(e.At, e.Job, "job %q is reconfigured without a decision of its controller", v.name(e.Job))
	}
	if t.state != scheduler.Queued {
		t.reconfigured++
		v.attempt(e, t)
		v.takeBack(e, t)
		t.state = scheduler.Queued
	}
	if !v.own {
		v.jobs, v.own = scheduler.JobSet{List: v.jobs.Copy()}, true
	}
	j := v.job(e.Job)
	j.Threads, j.Own().Roles = e.Request, e.Roles
	t.plain = t.plain && len(e.Roles) == 0
	t.low = int32(min(max(j.MinThreads, 1), e.Request))
	t.high = int32(max(e.Request, j.MaxThreads))
	t.kept = unknownWork
}

// unknownWork is more work than any job has.
const unknownWork = scheduler.Never / 2

// takeBack ends the grant of a job.
func (v *Validator) takeBack(e *scheduler.Event, t *traced) {
	if t.grantedTo != nil {
		v.drop(e, t)
		if t.memory {
			v.giveMemory(e, t)
		}
		if v.changes {
			v.leaves(e.Job, t)
		}
		v.spare, t.grantedTo = append(v.spare, t.grantedTo), nil
	}
	v.holdNothing(e)
}

// another returns a value for a grant, reused if possible. There are only as many values as started jobs that are
// not over.
func (v *Validator) another() *grantedTo {
	n := len(v.spare)
	if n == 0 {
		return &grantedTo{}
	}
	g := v.spare[n-1]
	v.spare = v.spare[:n-1]
	g.nodes = g.nodes[:0]
	return g
}

// lawfulIn has, for each kind of event of a job, the states in which a job can have it.
var lawfulIn = [...]states{
	scheduler.Arrive:      in(scheduler.Pending),
	scheduler.Start:       in(scheduler.Queued),
	scheduler.Level:       in(scheduler.Queued, scheduler.Paused),
	scheduler.Pause:       in(scheduler.Running),
	scheduler.ResizeJob:   in(scheduler.Running),
	scheduler.Profiled:    in(scheduler.Running),
	scheduler.Predict:     in(scheduler.Running, scheduler.Paused),
	scheduler.Resume:      in(scheduler.Paused),
	scheduler.Finish:      in(scheduler.Running, scheduler.Paused),
	scheduler.Retry:       in(scheduler.Running, scheduler.Paused),
	scheduler.Revoke:      in(scheduler.Running, scheduler.Paused),
	scheduler.Move:        in(scheduler.Running, scheduler.Paused),
	scheduler.Reconfigure: in(scheduler.Running, scheduler.Paused, scheduler.Queued),
	scheduler.Fail:        in(scheduler.Running, scheduler.Paused, scheduler.Queued),
	scheduler.Stop:        in(scheduler.Running, scheduler.Paused, scheduler.Queued),
	scheduler.Request:     in(scheduler.Pending, scheduler.Queued, scheduler.Running, scheduler.Paused),
	scheduler.Decided:     in(scheduler.Pending, scheduler.Queued, scheduler.Running, scheduler.Paused),
}

// states is a set of states, one bit each.
type states uint16

func in(all ...scheduler.State) (s states) {
	for _, x := range all {
		s |= 1 << x
	}
	return s
}

// allows reports whether a job can have an event of a kind in its state.
func (t *traced) allows(k scheduler.EventKind) bool {
	return int(k) < len(lawfulIn) && lawfulIn[k]&(1<<t.state) != 0
}

// unlawful reports an event that a job cannot have in its state.
func (v *Validator) unlawful(e *scheduler.Event, t *traced) {
	switch {
	case int(e.Kind) >= len(lawfulIn) || lawfulIn[e.Kind] == 0:
		v.report(e.At, e.Job, "the event %q is unknown", e.Kind)
	case t.state == scheduler.Pending:
		v.report(e.At, e.Job, "%q happens to job %q before its arrival", e.Kind, v.name(e.Job))
	default:
		v.report(e.At, e.Job, "%q happens to job %q, which is %s", e.Kind, v.name(e.Job), t.state)
	}
}

// passTime adds the time since a job's last event to its waiting or service time.
func (v *Validator) passTime(at time.Duration, t *traced) {
	switch t.state {
	case scheduler.Queued, scheduler.Paused:
		t.waiting += at - t.since
	case scheduler.Running:
		t.service += at - t.since
	}
	t.since = at
}

// choose records the alternative with which a job starts.
func (v *Validator) choose(e *scheduler.Event, t *traced) {
	alternatives := v.job(e.Job).Alternatives()
	if e.Alternative < 0 || e.Alternative >= max(len(alternatives), 1) {
		v.report(e.At, e.Job, "job %q starts with alternative %d, but has only %d", v.name(e.Job), e.Alternative, len(alternatives))
		return
	}
	t.alternative = int32(e.Alternative)
	if len(alternatives) > 0 {
		t.low = int32(alternatives[t.alternative].Threads)
		t.high = t.low
	}
}

// requestOf returns the request of a job with one of its alternatives.
func requestOf(j *scheduler.Job, alternative int32) scheduler.Alternative {
	if len(j.Alternatives()) > 0 {
		return j.Alternatives()[alternative]
	}
	return scheduler.Alternative{Threads: j.Threads, GPUs: j.GPUs, Memory: j.Memory}
}

func (v *Validator) holdNothing(e *scheduler.Event) {
	if len(e.Cores) > 0 || len(e.GPUs) > 0 {
		v.report(e.At, e.Job, "job %q holds cores %s and GPUs %s after %q", v.name(e.Job), e.Cores, e.GPUs, e.Kind)
	}
}

// grant checks the resources of a job after an event, and records them.
func (v *Validator) grant(e *scheduler.Event, t *traced) {
	j := v.job(e.Job)
	t.cores, t.gpus = e.Cores, e.GPUs
	cores, gpus := e.Cores.Count(), e.GPUs.Count()
	if len(j.Roles()) > 0 {
		v.roles(e, t)
		return
	}
	if j.Elastic {
		v.elastic(e, t)
		return
	}
	if j.Divided {
		v.divided(e, t)
		return
	}
	if cores < int(t.low) || cores > int(t.high) {
		v.report(e.At, e.Job, "job %q gets %d cores, outside its bounds %d … %d", j.Name, cores, t.low, t.high)
	}
	if !j.Malleable && cores != int(t.size) {
		v.report(e.At, e.Job, "the rigid job %q changes from %d to %d cores", j.Name, t.size, cores)
	}
	wantGPUs, wantGPU := j.GPUs, ""
	if all := j.Alternatives(); len(all) > 0 {
		wantGPUs, wantGPU = all[t.alternative].GPUs, all[t.alternative].GPU
	}
	if gpus != wantGPUs {
		v.report(e.At, e.Job, "job %q gets %d GPUs instead of %d", j.Name, gpus, wantGPUs)
	}
	onCores := v.hold(&v.cores, e, e.Cores)
	onGPUs := v.holdGPUs(e)
	t.nodes = t.nodes[:0]
	for _, node := range v.granted() {
		c, g := onCores[node], onGPUs[node]
		t.nodes = append(t.nodes, node)
		v.usable(e, node)
		if has := v.cluster.Nodes[node].GPU; wantGPU != "" && has != wantGPU {
			v.report(e.At, e.Job, "job %q is on node %d, whose GPUs are of the type %q instead of %q",
				j.Name, node, has, wantGPU)
		}
		if c*max(j.Nodes, 1) != cores || g*max(j.Nodes, 1) != gpus {
			v.report(e.At, e.Job, "job %q has %d cores and %d GPUs, of %d cores and %d GPUs in all, on node %d, but runs on %d nodes",
				j.Name, c, g, cores, gpus, node, max(j.Nodes, 1))
		}
	}
	if e.Layout != nil || j.Nodes > 1 {
		v.parts(e, t)
	}
	if len(t.nodes) != max(j.Nodes, 1) {
		v.report(e.At, e.Job, "job %q is on %d nodes instead of %d", j.Name, len(t.nodes), max(j.Nodes, 1))
	}
}

// Close makes the checks that need the whole trace, and compares it with the outcome if that is not nil. It must not
// be called for a run that ended with an error, because jobs of such a run may have no end.
func (v *Validator) Close(o *scheduler.Outcome) {
	var results []scheduler.Result
	if o != nil {
		results = o.Jobs
	}
	if results != nil && len(results) != v.jobs.Len() {
		v.report(v.last, -1, "the outcome has %d jobs instead of %d", len(results), v.jobs.Len())
		results = nil
	}
	for job, t := range v.lives.Rest() {
		i := int(job)
		if t.compared {
			continue
		}
		if o != nil && o.Closed > 0 && t.state == scheduler.Pending && v.job(i).Arrival > o.Closed &&
			(results == nil || results[i].State == scheduler.Pending) {
			continue // the run ended before it arrived
		}
		if t.finish == scheduler.Never {
			v.report(v.last, i, "job %q does not end: at the end of the trace it is %s", v.name(i), t.state)
			continue
		}
		var r *scheduler.Result
		if results != nil {
			r = &results[i]
		}
		v.compare(i, t, r)
	}
}

// compare checks the times of a job that is over. It compares them with its result if that is not nil.
func (v *Validator) compare(i int, t *traced, r *scheduler.Result) {
	if jct := t.finish - t.arrival; t.waiting+t.service != jct {
		v.report(t.finish, i, "job %q: waiting time %s and service time %s do not add up to its completion time %s",
			v.name(i), t.waiting, t.service, jct)
	}
	if r == nil {
		return
	}
	if r.State != t.state || r.FirstStart != t.first || r.Finish != t.finish || r.Waiting != t.waiting ||
		r.Service != t.service || r.Preemptions != int(t.pauses) || r.Resizes != int(t.resizes) ||
		r.Restarts != int(t.retries) || r.Migrations != int(t.migrations) || r.Revocations != int(t.revocations) ||
		r.Reconfigurations != int(t.reconfigured) {
		v.report(t.finish, i, "job %q: the outcome says %s, start %s, finish %s, waiting %s, service %s, "+
			"%d pauses, %d resizes; the trace %s, %s, %s, %s, %s, %d, %d",
			v.name(i), r.State, r.FirstStart, r.Finish, r.Waiting, r.Service, r.Preemptions, r.Resizes,
			t.state, t.first, t.finish, t.waiting, t.service, t.pauses, t.resizes)
	}
}

// Rule is a further check of traces that a feature adds.
type Rule interface {
	// Event is called with each event before the validator checks it. It calls Report for violations.
	Event(e *scheduler.Event, to *Validator)
}

// Add adds a rule.
func (v *Validator) Add(r Rule) { v.rules = append(v.rules, r) }

// Report records a violation. job is -1 if the violation is not about one job.
func (v *Validator) Report(at time.Duration, job int, format string, args ...any) {
	v.report(at, job, format, args...)
}

func (v *Validator) report(at time.Duration, job int, format string, args ...any) {
	if v.count++; len(v.found) < MaxViolations {
		v.found = append(v.found, Violation{At: at, Job: job, Text: fmt.Sprintf(format, args...)})
	}
}

func (v *Validator) job(job int) *scheduler.Job { return v.jobs.At(job) }

func (v *Validator) name(job int) string { return v.job(job).Name }
