// Package validate checks finished schedules, simulated or real, from their traces
// alone: it knows the rules that every schedule must keep, and nothing of policies.
// It shares no code with the scheduler, so it replays events itself, without
// scheduler/ledger.
package validate

import (
	"fmt"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/jobtable"
)

// MaxViolations bounds the violations that a Validator keeps; it counts all.
const MaxViolations = 100

// Violation is a rule that a trace breaks.
type Violation struct {
	At  time.Duration
	Job int // -1 when it is not about one job
	// Text is a sentence.
	Text string
}

func (v Violation) String() string { return fmt.Sprintf("at %s: %s", v.At, v.Text) }

// Validator checks a trace while it is made, or afterwards, without keeping
// it. It shares nothing with the loop that made it but the container of its jobs. It is a scheduler.Recorder. The
// rules:
//
//   - no core or GPU is held twice, and none that the cluster lacks, but for GPUs that two jobs share:
//     all GPUs of each of them, and both are known to run with the other;
//   - no node is over its memory, which a job holds from its start to its end;
//   - events are in order of time, and follow the life of a job: arrive,
//     start, any number of pauses, resumes and resizes, one end;
//   - nothing happens to a job before its arrival, which is at the stated time;
//   - a paused job holds nothing;
//   - a grant is within the bounds of the job's request, or of the alternative
//     that it started with, which it keeps; GPUs are as requested, and of the
//     type that the alternative wants;
//   - a rigid job has the same number of cores all its life, or all of an
//     attempt if it is restarted, which happens as often as it may;
//   - a gang has the same number of cores and GPUs on each of its nodes, any
//     other job is on one node; a resumed job is on the nodes it was on, or says that it
//     migrates;
//   - the parts of a job that has several are its grant, each on one node; a job with roles has
//     all of them when it starts, and of elastic ones never less than their least number;
//   - no part of a job is on a node that has no server, and no job starts, resumes or gets
//     another part on a node that is to be taken away; servers are asked for, come up, are warned
//     and end in this order, and not before their warning says, unless others decide that;
//   - an attempt that loses a node restarts with no more work than in its last
//     checkpoint;
//   - every job has an end, and only one;
//   - waiting and service time, added up from the trace, equal the outcome's,
//     and together the time from arrival to finish.
type Validator struct {
	cluster   scheduler.Cluster
	jobs      scheduler.JobSet
	own       bool // jobs are a copy
	cores     holders
	gpus      holders
	memory    []int64 // free, by node
	servers   []server
	changes   bool   // some of them come and go
	rules     []Rule // of features
	profiling *profiling
	orphans   []int32 // jobs on a node that was taken away, which have to lose it
	lives     jobtable.Table[traced]
	nodes     []int        // of granted
	spare     []*grantedTo // of jobs that are over
	last      time.Duration
	found     []Violation
	count     int
}

// traced is the state of a job, from the trace so far.
type traced struct {
	since, arrival   time.Duration
	first, finish    time.Duration
	waiting, service time.Duration
	size, low, high  int32 // cores granted first; bounds of a grant
	pauses, resizes  int32
	migrations       int32
	retries          int32
	revocations      int32
	reconfigured     int32         // attempts that ended for a change of settings
	alternative      int32         // the alternative that it started with
	kept             time.Duration // work that the job has at the start of an attempt, at most
	state            scheduler.State
	steered          bool // a controller has changed something: its requests may be any
	asked            bool // another number of its parts was asked for
	memory           bool // it asks for some
	plain            bool // it asks for cores of one node and nothing else
	compared         bool // with its result, at its end: no more events follow
	*grantedTo            // nil before the first start and after the end
}

// grantedTo is the last grant of a job that has started.
type grantedTo struct {
	cores, gpus scheduler.CoreSet // held
	nodes       []int
	units       []int // of a divided job, the cores on each of them
}

// holders says which job holds each core or GPU; -1 when none does.
type holders struct {
	what   string
	job    []int32
	second []int32 // which job shares it; nil until one does
	node   []int32 // of each core or GPU
	byNode []int   // how many a grant has, by node
	on     []int   // the nodes where it has some
}

// New returns a validator for the trace of jobs on a cluster, with
// the resize requests that the workload makes.
func New(c scheduler.Cluster, jobs []scheduler.Job, resizes []scheduler.Resize) *Validator {
	return Of(c, scheduler.JobSet{List: jobs}, resizes)
}

// Of is New for jobs that may be drawn.
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

// untouched sets the state of a job not yet seen in the trace.
func (v *Validator) untouched(job int32, t *traced) {
	j := v.job(int(job))
	*t = traced{}
	t.state, t.arrival, t.first, t.finish = scheduler.Pending, j.Arrival, scheduler.Never, scheduler.Never
	t.memory = j.Memory > 0 || len(j.Alternatives()) > 0
	t.plain = !t.memory && j.GPUs == 0 && j.Nodes <= 1 && !j.Elastic && !j.Divided && len(j.Roles()) == 0
	t.low, t.high = int32(min(max(j.MinThreads, 1), j.Threads)), int32(max(j.Threads, j.MaxThreads))
}

func (v *Validator) life(job int) *traced { return v.lives.At(int32(job)) }

// Trace checks a finished trace, and the outcome of the run that made it
// unless it is nil.
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

// Violations returns the violations found so far, at most MaxViolations.
func (v *Validator) Violations() []Violation { return v.found }

// Count returns how many violations have been found so far.
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
			v.report(e.At, e.Job, "job %q is tried again %d times instead of at most %d",
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
			// With other settings the same work takes another time.
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

// resume checks that a job resumes where it was paused, or that the event says that it
// migrates and takes its memory with it, or that it resumes with another of its
// alternatives.
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
		v.report(e.At, e.Job, "job %q resumes on other nodes than it was paused on", v.name(e.Job))
	} else if e.Migrated && !moved && !other && len(e.GPUs) == 0 {
		v.report(e.At, e.Job, "job %q migrates to the nodes on which it was", v.name(e.Job))
	}
	if e.Migrated && (memory > 0 || other) {
		v.takeMemory(e, t)
	}
}

// reconfigure gives a job another request; a decision of a controller must precede
// it. A started job gives back its grant.
func (v *Validator) reconfigure(e *scheduler.Event, t *traced) {
	if !t.steered {
		v.report(e.At, e.Job, "job %q is reconfigured, and no controller has decided it", v.name(e.Job))
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

// unknownWork is more than any job has.
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

// another returns the place for a grant: there are only as many as started
// jobs that are not over.
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

// lawfulIn has, for each kind of event of a job, the states in which it can happen to the job.
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

// states is a set of states, a bit each.
type states uint16

func in(all ...scheduler.State) (s states) {
	for _, x := range all {
		s |= 1 << x
	}
	return s
}

// allows reports whether an event of a kind can happen to a job in its state.
func (t *traced) allows(k scheduler.EventKind) bool {
	return int(k) < len(lawfulIn) && lawfulIn[k]&(1<<t.state) != 0
}

// unlawful reports an event that cannot happen to a job in its state.
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

// passTime adds the stretch before an event to the job's times.
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
		v.report(e.At, e.Job, "job %q starts with alternative %d of %d", v.name(e.Job), e.Alternative, len(alternatives))
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

// grant checks the holdings of a job from an event on, and books them.
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
		v.report(e.At, e.Job, "job %q is given %d cores, not %d … %d", j.Name, cores, t.low, t.high)
	}
	if !j.Malleable && cores != int(t.size) {
		v.report(e.At, e.Job, "the rigid job %q changes from %d to %d cores", j.Name, t.size, cores)
	}
	wantGPUs, wantGPU := j.GPUs, ""
	if all := j.Alternatives(); len(all) > 0 {
		wantGPUs, wantGPU = all[t.alternative].GPUs, all[t.alternative].GPU
	}
	if gpus != wantGPUs {
		v.report(e.At, e.Job, "job %q is given %d GPUs instead of %d", j.Name, gpus, wantGPUs)
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
			v.report(e.At, e.Job, "job %q has %d cores and %d GPUs of its %d and %d on node %d of %d",
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

// Close makes the checks that are possible only at the end of the trace,
// against the outcome if it is not nil. It must not be called for a run that
// was broken off, as its jobs have no end.
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
			continue // the run was closed before it arrived
		}
		if t.finish == scheduler.Never {
			v.report(v.last, i, "job %q has no end, it is %s", v.name(i), t.state)
			continue
		}
		var r *scheduler.Result
		if results != nil {
			r = &results[i]
		}
		v.compare(i, t, r)
	}
}

// compare checks the trace of a job that is over, against its result if it is not nil.
func (v *Validator) compare(i int, t *traced, r *scheduler.Result) {
	if jct := t.finish - t.arrival; t.waiting+t.service != jct {
		v.report(t.finish, i, "job %q: waiting %s and service %s do not add up to %s",
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

// Rule is a check that a feature adds to the checks of every trace.
type Rule interface {
	// Event takes the next event before the validator looks at it, and reports errors (Report).
	Event(e *scheduler.Event, to *Validator)
}

// Add adds a rule to those that are checked.
func (v *Validator) Add(r Rule) { v.rules = append(v.rules, r) }

// Report records a violation; job is -1 where it is not about one.
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
