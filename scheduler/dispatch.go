package scheduler

import (
	"fmt"
	"slices"
)

// dispatch decides which jobs run from now on: resizes that were asked for,
// waiting jobs in the policy's order, re-growth; again until nothing changes.
func (l *loop) dispatch() error {
	for rounds := 0; ; rounds++ {
		if rounds > 8*l.jobs.Len()+64 {
			return fmt.Errorf("dispatch at %s does not come to an end", l.now)
		}
		l.dispatching.freed = false
		l.dispatching.ahead.Begin()
		l.running.victims.Forget()
		if len(l.running.resizing) > 0 || l.roles.AskedAny() {
			if err := l.change(); err != nil {
				return err
			}
		}
		if err := l.admit(); err != nil {
			return err
		}
		for len(l.turns.Jobs) > 0 {
			if err := l.endTurn(l.turns.Jobs[0]); err != nil {
				return err
			}
		}
		if len(l.running.malleable)+len(l.roles.Amiss()) > 0 {
			if err := l.regrow(); err != nil {
				return err
			}
		}
		// Taken resources cannot let a job start that could not start
		// before; only freed resources can.
		if !l.dispatching.freed {
			return nil
		}
	}
}

// admit starts waiting jobs, or decides about all jobs.
func (l *loop) admit() error {
	if l.rules.Round > 0 {
		return l.admitRound()
	}
	if l.queue.Len() == 0 && !l.rules.Anew {
		return nil
	}
	if l.policy.reranker != nil && l.policy.reranker.Rerank(l.now) {
		for _, j := range l.queue.First(l.queue.Len(), nil) {
			l.moved(j)
		}
	}
	return l.rules.Admission.Admit(l, l)
}

// moved puts a job to its proper place when its owner has been served since
// it began to wait, and reports whether it had to.
func (l *loop) moved(j int32) bool {
	k := l.place(j)
	if k == l.queue.KeyOf(j) {
		return false
	}
	l.queue.Remove(j)
	l.queue.Insert(k, l.least(j))
	return true
}

// needs returns a job's need per node to start or resume on the given number
// of cores, and the number of nodes. A job that was paused still has its
// memory.
func (l *loop) needs(j, cores int32) (Room, int) {
	if l.state(j).plain {
		need := Room{Cores: cores}
		l.extensions.limit(j, &need)
		return need, 1
	}
	job := l.job(j)
	if l.roles.AskedAny() {
		job = l.whole(j)
	}
	need, count := job.Needs(cores)
	if need.Parts != nil {
		need.Parts.On(l.machine)
	}
	if l.state(j).booked {
		if need.Memory = 0; l.turned(j) {
			whole, _ := job.Needs(cores)
			need.Memory = whole.Memory - l.memoryOf(j)
		}
		if need.Parts != nil {
			need.Parts = l.state(j).grant.Layout.Needs()
		}
	}
	need.Kind = max(need.Kind, l.alternatives.Kind(j))
	l.extensions.limit(j, &need)
	return need, count
}

// home returns the nodes that a job which has started is bound to, or nil.
func (l *loop) home(j int32) []int32 {
	f := l.state(j)
	if !f.booked {
		return nil
	}
	if !f.plain && len(l.job(j).Roles()) > 0 {
		l.scratch.home = l.scratch.home[:0]
		for _, p := range l.state(j).grant.Layout.Parts {
			l.scratch.home = append(l.scratch.home, int32(p.Node))
		}
		return l.scratch.home
	}
	return l.nodesOf(j)
}

// nodesOf returns the nodes of a job's present or last grant.
func (l *loop) nodesOf(j int32) []int32 {
	l.scratch.home = l.nodesIn(j, &l.state(j).grant, l.scratch.home[:0])
	return l.scratch.home
}

// nodesIn appends the nodes of a grant for a job: for a divided job, the node of each
// unit.
func (l *loop) nodesIn(j int32, g *Grant, nodes []int32) []int32 {
	if l.state(j).plain || !l.job(j).Divided {
		return l.machine.NodesOf(g.Cores, nodes)
	}
	unit, _ := l.job(j).Needs(int32(g.Cores.Count()))
	return l.machine.EachUnit(g.Cores, unit.Cores, nodes)
}

// fits finds nodes for a waiting job on the given number of cores.
func (l *loop) fits(j, cores int32) (nodes []int32, ok bool) {
	l.scratch.nodes, ok = l.fitIn(l.machine.Free, j, cores, l.scratch.nodes[:0])
	return l.scratch.nodes, ok
}

// start starts or resumes a waiting job on the lowest free cores of the
// nodes, or on those that it had there.
func (l *loop) start(j, cores int32, nodes []int32, why string) error {
	if l.easy(j) {
		return l.startWith(j, cores, Grant{Cores: l.machine.ChooseCores(nodes, cores, l.state(j).grant.Cores)}, why)
	}
	need, _ := l.needs(j, cores)
	g := l.machine.Choose(nodes, need, l.heldOn(j, nodes))
	g.Alternative = int(l.state(j).alternative)
	g.Layout = l.machine.LayoutOf(g, nodes)
	return l.startWith(j, cores, g, why)
}

// Divide implements Hands.
func (l *loop) Divide(job int32, shares []Share, why string) error {
	j := l.job(job)
	g, err := l.machine.Divide(shares, int32(max(j.Threads/max(j.GPUs, 1), 1)))
	if err != nil || !j.Elastic || len(shares) == 0 {
		return fmt.Errorf("divide GPUs for job %q: %w", j.Name, err)
	}
	return l.startWith(job, int32(g.Cores.Count()), g, why)
}

// startWith starts or resumes a waiting job with a grant.
func (l *loop) startWith(j, cores int32, g Grant, why string) error {
	f := l.state(j)
	if f.yields {
		if slices.Equal(g.Cores, f.grant.Cores) && slices.Equal(g.GPUs, f.grant.GPUs) {
			l.goOn(j)
			return nil
		}
		if err := l.endTurn(j); err != nil {
			return err
		}
	}
	if err := l.clear(g); err != nil {
		return err
	}
	kind := Start
	if f.state == Paused {
		kind = Resume
	}
	d := l.decide(kind, j, g.Cores, why)
	l.settleTime(j)
	moves := kind == Resume && l.elsewhere(j, g)
	if l.turned(j) {
		l.turn(j)
	}
	if kind == Resume {
		if err := l.goOnWith(j, g, moves); err != nil {
			return fmt.Errorf("resume job %q: %w", l.job(j).Name, err)
		}
	} else if err := l.Engine.Start(int(j), g); err != nil {
		l.queue.Remove(j)
		f.state = Failed
		l.dispatching.freed = true // those after it move up
		l.close(j, Fail, err.Error())
		return nil
	}
	l.out.Decision(d)
	l.queue.Remove(j)
	if next := l.dispatching.ahead.Started(l.queue); len(next) > 0 {
		l.states.Fetch(next)
		for _, k := range next {
			l.machine.Fetch(l.state(k).grant)
		}
		if l.fixed.simulator != nil {
			l.fixed.simulator.Soon(next)
		}
	}
	if moves {
		l.migrated(j)
	}
	f.state = Running
	f.hold(g)
	l.alternatives.Runs(j, int32(g.Alternative))
	l.machine.Take(g)
	if kind == Start {
		if f.first == Never {
			f.first, f.cores = l.now, cores
		}
		if !l.resizable(j) {
			f.request = cores
		}
		l.tally.started++
		l.roles.Started(j)
		l.extensions.changed(j, attemptStarts, 0)
		l.detector.News()
	}
	if kind == Start || moves {
		l.book(j)
		l.extensions.changed(j, placed, 0)
	}
	if l.policy.observer != nil {
		l.policy.observer.Served(j)
	}
	l.enter(j)
	f.timer = Never
	if q := l.quantum(j); q > 0 {
		l.setTimer(j, l.now+q)
	}
	e := l.event(kind, j)
	e.Cores, e.GPUs, e.Layout, e.Beside, e.Alternative, e.Migrated = g.Cores, g.GPUs, g.Layout, g.Beside, g.Alternative, moves
	l.out.Send()
	return nil
}

// halt has the engine pause a running job. The caller must free the job's
// resources before paused records the new state.
func (l *loop) halt(j int32) error {
	if err := l.Engine.Pause(int(j)); err != nil {
		return fmt.Errorf("pause job %q: %w", l.job(j).Name, err)
	}
	return nil
}

func (l *loop) paused(j int32, why string) {
	f := l.state(j)
	f.state, f.timer = Paused, Never
	f.preemptions++
	l.detector.Pauses++
	l.out.Decision(l.decide(Pause, j, nil, why))
	l.event(Pause, j)
	l.out.Send()
}

// request sets a job's request, as the workload asks.
func (l *loop) request(j, cores int32) {
	f := l.state(j)
	if f.state == Finished || f.state == Failed || f.state == Stopped {
		return
	}
	f.asked = cores
	l.detector.News()
	l.emit(Event{Kind: Request, Job: int(j), Cores: l.held(j).Cores, GPUs: l.held(j).GPUs, Request: int(cores)})
	if f.booked && !l.resizable(j) {
		return // it keeps its first number
	}
	if home := l.home(j); home != nil {
		cores = min(cores, l.machine.Whole[home[0]].Cores) // it cannot move to a larger node
	}
	runs := f.state == Running
	if runs {
		l.withdrawVictim(j)
	}
	f.request = cores
	if runs {
		l.offerVictim(j)
	}
	switch {
	case f.state == Pending:
	case f.state != Running || f.yields:
		k := l.queue.KeyOf(j)
		l.queue.Remove(j)
		l.queue.Insert(k, l.least(j))
	case !slices.Contains(l.running.resizing, j):
		l.running.resizing = append(l.running.resizing, j)
	}
}

// resize changes the cores of a running job: fewer, without drops, or
// more, with gains.
func (l *loop) resize(j int32, cores, drops, gains CoreSet, why string) error {
	f := l.state(j)
	if err := l.clear(Grant{Cores: gains}); err != nil {
		return err
	}
	l.settleTime(j)
	l.running.victims.Forget()
	g := Grant{Cores: cores, GPUs: f.grant.GPUs, Alternative: int(f.alternative)}
	if err := l.Engine.Resize(int(j), g); err != nil {
		return fmt.Errorf("resize job %q: %w", l.job(j).Name, err)
	}
	f.hold(g)
	l.machine.Give(Grant{Cores: drops})
	l.machine.Take(Grant{Cores: gains})
	l.unexpect(j)
	l.expect(j)
	l.result(j).Resizes++
	l.dispatching.freed = l.dispatching.freed || len(drops) > 0
	l.out.Decision(l.decide(ResizeJob, j, cores, why))
	l.emit(Event{Kind: ResizeJob, Job: int(j), Cores: g.Cores, GPUs: g.GPUs})
	return nil
}

// growBy gives a running job more cores of its node.
func (l *loop) growBy(j, more int32, node int32, why string) error {
	l.scratch.nodes = append(l.scratch.nodes[:0], node)
	gains := l.machine.Lowest(&l.machine.Cores, l.scratch.nodes, more)
	return l.resize(j, l.state(j).grant.Cores.Union(gains), nil, gains, why)
}

// change gives running jobs their new requests. Jobs that asked for less shrink
// first, then the others grow in the order of their requests. Each grows by its
// whole request or not at all; where partial requests are allowed, it grows by
// the free cores.
func (l *loop) change() error {
	if l.rules.Sizes {
		l.running.resizing = l.running.resizing[:0]
	}
	for _, j := range l.running.resizing {
		f := l.state(j)
		if f.state == Running && !f.yields && int(f.request) < f.grant.Cores.Count() {
			low, rest := f.grant.Cores.Cut(int(f.request))
			if err := l.resize(j, low, rest, nil, "its request is smaller"); err != nil {
				return err
			}
		}
	}
	keep := l.running.resizing[:0]
	for _, j := range l.running.resizing {
		f := l.state(j)
		if f.state != Running || f.yields {
			continue // it takes the new request when it resumes
		}
		more := f.request - int32(f.grant.Cores.Count())
		node := l.home(j)[0]
		free := min(more, l.machine.Free[node].Cores)
		if free > 0 && (free == more || l.rules.Partial) {
			if err := l.growBy(j, free, node, "its request is larger"); err != nil {
				return err
			}
			more -= free
		}
		if more > 0 {
			keep = append(keep, j)
		}
	}
	l.running.resizing = keep
	if l.roles.AskedAny() {
		return l.reform(false)
	}
	return nil
}

// regrow gives cores that no waiting job can use to running malleable jobs
// below their request, the earliest started first; before that, to the parts that running
// jobs have lost.
func (l *loop) regrow() error {
	if len(l.roles.Amiss()) > 0 {
		if err := l.reform(true); err != nil {
			return err
		}
	}
	for _, j := range l.running.malleable {
		f := l.state(j)
		more := f.request - int32(f.grant.Cores.Count())
		if more <= 0 || l.rules.Round > 0 || l.rules.Sizes { // a policy of rounds decides at their starts alone
			continue
		}
		node := l.home(j)[0]
		if free := min(more, l.machine.Free[node].Cores); free > 0 {
			if err := l.growBy(j, free, node, "no waiting job can use the free cores"); err != nil {
				return err
			}
		}
	}
	return nil
}

// held returns the present grant of a job.
func (l *loop) held(j int32) Grant {
	if l.state(j).state != Running {
		return Grant{}
	}
	return l.state(j).grant
}
