package scheduler

import (
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// dispatch decides which jobs run from now on: first requested resizes, then waiting jobs in the policy's order,
// then growth of running jobs. It repeats the steps until nothing changes.
func (l *loop) dispatch() error {
	for rounds := 0; ; rounds++ {
		if rounds > 8*l.jobs.Len()+64 {
			return fmt.Errorf("dispatch at %s does not end: the policy keeps changing the same jobs", l.now)
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
			if err := l.endTurn(l.state(l.turns.Jobs[0])); err != nil {
				return err
			}
		}
		if len(l.running.malleable)+len(l.roles.Amiss()) > 0 {
			if err := l.regrow(); err != nil {
				return err
			}
		}
		// Only freed resources can let a job start that could not start before.
		if !l.dispatching.freed {
			return nil
		}
	}
}

// admit lets the policy start waiting jobs. A policy of rounds decides about all jobs.
func (l *loop) admit() error {
	if l.rules.Round > 0 {
		return l.admitRound()
	}
	if l.queue.Len() == 0 && !l.rules.AlwaysConsult {
		return nil
	}
	if l.rules.Reranks != nil && l.rules.Reranks(l.now) {
		for _, j := range l.queue.First(l.queue.Len(), nil) {
			l.moved(l.state(j))
		}
	}
	return l.rules.Admission.Admit(l, l)
}

// moved gives a job its new place in the queue if its rank has changed since it was queued. It reports whether the
// rank had changed.
func (l *loop) moved(j *jobState) bool {
	k := l.place(j)
	if k == l.queue.KeyOf(j.number) {
		return false
	}
	l.queue.Remove(j.number)
	l.queue.Insert(k, l.least(j))
	return true
}

// needs returns a job's need per node, and the number of nodes, to start or resume on the given number of cores in
// all. A paused job still has its memory, and needs no more.
func (l *loop) needs(j *jobState, cores int32) (cluster.Room, int) {
	if j.plain {
		return l.extensions.limit(j, cluster.Room{Cores: cores}), 1
	}
	job := j.job
	if l.roles.AskedAny() {
		job = l.whole(j)
	}
	need, count := job.Needs(cores)
	if need.Parts != nil {
		need.Parts.On(l.machine)
	}
	if j.booked {
		if need.Memory = 0; l.turned(j) {
			whole, _ := job.Needs(cores)
			need.Memory = whole.Memory - l.memoryOf(j)
		}
		if need.Parts != nil {
			need.Parts = j.grant.Layout.Needs()
		}
	}
	need.Kind = max(need.Kind, l.alternatives.Kind(j.number))
	return l.extensions.limit(j, need), count
}

// home returns the nodes on which a started job must stay; nil if it has not started.
func (l *loop) home(j *jobState) []int32 {
	if !j.booked {
		return nil
	}
	if !j.plain && len(j.job.Roles()) > 0 {
		l.scratch.home = l.scratch.home[:0]
		for _, p := range j.grant.Layout.Parts {
			l.scratch.home = append(l.scratch.home, int32(p.Node))
		}
		return l.scratch.home
	}
	return l.nodesOf(j)
}

// nodesOf returns the nodes of a running job's grant, or of a paused job's last grant.
func (l *loop) nodesOf(j *jobState) []int32 {
	l.scratch.home = l.nodesIn(j, &j.grant, l.scratch.home[:0])
	return l.scratch.home
}

// nodesIn appends the nodes of a grant to nodes: for a divided job, the node of each unit, so that a node can occur
// more than once.
func (l *loop) nodesIn(j *jobState, g *Grant, nodes []int32) []int32 {
	if j.plain || !j.job.Divided {
		return l.machine.NodesOf(g.Cores, nodes)
	}
	unit, _ := j.job.Needs(int32(g.Cores.Count()))
	return l.machine.EachUnit(g.Cores, unit.Cores, nodes)
}

// fits finds nodes with free resources for a waiting job, on the given number of cores.
func (l *loop) fits(j *jobState, cores int32) (nodes []int32, ok bool) {
	l.scratch.nodes, ok = l.fitIn(l.machine.Free, j, cores, l.scratch.nodes[:0])
	return l.scratch.nodes, ok
}

// start starts or resumes a waiting job on cores of the nodes: on the cores that it held there before, if they are
// free, else on the lowest free ones.
func (l *loop) start(j *jobState, cores int32, nodes []int32, why string) error {
	if l.easy(j) {
		return l.startWith(j, cores, Grant{Cores: l.machine.ChooseCores(nodes, cores, j.grant.Cores)}, why)
	}
	need, _ := l.needs(j, cores)
	g := l.machine.Choose(nodes, need, l.heldOn(j, nodes))
	g.Alternative = int(j.alternative)
	g.Layout = l.machine.LayoutOf(g, nodes)
	return l.startWith(j, cores, g, why)
}

// Divide implements ClusterActions.
func (l *loop) Divide(job int32, shares []cluster.Share, why string) error {
	j := l.job(job)
	g, err := l.machine.DividedGrant(shares, int32(max(j.Threads/max(j.GPUs, 1), 1)))
	if err != nil || !j.Elastic || len(shares) == 0 {
		return fmt.Errorf("divide GPUs for job %q: %w", j.Name, err)
	}
	return l.startWith(l.state(job), int32(g.Cores.Count()), g, why)
}

// startWith starts or resumes a waiting job with a grant.
func (l *loop) startWith(j *jobState, cores int32, g Grant, why string) error {
	if j.yields {
		if slices.Equal(g.Cores, j.grant.Cores) && slices.Equal(g.GPUs, j.grant.GPUs) {
			l.goOn(j)
			return nil
		}
		if err := l.endTurn(j); err != nil {
			return err
		}
	}
	if len(l.turns.Jobs) > 0 {
		if err := l.clear(g); err != nil {
			return err
		}
	}
	kind := Start
	if j.state == Paused {
		kind = Resume
	}
	var d *Decision
	if l.recording() {
		d = l.decide(kind, j, g.Cores, why)
	}
	l.settleTime(j)
	moves := kind == Resume && l.elsewhere(j, g)
	if l.turned(j) {
		l.turn(j)
	}
	if kind == Resume {
		if err := l.goOnWith(j, g, moves); err != nil {
			return fmt.Errorf("resume job %q: %w", j.job.Name, err)
		}
	} else if err := l.Engine.Start(int(j.number), g); err != nil {
		l.queue.Remove(j.number)
		j.state = Failed
		l.dispatching.freed = true // the jobs behind it may start now
		l.close(j, Fail, err.Error())
		return nil
	}
	l.out.Decision(d)
	l.queue.Remove(j.number)
	if next := l.dispatching.ahead.Started(l.queue); len(next) > 0 {
		l.states.Fetch(next)
		for _, k := range next {
			l.machine.Fetch(l.state(k).grant)
		}
		if l.fixed.simulator != nil {
			l.fixed.simulator.AnnounceStarts(next)
		}
	}
	if moves {
		l.migrated(j)
	}
	j.state = Running
	j.hold(g)
	l.alternatives.Runs(j.number, int32(g.Alternative))
	l.machine.Take(g)
	if kind == Start {
		if j.first == Never {
			j.first, j.cores = l.now, cores
		}
		if !l.resizable(j) {
			j.request = cores
		}
		l.tally.started++
		l.roles.Started(j.number)
		l.extensions.changed(j, attemptStarts, 0)
		l.detector.Progressed()
	}
	if kind == Start || moves {
		l.book(j)
		l.extensions.changed(j, placed, 0)
	}
	if l.policy.observer != nil {
		l.policy.observer.Served(j.number)
	}
	l.enter(j)
	j.timer = Never
	if q := l.quantum(j); q > 0 {
		l.setTimer(j, l.now+q)
	}
	if g.Layout == nil && g.Beside == nil && g.Alternative == 0 && !moves {
		l.tell(kind, j, g.Cores, g.GPUs, nil)
	} else {
		l.emit(Event{Kind: kind, Job: int(j.number), Cores: g.Cores, GPUs: g.GPUs, Layout: g.Layout, Beside: g.Beside,
			Alternative: g.Alternative, Migrated: moves})
	}
	return nil
}

// halt makes the engine pause a running job. The caller must then free the job's resources and call paused, in this
// order.
func (l *loop) halt(j *jobState) error {
	if err := l.Engine.Pause(int(j.number)); err != nil {
		return fmt.Errorf("pause job %q: %w", j.job.Name, err)
	}
	return nil
}

func (l *loop) paused(j *jobState, why string) {
	j.state, j.timer = Paused, Never
	j.preemptions++
	l.detector.Pauses++
	l.out.Decision(l.decide(Pause, j, nil, why))
	l.tell(Pause, j, nil, nil, nil)
}

// request sets a job's request to the number of cores that the workload asks for.
func (l *loop) request(j *jobState, cores int32) {
	if j.state == Finished || j.state == Failed || j.state == Stopped {
		return
	}
	j.asked = cores
	l.detector.Progressed()
	l.emit(Event{Kind: Request, Job: int(j.number), Cores: l.held(j).Cores, GPUs: l.held(j).GPUs, Request: int(cores)})
	if j.booked && !l.resizable(j) {
		return // a rigid job keeps the cores of its first start
	}
	if home := l.home(j); home != nil {
		cores = min(cores, l.machine.Whole[home[0]].Cores) // a started job stays on its node
	}
	runs := j.state == Running
	if runs {
		l.withdrawVictim(j)
	}
	j.request = cores
	if runs {
		l.offerVictim(j)
	}
	switch {
	case j.state == Pending:
	case j.state != Running || j.yields:
		k := l.queue.KeyOf(j.number)
		l.queue.Remove(j.number)
		l.queue.Insert(k, l.least(j))
	case !slices.Contains(l.running.resizing, j.number):
		l.running.resizing = append(l.running.resizing, j.number)
	}
}

// resize changes the cores of a running job to cores. They are its former cores without drops, or with gains.
func (l *loop) resize(j *jobState, cores, drops, gains CoreSet, why string) error {
	if err := l.clear(Grant{Cores: gains}); err != nil {
		return err
	}
	l.settleTime(j)
	l.running.victims.Forget()
	g := Grant{Cores: cores, GPUs: j.grant.GPUs, Alternative: int(j.alternative)}
	if err := l.Engine.Resize(int(j.number), g); err != nil {
		return fmt.Errorf("resize job %q: %w", j.job.Name, err)
	}
	j.hold(g)
	l.machine.Give(Grant{Cores: drops})
	l.machine.Take(Grant{Cores: gains})
	l.unexpect(j)
	l.expect(j)
	l.result(j).Resizes++
	l.dispatching.freed = l.dispatching.freed || len(drops) > 0
	l.out.Decision(l.decide(ResizeJob, j, cores, why))
	l.tell(ResizeJob, j, g.Cores, g.GPUs, nil)
	return nil
}

// growBy gives a running job more cores of its node.
func (l *loop) growBy(j *jobState, more int32, node int32, why string) error {
	l.scratch.nodes = append(l.scratch.nodes[:0], node)
	gains := l.machine.Lowest(&l.machine.Cores, l.scratch.nodes, more)
	return l.resize(j, j.grant.Cores.Union(gains), nil, gains, why)
}

// change resizes running jobs to their new requests. Jobs with a smaller request shrink first. Then the others grow,
// in the order of their requests: by as many cores as requested, or not at all. If the policy allows partial
// requests, they grow by the free cores.
func (l *loop) change() error {
	if l.rules.OwnsSizes {
		l.running.resizing = l.running.resizing[:0]
	}
	for _, j := range l.running.resizing {
		j := l.state(j)
		if j.state == Running && !j.yields && int(j.request) < j.grant.Cores.Count() {
			low, rest := j.grant.Cores.Cut(int(j.request))
			if err := l.resize(j, low, rest, nil, "its request is smaller"); err != nil {
				return err
			}
		}
	}
	keep := l.running.resizing[:0]
	for _, j := range l.running.resizing {
		j := l.state(j)
		if j.state != Running || j.yields {
			continue // a paused job gets its new request when it resumes
		}
		more := j.request - int32(j.grant.Cores.Count())
		node := l.home(j)[0]
		free := min(more, l.machine.Free[node].Cores)
		if free > 0 && (free == more || l.rules.Partial) {
			if err := l.growBy(j, free, node, "its request is larger"); err != nil {
				return err
			}
			more -= free
		}
		if more > 0 {
			keep = append(keep, j.number)
		}
	}
	l.running.resizing = keep
	if l.roles.AskedAny() {
		return l.reform(false)
	}
	return nil
}

// regrow gives cores that no waiting job can use to running jobs. Jobs that have lost parts get those first. Then
// malleable jobs grow up to their requests, the earliest started first.
func (l *loop) regrow() error {
	if len(l.roles.Amiss()) > 0 {
		if err := l.reform(true); err != nil {
			return err
		}
	}
	for _, j := range l.running.malleable {
		j := l.state(j)
		more := j.request - int32(j.grant.Cores.Count())
		if more <= 0 || l.rules.Round > 0 || l.rules.OwnsSizes { // rounds resize at their starts
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

// held returns the present grant of a job; it is empty unless the job runs.
func (l *loop) held(j *jobState) Grant {
	if j.state != Running {
		return Grant{}
	}
	return j.grant
}
