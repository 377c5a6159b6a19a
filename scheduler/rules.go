package scheduler

import (
	"fmt"
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// SchedulingPolicy is a policy, as an input of a Run. The policies are in package
// policy; the scheduler knows none of them.
type SchedulingPolicy interface {
	// Rules returns the rules of one run, which may keep state. The error
	// describes a mistake in the policy.
	Rules(Run) (PolicyRules, error)
	// String sums the policy up in a line.
	String() string
}

// PolicyRules are the decision rules of a run: which job is next, which one
// starts, and the state that the scheduler must track for that.
type PolicyRules struct {
	Order     Ranker
	Admission Admitter
	// Victims returns the sort key by which running jobs are paused: smallest first value, then smallest
	// second. It is constant while a job runs with the same request. Nil when no job is paused for a
	// better one.
	Victims func(JobView) (first, second int64)
	// LastFirst pauses those first that are last in the order.
	LastFirst bool
	// Partial allows jobs to be given less than their request.
	Partial bool
	// Quantum is the time that a job runs before dispatch looks at it again; 0 for none.
	Quantum time.Duration
	// QuantumOf, if it is set, returns the quantum of a job that starts or continues now, in the place of Quantum; Never
	// means to its end.
	QuantumOf func(JobView) time.Duration
	// Reranks, if it is set, reports whether ranks have changed since it was called last. It is called before each dispatch.
	Reranks func(now time.Duration) bool
	// Sampled, if it is set, is called when a sample of a job has ended (Actions.Sample), with its alternative, before the
	// job waits again.
	Sampled func(job, alternative int32)
	// Round is the length of the rounds at whose starts alone the policy decides; 0 for none. A
	// round ends when nothing runs any more. The Admission is asked at the start of each, even
	// when no job waits, and with ConsultOnRelease also whenever devices were freed.
	Round            time.Duration
	ConsultOnRelease bool
	// FixedRounds start at the multiples of Round, whether or not anything runs.
	FixedRounds bool
	// RequeueAfterQuantum makes a job whose quantum has ended go back to the queue.
	RequeueAfterQuantum bool
	// Feedback is the waiting time that improves a job's effective level by one; 0
	// for none.
	Feedback time.Duration
	// Ends keeps the expected ends of running jobs (RunningJobs.Ends), and lets
	// limits on the queue have a window.
	Ends bool
	// RankDependsOnOthers says that the rank of a waiting job changes when others are served: the job moves to its new
	// place when it is next considered.
	RankDependsOnOthers bool
	// AlwaysConsult makes the kernel ask the Admission even when no job waits, because it also decides about running
	// jobs.
	AlwaysConsult bool
	// Predicted says that ranks follow the predictions of run times.
	Predicted bool
	// Place chooses the nodes of divided jobs; nil means placement.Any.
	Place cluster.PlacementRule
	// Supply, if it is set, makes the extension that keeps the nodes that come and go, in place of the registered one.
	Supply func(*Run, *cluster.Machine, Kernel) (Extension, error)
	// OnEvent is called with each event of the trace when it happens; it may be nil. The event is valid during the call.
	OnEvent func(*Event)
	// OwnsSizes says that only the policy changes the cores of running jobs. Their requests and the free cores alone
	// change nothing.
	OwnsSizes bool
}

// Ranker orders jobs.
type Ranker interface {
	// Rank returns the sort key of a job; less is better. For a running job it
	// is the key that compares it with waiting jobs now. Ties are broken by
	// arrival (but see SecondRanker), then job number.
	Rank(JobView) int64
}

// SecondRanker is a Ranker that breaks ties by something else than the arrival.
type SecondRanker interface {
	Second(JobView) int64
}

// UsageObserver is a Ranker that follows the grants of jobs.
type UsageObserver interface {
	Arrived(job int32)
	Ended(job int32)
	// Used reports that a job has held a grant for a time.
	Used(job int32, d time.Duration, g Grant)
	// Served reports that a job gets cores, or keeps them.
	Served(job int32)
}

// Admitter decides which waiting jobs start.
//
// The interface leaves room for a policy of rounds, which answers with
// target allocations of all jobs, and for a choice that asks for nodes.
type Admitter interface {
	// Admit is called at each dispatch with waiting jobs. The view shows
	// its actions at once.
	Admit(View, Actions) error
	// HeldBack says why a waiting job for which there is room is not started.
	HeldBack(v View, job int32) string
}

// QueueObserver is an Admitter that is notified when a job begins to wait.
type QueueObserver interface{ Waits(job int32) }

// Explainer is an Admitter that says itself why a waiting job does not start,
// whether or not there is room.
type Explainer interface {
	Why(v View, job int32) string
}

// TimedPolicy is an Admitter that is asked at instants that it chooses.
type TimedPolicy interface {
	// NextWakeup returns the next of them; Never for none. OnWakeup is called when it has come, before the dispatch.
	NextWakeup() time.Duration
	OnWakeup()
}

// View is a policy's read-only view of a run.
type View interface {
	Now() time.Duration
	Job(number int32) JobView
	Waiting() WaitingJobs
	Running() RunningJobs
	Machine() cluster.View
	// RoundStarts reports whether this is the start of a round (PolicyRules.Round).
	RoundStarts() bool
	// Recording reports whether reasons of decisions are kept.
	Recording() bool
}

// Actions are the actions that a policy can ask of the scheduler.
type Actions interface {
	// Start starts or resumes a waiting job with the given number of cores in
	// all, on nodes that have room for it. A job that its engine cannot start
	// fails.
	Start(job, cores int32, nodes []int32, why string) error
	// StartOn is Start with cores and GPUs that are free, with which the job can run.
	StartOn(job int32, g Grant, why string) error
	// Resize gives a running malleable job more or fewer cores on its node.
	Resize(job, cores int32, why string) error
	// MakeRoom pauses running jobs that are worse than a waiting one, if that lets
	// it start. It reports whether any running job is worse, and whether there is
	// room now.
	MakeRoom(job int32) (worse, made bool, err error)
	// Pause pauses a running job, which waits again.
	Pause(job int32, why string) error
	// Choose sets the alternative with which a waiting job would start. A running job
	// must have its own when the policy has decided.
	Choose(job, alternative int32)
}

// ClusterActions are the actions that only policies of clusters ask for. The Actions that a policy is given are
// ClusterActions as well.
type ClusterActions interface {
	// Sample is Start for a sample: its attempt ends after a part of its work, and nothing of it is kept. The engine
	// must be a Simulator.
	Sample(job, cores int32, nodes []int32, part float64, why string) error
	// Divide starts or resumes a waiting elastic job with GPUs on these nodes, in their
	// order, and as many cores per GPU as its request has.
	Divide(job int32, shares []cluster.Share, why string) error
	// Share starts or resumes a waiting job on the GPUs of a running one, on the nodes of
	// the running one, which have cores for both. GPUs are shared by two jobs at most.
	Share(job, with int32, nodes []int32, why string) error
	// Requeue ends the attempt of a running job, which waits again with all of its work before it. Cancel ends a job that
	// runs, or waits for its first start.
	Requeue(job int32, why string) error
	Cancel(job int32, why string) error
}

// Now returns the present instant.
func (l *loop) Now() time.Duration { return l.now }

// Job returns the view of a job.
func (l *loop) Job(number int32) JobView {
	j := l.state(number)
	if j.job == nil { // it is over, and its state is not kept
		j = &jobState{number: number, job: l.job(number), state: j.state, timer: Never}
	}
	return JobView{l, j}
}

// Waiting returns the jobs that wait.
func (l *loop) Waiting() WaitingJobs { return WaitingJobs{l, queue.Front} }

// Running returns the jobs that run.
func (l *loop) Running() RunningJobs { return RunningJobs{l} }

// Machine returns the machine.
func (l *loop) Machine() cluster.View { return cluster.ViewOf(l.machine) }

// Recording implements View.
func (l *loop) Recording() bool { return l.recording() }

// Start implements Actions.
func (l *loop) Start(job, cores int32, nodes []int32, why string) error {
	return l.start(l.open(job), cores, nodes, why)
}

// StartOn implements Actions.
func (l *loop) StartOn(job int32, g Grant, why string) error {
	j := l.state(job)
	g.Alternative = int(j.alternative)
	return l.startWith(j, int32(g.Cores.Count()), g, why)
}

// Resize implements Actions.
func (l *loop) Resize(job, cores int32, why string) error {
	j := l.state(job)
	held := int32(j.grant.Cores.Count())
	switch {
	case cores < held:
		low, rest := j.grant.Cores.Cut(int(cores))
		return l.resize(j, low, rest, nil, why)
	case cores > held:
		return l.growBy(j, cores-held, l.home(j)[0], why)
	}
	return nil
}

// MakeRoom implements Actions.
func (l *loop) MakeRoom(job int32) (worse, made bool, err error) { return l.makeRoom(l.state(job)) }

// Pause implements Actions.
func (l *loop) Pause(job int32, why string) error { return l.pause(l.state(job), why) }

// Requeue implements Actions.
func (l *loop) Requeue(job int32, why string) error {
	j := l.state(job)
	engine, ok := l.Engine.(interface {
		Revoke(job int) (Attempt, error)
	})
	if !ok {
		return fmt.Errorf("requeue job %q: the engine cannot end an attempt of it", j.job.Name)
	}
	return l.EndAttempt(job, engine.Revoke, Event{Kind: Revoke, Node: int(noJob), Reason: why})
}

// Cancel implements Actions.
func (l *loop) Cancel(job int32, why string) error {
	j := l.state(job)
	if l.begun(j) {
		return l.Engine.Stop(int(job))
	}
	l.settleTime(j)
	l.queue.Remove(job)
	j.state = Stopped
	l.close(j, Stop, why)
	return nil
}

// Choose implements Actions.
func (l *loop) Choose(job, alternative int32) {
	if l.alternatives.Any() {
		l.adopt(l.state(job), alternative)
	}
}

// WaitingJobs are the jobs that wait, queued or paused, in the policy's order.
type WaitingJobs struct {
	l    *loop
	from queue.Key
}

// Behind returns the waiting jobs after a place in the queue.
func (w WaitingJobs) Behind(k queue.Key) WaitingJobs { return WaitingJobs{w.l, k} }

// Len returns the number of waiting jobs.
func (w WaitingJobs) Len() int {
	n := w.l.queue.Len()
	if n == 0 || w.from == queue.Front {
		return n
	}
	return n - w.l.queue.Before(w.from)
}

// Next returns the first job after a place that is within a limit, or Nobody.
func (w WaitingJobs) Next(after queue.Key, within queue.Limit) int32 {
	for after = after.Max(w.from); ; {
		j := w.l.queue.Next(after, within)
		if j == noJob || !w.l.rules.RankDependsOnOthers || !w.l.moved(w.l.state(j)) {
			return j
		}
	}
}

// First appends them to a list.
func (w WaitingJobs) First(jobs []int32) []int32 { return w.l.queue.First(w.l.queue.Len(), jobs) }

// Peek is Next, but leaves jobs whose rank has changed where they stand.
func (w WaitingJobs) Peek(after queue.Key, within queue.Limit) int32 {
	return w.l.queue.Next(after.Max(w.from), within)
}

// KeyOf returns the place of a waiting job in the queue.
func (w WaitingJobs) KeyOf(job int32) queue.Key { return w.l.queue.KeyOf(job) }

// AskOf returns the least that a waiting job needs in order to start.
func (w WaitingJobs) AskOf(job int32) queue.Ask { return w.l.queue.AskOf(job) }

// RunningJobs are the jobs that run. Its slices are the scheduler's own: they are
// not to be changed, and hold until something is done.
type RunningJobs struct{ l *loop }

// All returns the running jobs, in no particular order.
func (r RunningJobs) All() []int32 { return r.l.running.all }

// Malleable returns the running jobs that can be resized, by first start, then number.
func (r RunningJobs) Malleable() []int32 { return r.l.running.malleable }

// Len returns how many jobs have an expected end.
func (r RunningJobs) Len() int { return len(r.l.running.ends) }

// End returns the i-th expected end, by the predictions, and its job; Never
// for a job without a prediction. Ends are kept for rules that ask for them.
func (r RunningJobs) End(i int) (at time.Duration, job int32) {
	return r.l.running.ends[i].At, r.l.running.ends[i].Of
}

// JobView is a job as a policy sees it, at this instant.
type JobView struct {
	l *loop
	*jobState
}

// Number returns the job's number.
func (j JobView) Number() int32 { return j.number }

// Job returns the job as it was given to the run; while it waits, with the request and the prediction of its present
// alternative.
func (j JobView) Job() *Job { return j.jobState.job }

// State returns the state of the job.
func (j JobView) State() State { return j.jobState.state }

// Request returns the cores that the job asks for now.
func (j JobView) Request() int32 { return j.jobState.request }

// Level returns the effective level.
func (j JobView) Level() int32 { return j.jobState.level }

// Turn returns the number of the job's last arrival in the queue. It grows each
// time that a job begins to wait.
func (j JobView) Turn() int64 { return j.l.tally.enqueued }

// Held returns the resources that a running job holds.
func (j JobView) Held() Grant { return j.jobState.grant }

// Yields reports whether a running job's turn is over: its cores count as free,
// and it is in the queue.
func (j JobView) Yields() bool { return j.jobState.yields }

// JobTimes are the service and waiting times of a job so far.
type JobTimes struct {
	// Since is the start of the present stretch of waiting or running that is not added to Settled yet.
	Since time.Duration
	// Service is the service time up to now, CoreTime the core time of the stretches that have ended.
	Service, CoreTime time.Duration
	// Began is when a running job would have begun, had it run for its whole service time at a stretch.
	Began time.Duration
}

// Times returns the service and waiting times of the job so far.
func (j JobView) Times() JobTimes {
	f := j.jobState
	t := JobTimes{Since: f.since, Service: f.service, CoreTime: f.coreTime, Began: f.since - f.service}
	if f.state == Running {
		t.Service += j.l.now - f.since
	}
	return t
}

// Attained returns the core time that the job has had up to now.
func (j JobView) Attained() time.Duration {
	f := j.jobState
	if f.state != Running {
		return f.coreTime
	}
	return Plus(f.coreTime, CoreTime(j.l.now-f.since, int(f.held)))
}

// Predicted returns the predicted run time on the full request; 0 without one.
func (j JobView) Predicted() time.Duration { return j.l.predicted(j.jobState) }

// Remaining returns the predicted run time that is left on the full request, and
// Never without a prediction.
func (j JobView) Remaining() time.Duration { return j.l.remaining(j.jobState) }

// Length is Remaining on the given number of cores.
func (j JobView) Length(cores int32) time.Duration { return j.l.length(j.jobState, cores) }

// Least returns the least number of cores that a waiting job can start with.
func (j JobView) Least() int32 { return j.l.atLeast(j.jobState) }

// Sized reports whether the number of cores is not to be chosen: the job is a
// gang, or rigid and has started.
func (j JobView) Sized() bool { return j.l.sized(j.jobState) }

// Training returns the known speed of an elastic job; nil for another job.
func (j JobView) Training() Training {
	if j.l.fixed.simulator == nil {
		return nil
	}
	return j.l.fixed.simulator.Training(int(j.number))
}

// Needs returns the job's need per node on the given number of cores, and the
// number of nodes. A paused job has its memory already.
func (j JobView) Needs(cores int32) (cluster.Room, int) { return j.l.needs(j.jobState, cores) }

// FitsIn is Fits with the given free resources by node, possibly of another time. The
// nodes are appended to a slice.
func (j JobView) FitsIn(rooms []cluster.Room, cores int32, nodes []int32) (_ []int32, ok bool) {
	return j.l.fitIn(rooms, j.jobState, cores, nodes)
}

// HeldBy reports whether the job fits into rooms on these nodes.
func (j JobView) HeldBy(rooms []cluster.Room, cores int32, nodes []int32) bool {
	held := true
	j.l.eachNeed(j.jobState, cores, nodes, func(v int32, need cluster.Room) {
		held = held && rooms[v].Holds(need)
		rooms[v].Sub(need) // parts may share a node
	})
	j.PutBack(rooms, cores, nodes)
	return held
}

// NeedOn returns the need of a one-node job on this node, on the given number of cores;
// ok is false if the job may not run there.
func (j JobView) NeedOn(node, cores int32) (need cluster.Room, ok bool) {
	if home := j.l.home(j.jobState); home != nil && home[0] != node && !j.l.movable(j.jobState) {
		return cluster.Room{}, false
	}
	j.l.scratch.node[0] = node
	j.l.eachNeed(j.jobState, cores, j.l.scratch.node[:], func(_ int32, n cluster.Room) { need = n })
	return need, true
}

// TakeFrom subtracts the job's need on these nodes from rooms.
func (j JobView) TakeFrom(rooms []cluster.Room, cores int32, nodes []int32) {
	j.l.eachNeed(j.jobState, cores, nodes, func(v int32, need cluster.Room) { rooms[v].Sub(need) })
}

// PutBack undoes TakeFrom.
func (j JobView) PutBack(rooms []cluster.Room, cores int32, nodes []int32) {
	j.l.eachNeed(j.jobState, cores, nodes, func(v int32, need cluster.Room) { rooms[v].Add(need) })
}

// FitsAnew is FitsIn without a preference for the nodes that the job has been on.
func (j JobView) FitsAnew(rooms []cluster.Room, cores int32, nodes []int32) (_ []int32, ok bool) {
	return j.l.fitAnew(rooms, j.jobState, cores, nodes)
}

// Home returns the nodes that a job which has started is bound to, or nil. The
// slice holds until the next call, for any job.
func (j JobView) Home() []int32 { return j.l.home(j.jobState) }

// Fits finds nodes on which a waiting job can start with the given number of
// cores: the first that have room. The slice is valid until the next call, for
// any job.
func (j JobView) Fits(cores int32) (nodes []int32, ok bool) { return j.l.fits(j.jobState, cores) }

// HeldUp reports whether a waiting job could not start even if all running jobs
// had ended: paused jobs keep the memory that it needs, and they come after it.
func (j JobView) HeldUp() bool { return j.l.heldUp(j.jobState) }

// Choices returns the alternatives that a waiting job can choose among: at least the present one, which
// alone is left to one that has started.
func (j JobView) Choices() []int32 { return j.l.choices(j.jobState) }

// ChoicesAnew is Choices, and the alternatives with which a paused (or pausable) job can resume.
func (j JobView) ChoicesAnew() []int32 { return j.l.choicesAnew(j.jobState) }

// Alternative returns the present one of the job, or the one with which it has started.
func (j JobView) Alternative() int32 { return j.jobState.alternative }

// GiveBack adds to rooms the resources that a running job would free if it ended, or if it were paused.
func (j JobView) GiveBack(rooms []cluster.Room, paused bool) {
	if paused {
		j.l.addHeld(rooms, j.jobState)
		return
	}
	j.l.addAll(rooms, j.jobState)
}

// The types of package cluster (capacity, requests, grants) under the names that engines and policies use.
type (
	Cluster = cluster.Cluster
	Node    = cluster.Node
	Grant   = cluster.Grant
	Part    = cluster.Part
	CoreSet = cluster.CoreSet
)
