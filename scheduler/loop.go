package scheduler

import (
	"context"
	"errors"
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/jobtable"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// noJob is the number that means no job, or no node.
const noJob = queue.Nobody

// loop is the state of a run, which its events update.
type loop struct {
	Run
	rules    PolicyRules
	policy   policyHooks
	jobs     JobSet // Run.Jobs or Run.Drawn, or a copy if requests change
	states   jobtable.Table[jobState]
	outcomes outcomes
	machine  *cluster.Machine
	now      time.Duration

	input   input        // events of the workload that are still to come
	timers  queue.Alarms // ends of quanta and instants of feedback
	queue   *queue.Queue // waiting jobs: queued, paused, and those whose quantum is over
	running runningJobs
	turns   cluster.Turns // running jobs whose quantum is over while others wait

	extensions   extensions
	fixed        abilities
	predictions  predictions
	alternatives chosenAlternatives
	roles        missingRoles // jobs without some of their parts
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

// policyHooks are the optional interfaces of a policy; nil if the policy does not implement them.
type policyHooks struct {
	second    SecondRanker  // implemented by the order
	observer  UsageObserver // implemented by the order
	explainer Explainer     // implemented by the admission
	waiter    QueueObserver // implemented by the admission
}

// input is the events of the workload that are still to come.
type input struct {
	order    []int32 // jobs by arrival; nil if their numbers have this order
	arrived  int     // number of jobs that have arrived
	next     int32   // the job that arrives next, or noJob
	at       time.Duration
	requests []Resize // by instant, then job
}

// abilities has the capabilities of the cluster, the policy and the engine. It does not change during a run.
type abilities struct {
	static    bool           // no nodes come and go, and the policy has no rounds
	migrator  Migrator       // the engine as a Migrator, or nil
	migrates  bool           // paused jobs can resume on other nodes
	switches  bool           // paused jobs can resume with another alternative
	simulator Simulator      // the engine as a Simulator, or nil
	left      func() float64 // Simulator.RemainingWork, or nil
}

// dispatching is the state of the present dispatch.
type dispatching struct {
	freed bool        // resources were freed, so another pass is needed
	ahead queue.Ahead // jobs that will probably start next
}

// tally counts jobs, events and instants.
type tally struct {
	open             int   // jobs whose state is not final
	started          int   // jobs that run or are paused
	enqueued         int64 // number of times that any job was put into the queue
	events, instants int
}

// ending says how a run ends before all jobs have ended.
type ending struct {
	stopping bool          // no job starts again, because the run is broken off or closed
	closed   time.Duration // the horizon, if the run was closed at it
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

// extend creates the extensions that the run needs.
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

// run calls instant until the state of every job is final.
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

// instant handles one instant of a run, in five steps.
func (l *loop) instant(ctx context.Context) error {
	// 1. Wait until the engine has notices, or another event is due.
	until := l.nextInstant()
	if until == Never && len(l.running.all) == 0 && !l.extensions.pending() {
		return l.stalled()
	}
	now, notices, err := l.Engine.Next(ctx, min(until, l.Until))
	if err != nil {
		return err
	}

	// 2. Handle the notices, arrivals, requests and timers up to now, in this order at each instant.
	came := now > l.now || len(notices) > 0 || until <= now
	if err := l.take(now, notices, until); err != nil {
		return err
	}

	// 3. Update the predictions of jobs that have reported progress. At the horizon, end the run.
	if len(l.predictions.progress) > 0 {
		l.learn()
	}
	l.tally.instants++
	if l.now >= l.Until && l.tally.open > 0 {
		return l.closeDown(ctx)
	}

	// 4. Decide which jobs run from now on. The engine carries out each decision at once.
	if err := l.extensions.beforeDispatch(); err != nil {
		return err
	}
	if err := l.dispatch(); err != nil {
		return err
	}
	if err := l.extensions.afterDispatch(); err != nil {
		return err
	}

	// 5. Return an error if the run cannot end.
	return l.checkProgress(came)
}

// nextInstant returns the instant of the next event: an arrival, a request, a timer, or an instant of an extension.
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

// arriving sets the next arrival to the job at an index of the order of arrivals.
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

// take handles all notices and events up to now, ordered by instant. At one instant the order is notices, arrivals,
// requests, extensions, timers.
//
// On a real clock, now may be later than the notices. Instants of events never decrease. due is the result of
// nextInstant.
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

// takeDue handles the first event at the instant due, other than a notice.
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

// setTimer sets the job's only timer to an instant.
func (l *loop) setTimer(j *jobState, at time.Duration) {
	if at < 0 { // the sum of instant and duration has overflowed
		at = Never
	}
	j.timer = at
	if at != Never {
		l.timers.Set(queue.Timer{At: at, Of: j.number})
	}
}

// counts reports whether a timer is the present timer of its job, and not one that was replaced.
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

// ring handles the timer of a job. On a real clock it rings late: a quantum that is over has lasted until now, and a
// new one begins now.
func (l *loop) ring(j *jobState, now time.Duration) {
	switch {
	case j.state != Running: // the timer is for feedback
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
