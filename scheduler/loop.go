package scheduler

import (
	"context"
	"errors"
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/jobtable"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// noJob is the number of no job, and of no node.
const noJob = queue.Nobody

// loop is a run under way: the incremental state that decisions are made on.
type loop struct {
	Run
	rules    PolicyRules
	policy   policyHooks
	jobs     JobSet // Jobs or Drawn; copies where requests change
	states   jobtable.Table[jobState]
	outcomes outcomes
	machine  *cluster.Machine
	now      time.Duration

	input   input        // events of the workload that are still to come
	timers  queue.Alarms // of quanta and of feedback
	queue   *queue.Queue // waiting jobs: queued, paused, and those whose turn is over
	running runningJobs
	turns   cluster.Turns // are over while others wait

	extensions   extensions
	fixed        abilities
	predictions  predictions
	alternatives chosenAlternatives
	roles        missingRoles // jobs without their wanted parts
	rounds       rounds

	dispatching dispatching
	tally       tally
	detector    livelockDetector
	ending      ending
	out         output

	scratch struct {
		nodes, home, victims []int32
		from, to             []int32
		node                 [1]int32
		rooms                []cluster.Room
	}
}

// policyHooks are the optional interfaces of a policy; nil for those that it does not have.
type policyHooks struct {
	second    SecondRanker  // the order
	observer  UsageObserver // the order
	explainer Explainer     // the admission
	waiter    QueueObserver // the admission
}

// input has the events of the workload that are still to come.
type input struct {
	order    []int32 // jobs by arrival; nil if they arrive in the order of their numbers
	arrived  int     // how many of them
	next     int32   // the job that arrives next
	at       time.Duration
	requests []Resize // in order
}

// abilities are the capabilities of the cluster, the policy and the engine. They do not change.
type abilities struct {
	static    bool           // no nodes come and go, and the policy has no rounds
	migrator  Migrator       // the engine, if it is one
	migrates  bool           // paused jobs may resume elsewhere
	switches  bool           // they may resume with another alternative
	simulator Simulator      // the engine, if it is one
	left      func() float64 // Simulator.RemainingWork, if the engine has it
}

// dispatching is the state of a dispatch.
type dispatching struct {
	freed bool        // something was given back
	ahead queue.Ahead // who starts next
}

// tally counts jobs, events and instants.
type tally struct {
	open             int   // jobs that are not final
	started          int   // jobs that the engine has: running or paused
	enqueued         int64 // arrivals into the queue
	events, instants int
}

// ending is how a run ends before all jobs do.
type ending struct {
	stopping bool          // the run is broken off or closed: nothing starts again
	closed   time.Duration // the horizon, when the run was closed at it
}

func newLoop(r Run, rules PolicyRules) (*loop, error) {
	l := &loop{
		Run: r, jobs: JobSet{List: r.Jobs, Drawn: r.Drawn}, rules: rules, machine: cluster.NewMachine(r.Cluster),
		out: output{to: r.Recorder},
	}
	jobs := l.jobs.Len()
	if l.tally.open = jobs; !inOrder(r.Jobs) {
		l.input.order = byArrival(r.Jobs)
	}
	if rules.OnEvent != nil {
		l.out.to = hearing{l.out.to, rules.OnEvent}
	}
	l.queue = queue.New(jobs, rules.Ends)
	switch {
	case rules.LastFirst:
		l.running.victims = newLastFirstVictims(jobs, func(j int32) queue.Key { return l.place(l.state(j)) })
	case rules.Victims != nil:
		l.running.victims = newVictimList(jobs, func(j int32) int64 { return l.rank(l.state(j)) })
	}
	if l.Until <= 0 {
		l.Until = Never
	}
	if l.ProgressModel == nil {
		l.ProgressModel = Proportional{}
	}
	l.input.requests = resizesInOrder(r.Resizes)
	l.states = jobtable.New(jobs, l.newState, jobState{state: Finished, timer: Never})
	l.outcomes = newOutcomes(jobs, !r.Streamed)
	l.newAlternatives()
	l.predictions.done = newProgressAccount(l.ProgressModel, jobs)
	if rules.RequeueAfterQuantum {
		l.turns.Owners = cluster.NewOwners(l.machine)
	}
	l.policy.second, _ = rules.Order.(SecondRanker)
	l.policy.observer, _ = rules.Order.(UsageObserver)
	l.policy.explainer, _ = rules.Admission.(Explainer)
	l.policy.waiter, _ = rules.Admission.(QueueObserver)
	l.fixed.static = !r.Cluster.Changes() && rules.Round == 0
	if l.fixed.simulator, _ = r.Engine.(Simulator); l.fixed.simulator != nil {
		l.fixed.left = l.fixed.simulator.RemainingWork
	}
	if l.fixed.migrator, _ = r.Engine.(Migrator); l.fixed.migrator != nil {
		l.fixed.migrates, l.fixed.switches = l.fixed.migrator.Migrates()
	}
	return l, l.extend()
}

// extend adds the extensions that the run needs.
func (l *loop) extend() error {
	if p, ok := l.rules.Admission.(TimedPolicy); ok {
		l.extensions = append(l.extensions, timedPolicy{l: l, TimedPolicy: p})
	}
	if l.Cluster.Changes() {
		s, err := l.supply()
		if err != nil {
			return err
		}
		l.extensions = append(l.extensions, s)
	}
	if l.rules.Round > 0 {
		l.rounds.Rounds = queue.Rounds{Length: l.rules.Round, Fixed: l.rules.FixedRounds}
		l.extensions = append(l.extensions, roundStarts{l: l})
	}
	return nil
}

// run drives the engine until every job is final.
func (l *loop) run(ctx context.Context) error {
	if err := errors.Join(l.watch(), l.steer()); err != nil {
		return err
	}
	l.arriving(0)
	for l.tally.open > 0 && l.ending.closed == 0 {
		if err := l.instant(ctx); err != nil {
			return err
		}
	}
	return nil
}

// instant is one instant of a run.
func (l *loop) instant(ctx context.Context) error {
	// 1. Wait until the engine has notices, or an event of the workload, a timer or an extension is due.
	until := l.nextInstant()
	if until == Never && len(l.running.all) == 0 && !l.extensions.pending() {
		return l.stalled()
	}
	now, notices, err := l.Engine.Next(ctx, min(until, l.Until))
	if err != nil {
		return err
	}

	// 2. Take the notices, arrivals, requests and timers up to now, in their order.
	came := now > l.now || len(notices) > 0 || until <= now
	if err := l.take(now, notices, until); err != nil {
		return err
	}

	// 3. Update the predictions of jobs that have reported. At its horizon, the run is closed.
	if len(l.predictions.progress) > 0 {
		l.learn()
	}
	l.tally.instants++
	if l.now >= l.Until && l.tally.open > 0 {
		return l.closeDown(ctx)
	}

	// 4. Decide which jobs run from now on. The engine carries each decision out at once.
	if err := l.extensions.beforeDispatch(); err != nil {
		return err
	}
	if err := l.dispatch(); err != nil {
		return err
	}
	if err := l.extensions.afterDispatch(); err != nil {
		return err
	}

	// 5. Check that the run can end.
	return l.checkProgress(came)
}

// nextInstant returns the instant of the next arrival, request or timer, or of an extension.
func (l *loop) nextInstant() time.Duration {
	at := l.input.at
	if len(l.input.requests) > 0 {
		at = min(at, l.input.requests[0].At)
	}
	if l.timers.Any() {
		at = min(at, l.timers.Next(l.counts))
	}
	if len(l.extensions) > 0 {
		at = min(at, l.extensions.nextInstant())
	}
	return at
}

// arriving sets the job that arrives next, and when.
func (l *loop) arriving(order int) {
	in := &l.input
	in.arrived, in.at = order, Never
	if order == l.jobs.Len() {
		return
	}
	if in.next = int32(order); in.order != nil {
		in.next = in.order[order]
	}
	in.at = l.job(in.next).Arrival
}

// take handles all notices and events up to now: by instant, and within
// one notices, then arrivals, requests, extensions and timers.
//
// On a real clock now is later than the notices. The instant of an event is
// never before the instant of the previous event. due is nextInstant.
func (l *loop) take(now time.Duration, notices []Notice, due time.Duration) error {
	for ; ; due = l.nextInstant() {
		if len(notices) > 0 {
			if at := min(max(notices[0].At, l.now), now); at <= due {
				l.now = at
				if err := l.notice(&notices[0]); err != nil {
					return err
				}
				notices = notices[1:]
				continue
			}
		}
		if due > now {
			l.now = max(l.now, now)
			return nil
		}
		if err := l.takeDue(due, now); err != nil {
			return err
		}
	}
}

// takeDue handles the first event of an instant that is no notice.
func (l *loop) takeDue(due, now time.Duration) error {
	switch {
	case l.input.at == due && due != Never:
		l.now = max(l.now, due)
		j := l.input.next
		l.arriving(l.input.arrived + 1)
		return l.arrive(l.state(j))
	case len(l.input.requests) > 0 && l.input.requests[0].At == due:
		l.now = max(l.now, due)
		z := l.input.requests[0]
		l.input.requests = l.input.requests[1:]
		if z.Role != "" {
			return l.askParts(l.state(int32(z.Job)), z.Role, z.Parts)
		}
		l.request(l.state(int32(z.Job)), int32(z.Threads))
	default:
		if x := l.extensions.at(due); x != nil {
			l.now = max(l.now, due)
			x.reached(now)
			return nil
		}
		t := l.timers.Take(l.counts)
		l.now = max(l.now, t.At)
		l.state(t.Of).timer = Never
		l.ring(l.state(t.Of), now)
	}
	return nil
}

// setTimer makes at the one instant at which a job's timer rings.
func (l *loop) setTimer(j *jobState, at time.Duration) {
	if at < 0 { // the sum went past the end of time
		at = Never
	}
	j.timer = at
	if at != Never {
		l.timers.Set(queue.Timer{At: at, Of: j.number})
	}
}

// counts reports whether a timer is still the one of its job.
func (l *loop) counts(t queue.Timer) bool { return l.state(t.Of).timer == t.At }

func (l *loop) arrive(j *jobState) error {
	l.detector.Progressed()
	j.state, j.since = Queued, j.job.Arrival
	l.tell(Arrive, j, nil, nil, nil)
	if l.policy.observer != nil {
		l.policy.observer.Arrived(j.number)
	}
	if err := l.extensions.arrived(j); err != nil {
		return err
	}
	if j.state == Queued {
		l.wait(j)
	}
	return nil
}

// wait puts a job into the queue.
func (l *loop) wait(j *jobState) {
	l.adoptFastest(j)
	if l.rules.Feedback > 0 && j.level > 0 {
		l.setTimer(j, j.since+l.rules.Feedback)
	}
	l.tally.enqueued++
	l.queue.Insert(l.place(j), l.least(j))
	if l.policy.waiter != nil {
		l.policy.waiter.Waits(j.number)
	}
}

// ring handles a job's timer. On a real clock a job whose quantum is over has
// run until now, and a new quantum begins now.
func (l *loop) ring(j *jobState, now time.Duration) {
	switch {
	case j.state != Running: // feedback
		old := j.level
		j.level--
		l.queue.Remove(j.number)
		if j.level > 0 {
			l.setTimer(j, l.now+l.rules.Feedback)
		}
		l.queue.Insert(l.place(j), l.least(j))
		l.emit(Event{Kind: Level, Job: int(j.number), Levels: Levels{From: old, To: j.level}})
	case l.rules.RequeueAfterQuantum && l.queue.Len() > 0:
		l.turnOver(j)
	default:
		if l.policy.observer != nil {
			l.settleTime(j)
			l.policy.observer.Served(j.number)
		}
		l.setTimer(j, now+l.quantum(j))
	}
}
