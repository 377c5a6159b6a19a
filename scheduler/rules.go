package scheduler

import (
	"fmt"
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// SchedulingPolicy is a policy as the scheduler sees it. The policies are in package policy, which the scheduler
// does not import.
type SchedulingPolicy interface {
	// Rules returns the rules for one run. They may have state. The error describes a mistake in the policy.
	Rules(Run) (PolicyRules, error)
	// String describes the policy in one line.
	String() string
}

// PolicyRules are the rules by which a policy decides in one run, and make the scheduler track more for them.
type PolicyRules struct {
	Order     Ranker
	Admission Admitter
	// Victims returns the sort key of a running job in the list of jobs to pause: the smallest first value is paused
	// first, then the smallest second value. The key must not change while the job runs with the same request.
	// Victims is nil if no job is paused for another.
	Victims func(JobView) (first, second int64)
	// LastFirst says that the job which is last in the order is paused first. Victims is then not called.
	LastFirst bool
	// Partial says that jobs may get fewer cores than they request.
	Partial bool
	// Quantum is the run time of a job after which dispatch considers it again; 0 means no quantum.
	Quantum time.Duration
	// QuantumOf, if not nil, returns the quantum of a job that starts or continues now, and replaces Quantum. Never
	// means no quantum.
	QuantumOf func(JobView) time.Duration
	// Reranks, if not nil, is called before each dispatch. It reports whether ranks have changed since the last
	// call.
	Reranks func(now time.Duration) bool
	// Sampled, if not nil, is called when a sample of a job has ended (ClusterActions.Sample), with the job's
	// alternative, before the job waits again.
	Sampled func(job, alternative int32)
	// Round is the length of the rounds of a policy that decides only at their starts; 0 means that the policy has
	// no rounds. A round also ends when no job runs any more. Admission is called at the start of each round, even
	// if no job waits. With ConsultOnRelease it is also called when devices have become free.
	Round            time.Duration
	ConsultOnRelease bool
	// FixedRounds says that rounds start at the multiples of Round, whether or not jobs run.
	FixedRounds bool
	// RequeueAfterQuantum says that a job whose quantum is over goes back into the queue if other jobs wait.
	RequeueAfterQuantum bool
	// Feedback is the waiting time after which the effective level of a job improves by one; 0 means no feedback.
	Feedback time.Duration
	// Ends says that the scheduler keeps the expected ends of running jobs (RunningJobs.End), and that limits on the
	// queue may have a window.
	Ends bool
	// RankDependsOnOthers says that the rank of a waiting job changes when other jobs run. The job then moves in the
	// queue when it is next considered.
	RankDependsOnOthers bool
	// AlwaysConsult says that Admission is called even if no job waits, because it also decides about running jobs.
	AlwaysConsult bool
	// Predicted says that ranks depend on predicted run times.
	Predicted bool
	// Place chooses the nodes of divided jobs; nil means placement.Any.
	Place cluster.PlacementRule
	// Supply, if not nil, makes the extension that adds and removes nodes during the run. It replaces the registered
	// one.
	Supply func(*Run, *cluster.Machine, Kernel) (Extension, error)
	// OnEvent, if not nil, is called with each event of the trace. The event is valid during the call.
	OnEvent func(*Event)
	// OwnsSizes says that only the policy changes the cores of running jobs. The scheduler then does not resize them
	// when their requests change or cores are free.
	OwnsSizes bool
}

// Ranker orders jobs.
type Ranker interface {
	// Rank returns the sort key of a job; the lowest is first. The key of a running job is comparable with the keys
	// of waiting jobs at this instant. Ties are broken by arrival (see also SecondRanker), then job number.
	Rank(JobView) int64
}

// SecondRanker is a Ranker that breaks ties by another key than the arrival.
type SecondRanker interface {
	Second(JobView) int64
}

// UsageObserver is a Ranker that needs to know which resources jobs use.
type UsageObserver interface {
	Arrived(job int32)
	Ended(job int32)
	// Used is called when a job has held a grant for the time d.
	Used(job int32, d time.Duration, g Grant)
	// Served is called when a job gets resources, or keeps them after a quantum.
	Served(job int32)
}

// Admitter decides which waiting jobs start. A policy of rounds decides about all jobs, waiting and running.
type Admitter interface {
	// Admit is called at each dispatch with waiting jobs. The effects of its actions are visible in the View at
	// once.
	Admit(View, Actions) error
	// HeldBack says why a waiting job is not started although there is room for it.
	HeldBack(v View, job int32) string
}

// QueueObserver is an Admitter that is called when a job begins to wait.
type QueueObserver interface{ Waits(job int32) }

// Explainer is an Admitter that says why a waiting job does not start. Its reason replaces the scheduler's.
type Explainer interface {
	Why(v View, job int32) string
}

// TimedPolicy is an Admitter that is called at instants of its choice.
type TimedPolicy interface {
	// NextWakeup returns the next such instant; Never for no such instant. OnWakeup is called at that instant, before
	// dispatch.
	NextWakeup() time.Duration
	OnWakeup()
}

// View is a read-only view of a run, for policies.
type View interface {
	Now() time.Duration
	Job(number int32) JobView
	Waiting() WaitingJobs
	Running() RunningJobs
	Machine() cluster.View
	// RoundStarts reports whether a round starts now (PolicyRules.Round).
	RoundStarts() bool
	// Recording reports whether the reasons of decisions are recorded.
	Recording() bool
}

// Actions are the actions that every policy can take. The argument why is the reason that is recorded.
type Actions interface {
	// Start starts or resumes a waiting job on nodes that have room for it, with the given number of cores in all.
	// If the engine cannot start the job, the job fails.
	Start(job, cores int32, nodes []int32, why string) error
	// StartOn is Start with a given grant. Its cores and GPUs must be free, and fit a request of the job.
	StartOn(job int32, g Grant, why string) error
	// Resize gives a running malleable job more or fewer cores on its node.
	Resize(job, cores int32, why string) error
	// MakeRoom pauses running jobs that rank worse than a waiting job, if the waiting job can then start. worse says
	// whether any running job ranks worse; made says whether there is room now.
	MakeRoom(job int32) (worse, made bool, err error)
	// Pause pauses a running job and puts it into the queue.
	Pause(job int32, why string) error
	// Choose sets the alternative with which a waiting job would start. A policy may also try alternatives of a
	// running job, but must set back the alternative of the running job before Admit returns.
	Choose(job, alternative int32)
}

// ClusterActions are further actions, for policies of clusters. The Actions that a policy gets implement
// ClusterActions.
type ClusterActions interface {
	// Sample starts a waiting job for the fraction part of its work. The job then waits again with all of its work
	// before it. The engine must be a Simulator.
	Sample(job, cores int32, nodes []int32, part float64, why string) error
	// Divide starts or resumes a waiting elastic job with GPUs on the nodes of shares, and with as many cores per
	// GPU as its request has.
	Divide(job int32, shares []cluster.Share, why string) error
	// Share starts or resumes a waiting job on the GPUs of the running job with, and on its nodes. The nodes must
	// have cores for both. At most two jobs can share GPUs.
	Share(job, with int32, nodes []int32, why string) error
	// Requeue ends the attempt of a running job and puts the job into the queue, with all of its work before it.
	// Cancel ends a job that runs, or has not started yet.
	Requeue(job int32, why string) error
	Cancel(job int32, why string) error
}

// Now returns the present instant.
func (l *loop) Now() time.Duration { return l.now }

// Job returns the view of the job with a number.
func (l *loop) Job(number int32) JobView {
	j := l.state(number)
	if j.job == nil { // the job is over, and its state is not kept
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
		return fmt.Errorf("requeue job %q: the engine cannot end an attempt of a job", j.job.Name)
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

// WaitingJobs are the jobs that wait, queued or paused, in the order of the queue.
type WaitingJobs struct {
	l    *loop
	from queue.Key
}

// Behind returns the waiting jobs behind a place in the queue.
func (w WaitingJobs) Behind(k queue.Key) WaitingJobs { return WaitingJobs{w.l, k} }

// Len returns the number of waiting jobs.
func (w WaitingJobs) Len() int {
	n := w.l.queue.Len()
	if n == 0 || w.from == queue.Front {
		return n
	}
	return n - w.l.queue.Before(w.from)
}

// Next returns the first job behind a place whose request is within a limit; queue.Nobody if there is no such job.
func (w WaitingJobs) Next(after queue.Key, within queue.Limit) int32 {
	for after = after.Max(w.from); ; {
		j := w.l.queue.Next(after, within)
		if j == noJob || !w.l.rules.RankDependsOnOthers || !w.l.moved(w.l.state(j)) {
			return j
		}
	}
}

// First appends all waiting jobs to a list, in order.
func (w WaitingJobs) First(jobs []int32) []int32 { return w.l.queue.First(w.l.queue.Len(), jobs) }

// Peek is Next, but does not move jobs whose rank has changed.
func (w WaitingJobs) Peek(after queue.Key, within queue.Limit) int32 {
	return w.l.queue.Next(after.Max(w.from), within)
}

// KeyOf returns the place of a waiting job in the queue.
func (w WaitingJobs) KeyOf(job int32) queue.Key { return w.l.queue.KeyOf(job) }

// AskOf returns the smallest request with which a waiting job can start.
func (w WaitingJobs) AskOf(job int32) queue.Ask { return w.l.queue.AskOf(job) }

// RunningJobs are the jobs that run. Callers must not change the slices that its methods return. The slices are
// valid until the next action.
type RunningJobs struct{ l *loop }

// All returns the running jobs, in no particular order.
func (r RunningJobs) All() []int32 { return r.l.running.all }

// Malleable returns the running jobs that can be resized, ordered by first start, then number.
func (r RunningJobs) Malleable() []int32 { return r.l.running.malleable }

// Len returns the number of expected ends; 0 unless PolicyRules.Ends is set.
func (r RunningJobs) Len() int { return len(r.l.running.ends) }

// End returns the i-th predicted end of a running job, and the job. A job without a prediction ends at Never.
func (r RunningJobs) End(i int) (at time.Duration, job int32) {
	return r.l.running.ends[i].At, r.l.running.ends[i].Of
}

// JobView is a view of a job at this instant, for policies.
type JobView struct {
	l *loop
	*jobState
}

// Number returns the job's number.
func (j JobView) Number() int32 { return j.number }

// Job returns the job. While it waits, it has the request and the prediction of its present alternative.
func (j JobView) Job() *Job { return j.jobState.job }

// State returns the state of the job.
func (j JobView) State() State { return j.jobState.state }

// Request returns the number of cores that the job requests now.
func (j JobView) Request() int32 { return j.jobState.request }

// Level returns the effective level of the job; 0 is best.
func (j JobView) Level() int32 { return j.jobState.level }

// Turn returns a number that orders jobs by when they last began to wait: later ones have higher numbers.
func (j JobView) Turn() int64 { return j.l.tally.enqueued }

// Held returns the grant of a running job.
func (j JobView) Held() Grant { return j.jobState.grant }

// Yields reports whether a job still runs although its quantum is over. Its cores count as free, and it is in the
// queue.
func (j JobView) Yields() bool { return j.jobState.yields }

// JobTimes are the times that a job has run and waited so far.
type JobTimes struct {
	// Since is the start of the job's present period of waiting or running. Times up to Since are settled.
	Since time.Duration
	// Service is the service time up to now. CoreTime is the core time up to Since.
	Service, CoreTime time.Duration
	// Began is now − Service: when the job would have started if it had run without a break.
	Began time.Duration
}

// Times returns the times that the job has run so far.
func (j JobView) Times() JobTimes {
	f := j.jobState
	t := JobTimes{Since: f.since, Service: f.service, CoreTime: f.coreTime, Began: f.since - f.service}
	if f.state == Running {
		t.Service += j.l.now - f.since
	}
	return t
}

// Attained returns the core time of the job up to now.
func (j JobView) Attained() time.Duration {
	f := j.jobState
	if f.state != Running {
		return f.coreTime
	}
	return Plus(f.coreTime, CoreTime(j.l.now-f.since, int(f.held)))
}

// Predicted returns the predicted run time on the full request; 0 without a prediction.
func (j JobView) Predicted() time.Duration { return j.l.predicted(j.jobState) }

// Remaining returns the predicted remaining run time on the full request; Never without a prediction.
func (j JobView) Remaining() time.Duration { return j.l.remaining(j.jobState) }

// Length returns the predicted remaining run time on the given number of cores.
func (j JobView) Length(cores int32) time.Duration { return j.l.length(j.jobState, cores) }

// Least returns the smallest number of cores with which a waiting job can start.
func (j JobView) Least() int32 { return j.l.atLeast(j.jobState) }

// Sized reports whether the number of cores of a waiting job is fixed: it runs on several nodes, or is rigid and has
// started before.
func (j JobView) Sized() bool { return j.l.sized(j.jobState) }

// Training returns the true speed of an elastic job; nil for other jobs, and unless the engine is a Simulator.
func (j JobView) Training() Training {
	if j.l.fixed.simulator == nil {
		return nil
	}
	return j.l.fixed.simulator.Training(int(j.number))
}

// Needs returns the resources that the job needs on each node to start with the given number of cores in all, and
// the number of nodes. A paused job needs no further memory.
func (j JobView) Needs(cores int32) (cluster.Room, int) { return j.l.needs(j.jobState, cores) }

// FitsIn finds nodes for the job in rooms, the free resources of each node, now or at another instant. The nodes are
// appended to nodes.
func (j JobView) FitsIn(rooms []cluster.Room, cores int32, nodes []int32) (_ []int32, ok bool) {
	return j.l.fitIn(rooms, j.jobState, cores, nodes)
}

// HeldBy reports whether the given nodes have room for the job. rooms has the free resources of each node.
func (j JobView) HeldBy(rooms []cluster.Room, cores int32, nodes []int32) bool {
	held := true
	j.l.eachNeed(j.jobState, cores, nodes, func(v int32, need cluster.Room) {
		held = held && rooms[v].Holds(need)
		rooms[v].Sub(need) // several parts can be on one node
	})
	j.PutBack(rooms, cores, nodes)
	return held
}

// NeedOn returns the resources that a job of one node needs on the given node; ok is false if the job may not run
// there.
func (j JobView) NeedOn(node, cores int32) (need cluster.Room, ok bool) {
	if home := j.l.home(j.jobState); home != nil && home[0] != node && !j.l.movable(j.jobState) {
		return cluster.Room{}, false
	}
	j.l.scratch.node[0] = node
	j.l.eachNeed(j.jobState, cores, j.l.scratch.node[:], func(_ int32, n cluster.Room) { need = n })
	return need, true
}

// TakeFrom subtracts the resources that the job needs on the given nodes from rooms.
func (j JobView) TakeFrom(rooms []cluster.Room, cores int32, nodes []int32) {
	j.l.eachNeed(j.jobState, cores, nodes, func(v int32, need cluster.Room) { rooms[v].Sub(need) })
}

// PutBack adds the resources that TakeFrom has subtracted.
func (j JobView) PutBack(rooms []cluster.Room, cores int32, nodes []int32) {
	j.l.eachNeed(j.jobState, cores, nodes, func(v int32, need cluster.Room) { rooms[v].Add(need) })
}

// FitsAnew is FitsIn without a preference for the job's former nodes.
func (j JobView) FitsAnew(rooms []cluster.Room, cores int32, nodes []int32) (_ []int32, ok bool) {
	return j.l.fitAnew(rooms, j.jobState, cores, nodes)
}

// Home returns the nodes on which a started job must stay; nil if it has not started. The slice is valid until the
// next call, for any job.
func (j JobView) Home() []int32 { return j.l.home(j.jobState) }

// Fits finds the first nodes with room for a waiting job on the given number of cores. The slice is valid until the
// next call, for any job.
func (j JobView) Fits(cores int32) (nodes []int32, ok bool) { return j.l.fits(j.jobState, cores) }

// HeldUp reports whether a waiting job could not start even if all running jobs ended, because paused jobs behind it
// in the order keep the memory that it needs.
func (j JobView) HeldUp() bool { return j.l.heldUp(j.jobState) }

// Choices returns the alternatives with which a waiting job may start. A job that has started keeps its present one.
func (j JobView) Choices() []int32 { return j.l.choices(j.jobState) }

// ChoicesAnew returns the alternatives with which a waiting or running job may start, or resume after a pause.
func (j JobView) ChoicesAnew() []int32 { return j.l.choicesAnew(j.jobState) }

// Alternative returns the present alternative of the job, as an index.
func (j JobView) Alternative() int32 { return j.jobState.alternative }

// GiveBack adds to rooms the resources that become free if a running job is paused, or, if paused is false, ends.
func (j JobView) GiveBack(rooms []cluster.Room, paused bool) {
	if paused {
		j.l.addHeld(rooms, j.jobState)
		return
	}
	j.l.addAll(rooms, j.jobState)
}

// Types of package cluster that engines and policies use often.
type (
	Cluster = cluster.Cluster
	Node    = cluster.Node
	Grant   = cluster.Grant
	Part    = cluster.Part
	CoreSet = cluster.CoreSet
)
