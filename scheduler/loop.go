package scheduler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// nobody is the number of no job, and of no node.
const nobody = queue.Nobody

// loop is a run under way: the incremental state that decisions are made on.
type loop struct {
	Run
	jobs    JobSet // Jobs or Drawn; copies where requests change
	rules   Rules
	machine *cluster.Machine
	queue   *queue.Queue // waiting jobs: queued, paused, and those whose turn is over
	lives   JobTable[life]
	fates   Fates
	now     time.Duration
	events  int
	looks   int
	calm    bool // no nodes come and go, and the policy has no rounds

	byArrival    []int32 // nil if jobs arrive in the order of their numbers
	arrived      int     // how many of them
	next         int32   // the job that arrives next
	nextArrival  time.Duration
	resized      int // how many of Resizes
	timers       queue.Alarms
	open         int // jobs that are not final
	started      int // jobs that the engine has: running or paused
	running      []int32
	malleable    []int32        // running malleable jobs, by first start, then number
	victims      VictimList     // running jobs, in the order of pausing; kept only if jobs are paused for others
	changing     []int32        // running jobs that asked for another size, in the order of the requests
	ends         []queue.Timer  // expected ends of running jobs, ascending; kept for reservations only
	turns        cluster.Turns  // are over while others wait
	second       SecondRanker   // the order, if it is one; nil otherwise
	reranker     Reranker       // the order, if it is one
	follower     Follower       // the order, if it is one
	quanta       Quanta         // the order, if it is one
	explainer    Explainer      // the admission, if it is one
	waiter       Waiter         // the admission, if it is one
	waker        Waker          // the admission, if it is one
	arrivals     int64          // into the queue
	gaveBack     bool           // something was given back while dispatching
	progress     []Notice       // of jobs, since the predictions were last looked at
	seen         []Seen         // by job; nil without online predictions
	done         OutlookAccount // the progress of jobs
	alternatives Alternatives
	desk         *SteeringDesk // the controllers; nil without any
	guard        Guard
	left         func() float64 // Simulator.Left, if the engine has it
	ahead        queue.Ahead    // who starts next
	nodes        ServerNodes
	parts        LackingParts            // of jobs without their wanted parts
	provider     Provider                // the engine, if nodes come and go
	migrator     Migrator                // the engine, if it is one
	migrates     bool                    // paused jobs may resume elsewhere
	switches     bool                    // they may resume with another alternative
	rental       Rental                  // where jobs' servers come from, if the policy decides that
	samples      map[int32]time.Duration // the predictions of whole jobs, for running samples
	rounds       queue.Rounds            // for policies that decide at their starts
	roundStarts  bool                    // this decision starts a round
	mates        cluster.Mates           // those that share GPUs
	stopping     bool                    // the run is broken off or closed: nothing starts again
	closed       time.Duration           // the horizon, when the run was closed at it
	out          Output
	simulator    Simulator // the engine, if it is one

	scratch struct {
		nodes, home, victims []int32
		from, to             []int32
		node                 [1]int32
		rooms                []Room
	}
}

func newLoop(r Run, rules Rules) *loop {
	l := &loop{
		Run: r, jobs: JobSet{List: r.Jobs, Drawn: r.Drawn}, rules: rules, machine: cluster.NewMachine(r.Cluster),
		out: NewOutput(r.Recorder),
	}
	jobs := l.jobs.Len()
	if l.open = jobs; !inOrder(r.Jobs) {
		l.byArrival = ByArrival(r.Jobs)
	}
	if rules.Hears != nil {
		l.out.to = hearing{l.out.to, rules.Hears}
	}
	l.calm = !r.Cluster.Changes() && rules.Round == 0
	l.queue, l.rounds = queue.New(jobs, rules.Ends), queue.Rounds{Length: rules.Round, Fixed: rules.FixedRounds}
	switch {
	case rules.LastFirst:
		l.victims = NewLastFirstVictims(jobs, l.place)
	case rules.Victims != nil:
		l.victims = NewVictimList(jobs, l.rank)
	}
	if l.Until <= 0 {
		l.Until = Never
	}
	if l.Outlook == nil {
		l.Outlook = Proportional{}
	}
	l.Resizes = InOrder(r.Resizes)
	l.lives = NewJobTable(jobs, l.newLife, life{state: Finished, timer: Never})
	l.fates = NewFates(jobs, !r.Streamed)
	l.newAlternatives()
	l.done = NewOutlookAccount(l.Outlook, jobs)
	if rules.Turns {
		l.turns.Owners = cluster.NewOwners(l.machine)
	}
	l.second, _ = rules.Order.(SecondRanker)
	l.reranker, _ = rules.Order.(Reranker)
	l.follower, _ = rules.Order.(Follower)
	l.quanta, _ = rules.Order.(Quanta)
	l.explainer, _ = rules.Admission.(Explainer)
	l.waiter, _ = rules.Admission.(Waiter)
	l.waker, _ = rules.Admission.(Waker)
	if l.simulator, _ = r.Engine.(Simulator); l.simulator != nil {
		l.left = l.simulator.Left
	}
	if l.migrator, _ = r.Engine.(Migrator); l.migrator != nil {
		l.migrates, l.switches = l.migrator.Migrates()
	}
	return l
}

// run drives the engine until every job is final.
func (l *loop) run(ctx context.Context) error {
	if err := errors.Join(l.watch(), l.steer()); err != nil {
		return err
	}
	l.arriving(0)
	for l.open > 0 {
		until := l.nextInstant()
		if until == Never && len(l.running) == 0 && !l.nodes.Pending() {
			if gaveUp, err := l.giveUp(); err != nil {
				return err
			} else if gaveUp {
				continue
			}
			return l.stuck()
		}
		now, news, err := l.Engine.Next(ctx, min(until, l.Until))
		if err != nil {
			return err
		}
		came := now > l.now || len(news) > 0 || until <= now
		if err := l.take(now, news); err != nil {
			return err
		}
		l.learn()
		l.looks++
		if l.now >= l.Until && l.open > 0 {
			return l.closeDown(ctx)
		}
		if err := l.rent(); err != nil {
			return err
		}
		if err := l.dispatch(); err != nil {
			return err
		}
		if err := l.order(); err != nil {
			return err
		}
		if err := l.stuckForever(came); err != nil {
			return err
		}
	}
	return nil
}

// nextInstant returns the instant of the next arrival, request or timer.
func (l *loop) nextInstant() time.Duration {
	at := l.nextArrival
	if l.resized < len(l.Resizes) {
		at = min(at, l.Resizes[l.resized].At)
	}
	if l.timers.Any() {
		at = min(at, l.timers.Next(l.counts))
	}
	if l.waker != nil {
		at = min(at, max(l.waker.Wakes(), l.now))
	}
	if l.calm {
		return at
	}
	return min(at, l.nodes.NextIdle(), l.rental.Next(), l.nextRound())
}

// arriving sets the job that arrives next, and when.
func (l *loop) arriving(order int) {
	l.arrived, l.nextArrival = order, Never
	if order == l.jobs.Len() {
		return
	}
	if l.next = int32(order); l.byArrival != nil {
		l.next = l.byArrival[order]
	}
	l.nextArrival = l.job(l.next).Arrival
}

// take handles all notices and events up to now: by instant, and within
// one notices, then arrivals, requests and timers.
//
// On a real clock now is later than the notices. The instant of an event is
// never before the instant of the previous event.
func (l *loop) take(now time.Duration, news []Notice) error {
	for {
		notice := Never
		if len(news) > 0 {
			notice = min(max(news[0].At, l.now), now)
		}
		other := l.nextInstant()
		switch {
		case len(news) > 0 && notice <= other:
			l.now = notice
			if err := l.notice(&news[0]); err != nil {
				return err
			}
			news = news[1:]
		case other > now:
			l.now = max(l.now, now)
			return nil
		case l.nextArrival == other && other != Never:
			l.now = max(l.now, other)
			j := l.next
			l.arriving(l.arrived + 1)
			if err := l.arrive(j); err != nil {
				return err
			}
		case l.resized < len(l.Resizes) && l.Resizes[l.resized].At == other:
			l.now = max(l.now, other)
			z := l.Resizes[l.resized]
			l.resized++
			if z.Role != "" {
				if err := l.askParts(int32(z.Job), z.Role, z.Parts); err != nil {
					return err
				}
				continue
			}
			l.request(int32(z.Job), int32(z.Threads))
		case l.waker != nil && max(l.waker.Wakes(), l.now) == other:
			l.now = max(l.now, other)
			l.waker.Woke()
		case !l.calm && l.rental.Next() == other:
			l.now = max(l.now, other)
			l.rental.Ring(now)
		case !l.calm && l.nextRound() == other:
			l.now = max(l.now, other)
			l.rounds.Over()
		case !l.calm && l.timers.Next(l.counts) != other:
			l.now = max(l.now, other)
			l.nodes.Rest()
		default:
			t := l.timers.Take(l.counts)
			l.now = max(l.now, t.At)
			l.life(t.Of).timer = Never
			l.ring(t.Of, now)
		}
	}
}

// setTimer makes at the one instant at which a job's timer rings.
func (l *loop) setTimer(j int32, at time.Duration) {
	if at < 0 { // the sum went past the end of time
		at = Never
	}
	l.life(j).timer = at
	if at != Never {
		l.timers.Set(queue.Timer{At: at, Of: j})
	}
}

// counts reports whether a timer is still the one of its job.
func (l *loop) counts(t queue.Timer) bool { return l.life(t.Of).timer == t.At }

func (l *loop) arrive(j int32) error {
	f := l.life(j)
	l.guard.News()
	f.state, f.since = Queued, l.job(j).Arrival
	l.event(Arrive, j)
	l.out.Send()
	if l.follower != nil {
		l.follower.Arrived(j)
	}
	l.rental.Arrive(j, l.job(j).Arrival)
	if err := l.desk.Ask(j, nil); err != nil {
		return err
	}
	if f.state == Queued {
		l.wait(j)
	}
	return nil
}

// wait puts a job into the queue.
func (l *loop) wait(j int32) {
	l.adoptFastest(j)
	f := l.life(j)
	if l.rules.Feedback > 0 && f.level > 0 {
		l.setTimer(j, f.since+l.rules.Feedback)
	}
	l.arrivals++
	l.queue.Insert(l.place(j), l.least(j))
	if l.waiter != nil {
		l.waiter.Waits(j)
	}
}

// ring handles a job's timer. On a real clock a job whose quantum is over has
// run until now, and a new quantum begins now.
func (l *loop) ring(j int32, now time.Duration) {
	f := l.life(j)
	switch {
	case f.state != Running: // feedback
		old := f.level
		f.level--
		l.queue.Remove(j)
		if f.level > 0 {
			l.setTimer(j, l.now+l.rules.Feedback)
		}
		l.queue.Insert(l.place(j), l.least(j))
		l.emit(Event{Kind: Level, Job: int(j), Levels: Levels{From: old, To: f.level}})
	case l.rules.Turns && l.queue.Len() > 0:
		l.turnOver(j)
	default:
		if l.follower != nil {
			l.settleTime(j)
			l.follower.Served(j)
		}
		l.setTimer(j, now+l.quantum(j))
	}
}

// finish handles the end of a job.
func (l *loop) finish(e *Notice) error {
	if e.Job < 0 || e.Job >= l.jobs.Len() {
		return fmt.Errorf("engine: end of a job with number %d, which does not exist", e.Job)
	}
	j := int32(e.Job)
	f := l.life(j)
	if e.Revoked && (f.state == Running || f.state == Paused) {
		return l.depart(e)
	}
	if !l.begun(j) {
		return fmt.Errorf("engine: end of job %q, which is %s", l.job(j).Name, f.state)
	}
	l.takeOff(j)
	l.started--
	if e.Attempt != nil {
		l.result(j).Add(e.Attempt)
	}
	if e.State == Failed && l.again(j, e.Reason) || e.State == Finished && l.sampled(j) || l.steersOn(j, e) {
		return nil
	}
	kind, final := e.State.Final()
	if f.state = e.State; !final {
		return fmt.Errorf("engine: end of job %q in state %q, which is not final", l.job(j).Name, e.State)
	}
	l.end(j, kind, e.Reason, e.Attempt)
	return nil
}

// takeOff takes a job that has started from its cores; one that is paused ended before that took hold.
func (l *loop) takeOff(j int32) {
	f := l.life(j)
	if f.state == Running && !f.yields {
		l.release(j)
		return
	}
	l.settleTime(j)
	if f.state == Running { // its turn is over, its cores are given back already
		l.dropTurn(j)
		l.leave(j)
	}
	l.queue.Remove(j)
}

// close makes a job final.
func (l *loop) close(j int32, kind EventKind, reason string) { l.end(j, kind, reason, nil) }

// end makes a job final by an event of a kind, at the end of an attempt if it is not nil.
func (l *loop) end(j int32, kind EventKind, reason string, attempt *Attempt) {
	f := l.life(j)
	l.guard.News()
	l.unbook(j)
	l.nodes.Vacate(j, f.grant.Cores, l.now)
	l.rental.End(j)
	r := l.fates.Last(j)
	r.Finish, r.Reason, f.timer, f.grant = l.now, reason, Never, Grant{}
	f.settle(r)
	l.open--
	if l.follower != nil {
		l.follower.Ended(j)
	}
	e := l.event(kind, j)
	e.Reason, e.Attempt, e.Result = reason, attempt, l.fates.Over(j, r)
	l.out.Send()
	l.lives.Over(j)
}

// book takes the job's memory on the nodes of its grant, which it keeps to its end.
func (l *loop) book(j int32) {
	if f := l.life(j); !f.booked {
		f.booked = true
		l.bookMemory(j, -1)
	}
}

func (l *loop) unbook(j int32) {
	if f := l.life(j); f.booked {
		f.booked = false
		l.bookMemory(j, 1)
	}
}

func (l *loop) bookMemory(j int32, sign int64) {
	if l.life(j).plain {
		return
	}
	if sign < 0 {
		need, _ := l.job(j).Needs(0)
		l.alternatives.Takes(j, need.Memory)
	}
	memory := l.memoryOf(j)
	if memory == 0 {
		return
	}
	for _, v := range l.nodesOf(j) {
		l.machine.Free[v].Memory += sign * memory
	}
}

// memoryOf returns the memory that a job which has started has of each of its nodes.
func (l *loop) memoryOf(j int32) int64 {
	if held, ok := l.alternatives.Memory(j); ok {
		return held
	}
	need, _ := l.job(j).Needs(0)
	return need.Memory
}

// settleTime adds the stretch that ends now to the job's times.
func (l *loop) settleTime(j int32) {
	f := l.life(j)
	d := l.now - f.since
	if f.state != Running {
		f.since = l.now
		f.waiting += d
		return
	}
	l.hold(j)
	f.since = l.now
	f.service += d
	l.settleDone(j, d)
	f.coreTime = Plus(f.coreTime, CoreTime(d, int(f.held)))
	if l.follower != nil {
		l.follower.Used(j, d, f.grant)
	}
}

// enter and leave keep the sets of running jobs.
func (l *loop) enter(j int32) {
	f := l.life(j)
	f.slot = int32(len(l.running))
	l.running = append(l.running, j)
	l.offerVictim(j)
	if l.resizable(j) {
		l.malleable = queue.InsertSorted(l.malleable, j, l.byFirstStart)
	}
	l.expect(j)
}

func (l *loop) leave(j int32) {
	f := l.life(j)
	last := l.running[len(l.running)-1]
	l.running[f.slot] = last
	l.life(last).slot = f.slot
	l.running = l.running[:len(l.running)-1]
	l.withdrawVictim(j)
	if l.resizable(j) {
		l.malleable = queue.DeleteSorted(l.malleable, j, l.byFirstStart)
	}
	l.unexpect(j)
}

func (l *loop) byFirstStart(a, b int32) int {
	return cmp.Or(cmp.Compare(l.life(a).first, l.life(b).first), cmp.Compare(a, b))
}

// resizable reports whether a job can be resized while it runs. Gangs cannot.
func (l *loop) resizable(j int32) bool {
	return !l.life(j).plain && l.job(j).Malleable && l.job(j).Nodes <= 1
}

// release ends a running job's stretch and gives its cores and GPUs back.
func (l *loop) release(j int32) {
	if mate, ok := l.mates.Part(j); ok { // it continues at another speed
		l.settleTime(mate)
		l.victims.Forget()
	}
	l.settleTime(j)
	l.machine.Give(l.life(j).grant)
	l.leave(j)
	l.gaveBack = true
}

// event begins the record of an event that happens now.
func (l *loop) event(kind EventKind, j int32) *Event {
	l.events++
	return l.out.Begin(l.now, kind, int(j))
}

// emit records an event that happens now.
func (l *loop) emit(e Event) {
	e.At = l.now
	*l.event(e.Kind, int32(e.Job)) = e
	l.out.Send()
}

// stuck says why the waiting jobs can never start.
func (l *loop) stuck() error {
	var jobs List
	for j := l.queue.Next(queue.Front, queue.Anyone); j != nobody; j = l.queue.Next(l.queue.KeyOf(j), queue.Anyone) {
		why, _ := l.whyNot(j)
		jobs.Add(fmt.Sprintf("job %q %s", l.job(j).Name, why))
	}
	return fmt.Errorf("%w: %s", ErrStuck, jobs.String())
}

// breakOff stops all jobs that have started and waits for their ends.
func (l *loop) breakOff(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	l.stopping = true
	for j, f := range l.lives.All() {
		if f.state == Running || f.state == Paused {
			if err := l.Engine.Stop(int(j)); err != nil {
				return fmt.Errorf("stop job %q: %w", l.job(j).Name, err)
			}
		}
	}
	for l.started > 0 {
		now, news, err := l.Engine.Next(ctx, Never)
		if err != nil {
			return fmt.Errorf("wait for stopped jobs: %w", err)
		}
		for i := range news {
			l.now = min(max(news[i].At, l.now), max(now, l.now))
			if err := l.notice(&news[i]); err != nil {
				return err
			}
		}
		l.now = max(l.now, now)
	}
	return nil
}

// account makes sure that every job is accounted for exactly once.
func (l *loop) account() error {
	if l.started != 0 || len(l.running) != 0 || l.queue.Len() != 0 {
		return errors.New("all jobs are final, but some still run or wait")
	}
	return Accounted(l.jobs.List, l.fates.Kept(), l.closed > 0)
}

func (l *loop) outcome() Outcome {
	if kept := l.fates.Kept(); kept != nil {
		for j, f := range l.lives.All() {
			if !f.state.Over() { // the others are settled
				kept[j] = *l.fates.Last(j)
				f.settle(&kept[j])
			}
		}
	}
	return Outcome{
		Jobs: l.fates.Kept(), End: l.now, Closed: l.closed, Undone: l.fates.Undone(), Events: l.events, Instants: l.looks,
	}
}
