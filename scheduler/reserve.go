package scheduler

import (
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler/queue"
)

// reservation is the earliest start of the first blocked job under EASY, by
// the predicted run times: the instant, and what is free then.
type reservation struct {
	job   int32
	at    time.Duration // Never when no end of a running job makes room
	rooms []room
	need  room
	count int
	home  []int32
}

// reserves tells whether expected ends have to be kept.
func (l *loop) reserves() bool { return l.p.Backfill == EASY || l.p.Backfill == Conservative }

// expect notes when a running job is expected to end.
func (l *loop) expect(j int32) {
	if !l.reserves() {
		return
	}
	f := &l.lives[j]
	f.end = Never
	if d := l.length(j, int32(f.grant.Cores.Count())); d < Never-l.now {
		f.end = l.now + d
	}
	i, _ := slices.BinarySearchFunc(l.ends, timer{f.end, j}, compareTimers)
	l.ends = slices.Insert(l.ends, i, timer{f.end, j})
}

func (l *loop) unexpect(j int32) {
	if !l.reserves() {
		return
	}
	i, _ := slices.BinarySearchFunc(l.ends, timer{l.lives[j].end, j}, compareTimers)
	l.ends = slices.Delete(l.ends, i, i+1)
}

func compareTimers(a, b timer) int {
	switch {
	case a.before(b):
		return -1
	case b.before(a):
		return 1
	}
	return 0
}

// reserveAs makes the reservation for the first job that can not start, in its
// present way. A job that runs longer than predicted is taken to end at any
// moment.
func (l *loop) reserveAs(j int32) {
	r := &l.held
	r.job, r.at = j, Never
	r.need, r.count = l.needs(j, l.atLeast(j))
	r.home = append([]int32(nil), l.home(j)...)
	r.rooms = append(r.rooms[:0], l.machine.free...)
	for i, e := range l.ends {
		at := max(e.at, l.now)
		if r.at != Never && at > r.at || at == Never {
			return
		}
		if !l.lives[e.job].yields {
			l.addAll(r.rooms, e.job)
		}
		more := i+1 < len(l.ends) && max(l.ends[i+1].at, l.now) == at
		if r.at == Never && !more && l.reserved() {
			r.at = at
		}
	}
}

// reserved tells whether the reservation's job fits into its rooms.
func (l *loop) reserved() bool {
	r := &l.held
	nodes, ok := fit(r.rooms, r.need, r.count, r.home, l.scratch.home[:0])
	l.scratch.home = nodes[:0]
	return ok
}

// mayPass tells whether a waiting job can start on these nodes without
// delaying the reservation: it ends before, or leaves enough beside it. In
// that case what it takes is subtracted from what is free at that instant.
func (l *loop) mayPass(j, cores int32, nodes []int32) bool {
	r := &l.held
	if r.at == Never || l.length(j, cores) <= r.at-l.now {
		return true
	}
	need, _ := l.needs(j, cores)
	for _, v := range nodes {
		r.rooms[v].sub(need)
	}
	if l.reserved() {
		return true
	}
	for _, v := range nodes {
		r.rooms[v].add(need)
	}
	return false
}

// passable returns a limit that leaves out waiting jobs which can surely not
// start behind a blocked one.
func (l *loop) passable() queue.Limit {
	within := queue.Limit{Free: l.machine.mostFree(), Window: Never}
	if l.p.Backfill == EASY && l.held.at != Never {
		within.Window = l.held.at - l.now
		for _, r := range l.held.rooms {
			within.Spare = max(within.Spare, r.cores)
		}
		if len(l.held.rooms) == 1 {
			within.Spare -= l.held.need.cores
		}
	}
	return within
}

// admitPlanned starts waiting jobs under conservative backfill: each job in
// the policy's order is given the earliest stretch of time in which there is
// room for it beside the running jobs and those before it, by the predicted
// run times. The plan is made anew at each dispatch, up to the last job that
// could start now.
func (l *loop) admitPlanned() error {
	pausing := l.p.pausesForBetter()
	within := queue.Limit{Free: l.machine.mostFree(), Window: Never}
	if !pausing && l.queue.Next(queue.Front, within) == nobody {
		return nil
	}
	plan := l.planRunning()
	after, blocked := queue.Front, false
	ahead := startable{key: queue.Front} // the first job behind that could start now
	for {
		if !pausing && !l.lookAhead(plan, after, &ahead) {
			return nil
		}
		j := l.queue.Next(after, queue.Anyone)
		if j == nobody {
			return nil
		}
		if l.moved(j) {
			continue
		}
		after = l.queue.KeyOf(j)
		cores, nodes, i := l.planAs(plan, j)
		ok := i == 0
		if !ok { // less than it would get later, but at once
			if least, on, fits := l.allot(j); fits && plan.free(l, j, least, on, 0) {
				cores, nodes, ok = least, slices.Clone(on), true
			}
		}
		if !ok && pausing {
			var err error
			if ok, err = l.makeRoomNow(j); err != nil {
				return err
			}
			if ok {
				cores, nodes, _ = l.allot(j)
				if err := l.start(j, cores, nodes, "first in the order"); err != nil {
					return err
				}
				plan = l.planRunning()
				continue
			}
		}
		if ok {
			plan.book(l, j, cores, nodes, l.now)
			why := "first in the order"
			if blocked {
				why = "delays nobody before it"
			}
			if err := l.start(j, cores, nodes, why); err != nil {
				return err
			}
			continue
		}
		blocked, pausing = true, false // nobody behind a reservation pauses anybody
		if i > 0 {
			plan.book(l, j, cores, nodes, plan.steps[i].at)
		}
	}
}

// startable is a waiting job that could start now beside a plan, as far as its
// least request tells.
type startable struct {
	key queue.Key
	ask queue.Ask
}

// lookAhead tells whether there is such a job behind a place in the queue. What is
// planned only takes room, so a job that could not start now will not later in the
// same pass, and the one that was found before is looked at first.
func (l *loop) lookAhead(p *plan, after queue.Key, found *startable) bool {
	if after.Less(found.key) {
		if p.couldStart(found.ask) {
			return true
		}
		after = found.key
	}
	within := p.startable()
	for j := l.queue.Next(after, within); j != nobody; j = l.queue.Next(found.key, within) {
		if *found = (startable{l.queue.KeyOf(j), l.queue.AskOf(j)}); p.couldStart(found.ask) {
			return true
		}
	}
	return false
}

// planned returns the cores that a blocked job is to get later.
func (l *loop) planned(j int32) int32 {
	if l.p.Allocation == Strict || l.sized(j) {
		return l.lives[j].request
	}
	widest := int32(0)
	for _, r := range l.machine.whole {
		widest = max(widest, r.cores)
	}
	return max(min(l.lives[j].request, widest), l.atLeast(j))
}

// plan says what is free from each of its instants to the next.
type plan struct {
	steps []planStep
}

type planStep struct {
	at   time.Duration
	free []room
}

// planRunning returns the plan in which nobody starts any more.
func (l *loop) planRunning() *plan {
	nodes := len(l.machine.free)
	rooms := append(make([]room, 0, (len(l.ends)+1)*nodes), l.machine.free...)
	p := &plan{steps: make([]planStep, 1, 2*len(l.ends)+8)}
	p.steps[0] = planStep{l.now, rooms[:nodes:nodes]}
	for _, e := range l.ends {
		if e.at == Never || l.lives[e.job].yields {
			continue
		}
		at := max(e.at, l.now+1)
		if last := p.steps[len(p.steps)-1]; last.at != at {
			n := len(rooms)
			rooms = append(rooms, last.free...)
			p.steps = append(p.steps, planStep{at, rooms[n : n+nodes : n+nodes]})
		}
		l.addAll(p.steps[len(p.steps)-1].free, e.job)
	}
	return p
}

// couldStart tells whether some node has the cores for a job from now on, for as
// long as it is predicted to run.
func (p *plan) couldStart(a queue.Ask) bool {
	end := until(p.steps[0].at, a.Length)
	for v := range p.steps[0].free {
		i := 0
		for i < len(p.steps) && p.steps[i].at < end && p.steps[i].free[v].cores >= a.Cores {
			i++
		}
		if i == len(p.steps) || p.steps[i].at >= end {
			return true
		}
	}
	return false
}

// startable returns a limit that leaves out waiting jobs which can surely not
// start now: on no node are there ever fewer cores than spare, and those who ask
// for more have to end before that is all there is.
func (p *plan) startable() queue.Limit {
	var within queue.Limit
	now := p.steps[0]
	for v, r := range now.free {
		spare, at := r.cores, now.at
		for _, s := range p.steps[1:] {
			if s.free[v].cores < spare {
				spare, at = s.free[v].cores, s.at
			}
		}
		within.Free, within.Spare, within.Window = max(within.Free, r.cores), max(within.Spare, spare), max(within.Window, at-now.at)
	}
	return within
}

// until returns the end of a stretch. Even a job that has run for as long as
// it was predicted to takes some time.
func until(at, length time.Duration) time.Duration {
	length = max(length, 1)
	if length > Never-at {
		return Never
	}
	return at + length
}

// free tells whether the nodes have room for the job from step i on, for as
// long as it is predicted to run.
func (p *plan) free(l *loop, j, cores int32, nodes []int32, i int) bool {
	need, _ := l.needs(j, cores)
	end := until(p.steps[i].at, l.length(j, cores))
	for ; i < len(p.steps) && p.steps[i].at < end; i++ {
		for _, v := range nodes {
			if !p.steps[i].free[v].holds(need) {
				return false
			}
		}
	}
	return true
}

// earliest returns the first step from which on there is room for a job for as
// long as it is predicted to run, and where. The step is negative for a job
// for which no end that is known makes room.
func (p *plan) earliest(l *loop, j, cores int32) (nodes []int32, step int) {
	need, count := l.needs(j, cores)
	home := l.home(j)
	length := l.length(j, cores)
	if len(l.machine.free) == 1 {
		return p.earliestOnOne(need, length)
	}
	lowest := make([]room, len(l.machine.free))
	for i := range p.steps {
		copy(lowest, p.steps[i].free)
		end := until(p.steps[i].at, length)
		for k := i + 1; k < len(p.steps) && p.steps[k].at < end; k++ {
			for v, r := range p.steps[k].free {
				lowest[v].cores, lowest[v].gpus, lowest[v].memory = min(lowest[v].cores, r.cores), min(lowest[v].gpus, r.gpus), min(lowest[v].memory, r.memory)
			}
		}
		if nodes, ok := fit(lowest, need, count, home, nil); ok {
			return nodes, i
		}
	}
	return nil, -1
}

// earliestOnOne is earliest on a single node: a step without room rules out all
// starts up to it, so that each step is looked at once.
func (p *plan) earliestOnOne(need room, length time.Duration) (nodes []int32, step int) {
	for i, k := 0, 0; i < len(p.steps); k++ {
		switch {
		case k == len(p.steps) || k > i && p.steps[k].at >= until(p.steps[i].at, length):
			return []int32{0}, i
		case !p.steps[k].free[0].holds(need):
			i = k + 1
		}
	}
	return nil, -1
}

// book takes what a job needs out of the plan for its stretch.
func (p *plan) book(l *loop, j, cores int32, nodes []int32, at time.Duration) {
	need, _ := l.needs(j, cores)
	end := until(at, l.length(j, cores))
	for i := p.split(at); i < len(p.steps) && p.steps[i].at < end; i++ {
		if i+1 == len(p.steps) || p.steps[i+1].at > end {
			p.split(end)
		}
		for _, v := range nodes {
			p.steps[i].free[v].sub(need)
		}
	}
}

// split makes sure that a step begins at an instant within the plan, and
// returns its index.
func (p *plan) split(at time.Duration) int {
	i, found := slices.BinarySearchFunc(p.steps, at, func(s planStep, at time.Duration) int {
		return int(min(max(s.at-at, -1), 1))
	})
	if !found && at != Never {
		p.steps = slices.Insert(p.steps, i, planStep{at, slices.Clone(p.steps[i-1].free)})
	}
	return i
}
