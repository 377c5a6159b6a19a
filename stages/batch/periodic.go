package batch

import (
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// never is later than any instant of a run, and can be added to.
const never = scheduler.Never / 4

// periodic is the admission of a run.
type periodic struct {
	scheduler.View
	scheduler.Actions
	terms
	*site
	order *multifactor // nil for another order
	wrong error
	first time.Duration // when the system was started
	count *counters

	running  []runner // by expected end
	held     []held   // by job
	waiting  int
	instants []instant // that are still to come, where they are given
	fresh    []int32   // that have come, and were not looked at
	after    map[string][]int32
	finished map[string]bool
	owed     []int // by job, how many jobs it waits for

	woken                       bool // since the last dispatch
	asked, ended                bool // for a look at the queue
	stale                       bool // something has changed since the last round of backfill
	queued                      bool // and since the last look at the whole queue
	lastLook                    time.Duration
	lastWhole                   time.Duration
	lastRound, staleAt, askedAt time.Duration
	round                       int             // of the order's priorities
	later                       []time.Duration // instants at which jobs become eligible
	giving                      []giving
	clean                       []cleaned                  // nodes of jobs that have ended, by when they take jobs again
	cleaning                    bitmap                     // all of them
	own                         map[string][]time.Duration // by job, how long its nodes are cleaned at its next ends
	turns                       []time.Duration            // at which reservations begin or end, from now on
	preempted                   map[int32]time.Duration    // by waiting job, when others gave way to it
	changed, at                 time.Duration              // the last change; the start of the round, in whole seconds
	packer                      packer
	blocked, mask, looked       bitmap
	rooms                       []cluster.Room
	shares                      []share
	nodes                       []int32
	bounds, starts              []int32 // cores by node, and the first of them
	windows                     []window
	slide                       slide
	idle, maybe                 []int32         // nodes with free cores, and jobs that may start on them
	promised                    []time.Duration // by node, the earliest reservation of the round
	most                        counts          // the cores of each node
	ends, others                timeline        // of all running jobs, if known, and without those that would give way
	why                         map[int32]string
}

// runner is a running job and when it ends by its limit.
type runner struct {
	end time.Duration
	job int32
}

// held is the holdings of a running job.
type held struct {
	on     bitmap  // nil when it does not run
	shares []share // of cores, by node
	end    time.Duration
	since  time.Duration
	use    usage
}

// giving is a running job that gives way at an instant, or exceeds its limit.
type giving struct {
	at   time.Duration
	job  int32
	mode string
}

func newPeriodic(s policy.Setup) *periodic {
	n := len(s.Run.Cluster.Nodes)
	p := &periodic{
		count: newCounters(), held: make([]held, len(s.Run.Jobs)), owed: make([]int, len(s.Run.Jobs)),
		after: map[string][]int32{}, finished: map[string]bool{}, blocked: newBitmap(n), mask: newBitmap(n), cleaning: newBitmap(n),
		packer: packer{units: make([]int32, n)}, why: map[int32]string{}, preempted: map[int32]time.Duration{}, changed: -never,
	}
	schema.Fill(&p.terms, s.Policy.Settings)
	var f factors
	schema.Fill(&f, s.Policy.Settings)
	p.first, _ = f.begun(s.Run.Seed)
	if m, ok := s.Order.(*multifactor); ok {
		p.order, p.site, p.wrong = m, m.site, m.wrong
		m.looked = -never
	} else {
		p.site = newSite(s.Run, s.Policy.Blocks)
		p.wrong = p.problem()
	}
	p.turns = p.edges()
	p.instants, _ = readInstants(p.Instants)
	p.own, _ = p.releases()
	p.lastLook, p.lastWhole, p.lastRound = p.first, p.first, p.first
	cores := int32(0)
	for v := range s.Run.Cluster.Nodes {
		p.starts = append(p.starts, cores)
		p.bounds = append(p.bounds, int32(s.Run.Cluster.Nodes[v].Threads))
		cores += p.bounds[v]
	}
	p.promised, p.rooms = make([]time.Duration, n), make([]cluster.Room, n)
	p.most = newCounts(n, int(slices.Max(append([]int32{1}, p.bounds...))))
	for v, cores := range p.bounds {
		p.most.add(int32(v), cores)
	}
	p.packer.spread = p.Spread
	if p.wrong == nil && slices.Max(p.weight) != slices.Min(p.weight) {
		p.packer.weights = p.weight
	}
	return p
}

// Hears receives each event of the run.
func (p *periodic) OnEvent(e *scheduler.Event) {
	if p.wrong != nil || e.Job < 0 {
		return
	}
	job := int32(e.Job)
	j := &p.run.Jobs[job]
	p.ends.running = nil
	switch e.Kind {
	case scheduler.Arrive:
		p.fresh, p.waiting = append(p.fresh, job), p.waiting+1
		p.count.count(p.of(j), j.User, usage{submitted: 1}, 1)
		p.await(job, e.At)
		p.change(e.At)
	case scheduler.Start, scheduler.Resume:
		p.waiting--
		m := p.of(j)
		h := &p.held[job]
		on, shares := p.nodesOf(e.Cores)
		*h = held{on: on, shares: shares, end: p.floor(e.At, time.Second) + m.limit, since: e.At}
		h.use = usage{cores: e.Cores.Count(), nodes: h.on.count(), gpus: e.GPUs.Count(), jobs: 1}
		p.count.count(m, j.User, h.use, 1)
		i, _ := slices.BinarySearchFunc(p.running, runner{h.end, job}, byEnd)
		p.running = slices.Insert(p.running, i, runner{h.end, job})
		delete(p.why, job)
		delete(p.preempted, job)
		p.give(giving{h.end + p.OverLimit, job, "limit"})
		p.change(e.At)
	case scheduler.Finish, scheduler.Fail, scheduler.Stop, scheduler.Revoke, scheduler.Retry, scheduler.Pause:
		p.leave(e)
	}
}

func byEnd(a, b runner) int {
	if a.end != b.end {
		return int(max(min(a.end-b.end, 1), -1))
	}
	return int(a.job - b.job)
}

// leave takes the end of a job's attempt, or of one that waits.
func (p *periodic) leave(e *scheduler.Event) {
	job := int32(e.Job)
	j, h := &p.run.Jobs[job], &p.held[job]
	m := p.of(j)
	_, final := e.Kind, e.Kind == scheduler.Finish || e.Kind == scheduler.Fail || e.Kind == scheduler.Stop
	if h.on != nil {
		p.count.count(m, j.User, h.use, -1)
		i, found := slices.BinarySearchFunc(p.running, runner{h.end, job}, byEnd)
		if found {
			p.running = slices.Delete(p.running, i, i+1)
		}
		p.giving = slices.DeleteFunc(p.giving, func(g giving) bool { return g.job == job })
		p.freed(e, h.on)
		h.on, h.shares = nil, nil
		if !final {
			p.waiting++
		}
	} else if final {
		p.waiting--
	}
	if final {
		p.count.count(m, j.User, usage{submitted: 1}, -1)
		p.release(j.Name, e.At)
	}
	p.change(e.At)
}

// await makes a job that waits for others, or for an instant, ineligible until then.
func (p *periodic) await(job int32, now time.Duration) {
	m := p.of(&p.run.Jobs[job])
	m.eligible = max(now, m.sub.Begin)
	for _, name := range m.sub.After {
		if !p.finished[name] {
			p.owed[job]++
			p.after[name] = append(p.after[name], job)
		}
	}
	if p.owed[job] > 0 {
		m.eligible = never
	} else if m.eligible > now {
		p.later = append(p.later, m.eligible)
	}
}

// release makes jobs eligible that have waited for the last of the jobs before them.
func (p *periodic) release(name string, now time.Duration) {
	p.finished[name] = true
	for _, job := range p.after[name] {
		if p.owed[job]--; p.owed[job] == 0 {
			m := p.of(&p.run.Jobs[job])
			m.eligible = max(now, m.sub.Begin)
			p.later = append(p.later, m.eligible)
		}
	}
	delete(p.after, name)
}

// nodesOf returns the nodes of some cores, and how many are on each.
func (p *periodic) nodesOf(cores scheduler.CoreSet) (bitmap, []share) {
	on, shares := newBitmap(len(p.starts)), []share(nil)
	for _, s := range cores {
		v, found := slices.BinarySearch(p.starts, s.Lo)
		if !found {
			v--
		}
		for lo := s.Lo; lo < s.Hi; v++ {
			hi := min(s.Hi, p.starts[v]+p.bounds[v])
			if n := len(shares); n > 0 && shares[n-1].node == int32(v) {
				shares[n-1].units += hi - lo
			} else if hi > lo {
				shares = append(shares, share{int32(v), hi - lo})
			}
			on.set(v)
			lo = hi
		}
	}
	return on, shares
}

// give records that a job is to give way at an instant.
func (p *periodic) give(g giving) {
	i, _ := slices.BinarySearchFunc(p.giving, g, func(a, b giving) int { return int(max(min(a.at-b.at, 1), -1)) })
	p.giving = slices.Insert(p.giving, i, g)
}

// NextWakeup implements scheduler.TimedPolicy.
func (p *periodic) NextWakeup() time.Duration {
	at := scheduler.Never
	if p.woken {
		return at
	}
	if len(p.giving) > 0 {
		at = p.giving[0].at
	}
	if p.waiting == 0 {
		return at
	}
	for _, l := range p.later {
		at = min(at, l)
	}
	if len(p.clean) > 0 {
		at = min(at, p.clean[0].at)
	}
	if len(p.turns) > 0 {
		at = min(at, p.turns[0])
	}
	if p.order != nil && (p.order.Age > 0 || p.order.Fair > 0) && len(p.running) > 0 {
		at = min(at, p.order.next)
	}
	if len(p.instants) > 0 {
		return min(at, p.instants[0].at)
	}
	if p.ended {
		return 0
	}
	if p.asked {
		at = min(at, p.dueLook())
	}
	if p.queued {
		at = min(at, p.lastWhole+p.Interval)
	}
	if p.stale {
		at = min(at, p.dueRound())
	}
	return at
}

// OnWakeup implements scheduler.TimedPolicy. The clock decides which work is due.
func (p *periodic) OnWakeup() { p.woken = true }

// AsksAlways has the admission asked also when no job waits: jobs may have reached their limits.
func (p *periodic) AsksAlways() {}

// HeldBack implements scheduler.Admitter.
func (p *periodic) HeldBack(v scheduler.View, job int32) string { return p.Why(v, job) }

// Why implements scheduler.Explainer.
func (p *periodic) Why(_ scheduler.View, job int32) string {
	if p.wrong == nil {
		if m := p.of(&p.run.Jobs[job]); m.reason != "" {
			return m.reason
		}
	}
	if why := p.why[job]; why != "" {
		return why
	}
	return "comes after jobs that cannot start"
}

// Admit implements scheduler.Admitter.
func (p *periodic) Admit(v scheduler.View, h scheduler.Actions) error {
	if p.wrong != nil {
		return p.wrong
	}
	p.View, p.Actions, p.woken = v, h, false
	now := v.Now()
	if p.order != nil && p.order.round != p.round {
		p.round = p.order.round
		p.change(now)
	}
	for i := 0; i < len(p.later); i++ {
		if p.later[i] <= now {
			p.later = slices.Delete(p.later, i, i+1)
			p.change(now)
			p.ask(now)
			i--
		}
	}
	if err := p.giveWay(now); err != nil {
		return err
	}
	p.open(now)
	if err := p.receive(); err != nil {
		return err
	}
	return p.act(now)
}

// giveWay ends jobs that run beyond their limit or whose grace time is over.
func (p *periodic) giveWay(now time.Duration) error {
	for len(p.giving) > 0 && p.giving[0].at <= now {
		g := p.giving[0]
		p.giving = p.giving[1:]
		if p.held[g.job].on == nil {
			continue
		}
		if err := p.evict(g.job, g.mode); err != nil {
			return err
		}
	}
	return nil
}

// evict has a running job give way.
func (p *periodic) evict(job int32, mode string) error {
	switch mode {
	case "limit":
		return p.Cancel(job, "its time limit is over")
	case "cancel":
		return p.Cancel(job, "it gives way")
	case "suspend":
		return p.Pause(job, "it gives way")
	}
	m := p.of(&p.run.Jobs[job])
	if m.sub.Stays {
		return p.Cancel(job, "it gives way")
	}
	m.eligible = p.Now() + p.releaseOf(int(job), p.StopRelease) + p.RequeueDelay
	p.later = append(p.later, m.eligible)
	return p.Requeue(job, "it gives way")
}

// receive takes the jobs that have come, and refuses those beyond a limit.
func (p *periodic) receive() error {
	for len(p.fresh) > 0 {
		job := p.fresh[0]
		p.fresh = p.fresh[1:]
		j := p.View.Job(job)
		if j.State() != scheduler.Queued {
			continue
		}
		m := p.of(j.Job())
		p.count.count(m, j.Job().User, usage{submitted: 1}, -1)
		refused := p.count.refuses(m, j.Job().User)
		p.count.count(m, j.Job().User, usage{submitted: 1}, 1)
		if refused != "" {
			if err := p.Cancel(job, refused); err != nil {
				return err
			}
			continue
		}
		p.ask(p.Now())
	}
	return nil
}

// queue returns the waiting jobs, which age from now on.
func (p *periodic) queue() scheduler.WaitingJobs {
	if p.order != nil {
		p.order.looked = p.Now()
	}
	return p.View.Waiting()
}

// look tries to start jobs in their order, up to a number of them. In a partition with a job that cannot start no
// later job starts, and no job of other partitions starts on its nodes.
func (p *periodic) look(depth int) error {
	clear(p.blocked)
	waiting := p.queue()
	full := map[*Partition]bool{}
	after := queue.Front
	for n := 0; ; {
		job := waiting.Next(after, queue.Anyone)
		if job == queue.Nobody {
			return nil
		}
		after = waiting.KeyOf(job)
		j := &p.run.Jobs[job]
		m := p.of(j)
		if m.eligible > p.Now() || m.reason != "" {
			continue
		}
		if n++; n > depth+1 {
			return nil
		}
		if full[m.partition] {
			continue
		}
		if why := p.count.holds(m, j); why != "" {
			p.why[job] = why
			if p.LimitsBlock {
				full[m.partition] = true
				p.blocked.or(m.partition.nodes)
			}
			continue
		}
		p.mask.copy(m.partition.nodes)
		p.mask.minus(p.blocked)
		p.mask.minus(p.cleaning)
		p.closed(m, p.Now(), p.Now()+m.limit, p.mask)
		started, err := p.try(job, p.mask, "first in the order")
		if err != nil {
			return err
		}
		if started {
			continue
		}
		if len(full)+1 == len(p.partitions) {
			return nil
		}
		full[m.partition] = true
		p.blocked.or(m.partition.nodes)
	}
}

// try starts a job on some nodes if there is room, or has others give way to it.
func (p *periodic) try(job int32, on bitmap, why string) (started bool, err error) {
	m := p.of(&p.run.Jobs[job])
	if m.reason != "" || p.count.holds(m, &p.run.Jobs[job]) != "" {
		return false, nil
	}
	shares, ok := p.fit(job, p.Machine().Free(), on)
	if ok {
		return true, p.begin(job, shares, why)
	}
	if p.PreemptionBy != "none" {
		return false, p.preempt(job, on)
	}
	return false, nil
}

// begin starts a job.
func (p *periodic) begin(job int32, shares []share, why string) error {
	p.nodes = p.nodes[:0]
	for _, s := range shares {
		for range s.units {
			p.nodes = append(p.nodes, s.node)
		}
	}
	j := p.View.Job(job)
	return p.Start(job, j.Request(), p.nodes, why)
}

// demand is the number of equal units that a waiting job needs.
type demand struct {
	*member
	unit    cluster.Room
	count   int
	divided bool
	core    bool // a unit is a core and nothing else
}

func (p *periodic) demand(job int32) demand {
	v := p.View.Job(job)
	unit, count := v.Needs(v.Request())
	return demand{p.of(v.Job()), unit, count, v.Job().Divided, unit == cluster.Room{Cores: 1}}
}

// units returns how many units of a job a node has room for.
func (p *periodic) units(node int, rooms []cluster.Room, d *demand) int32 {
	n := rooms[node].Cores
	if n == 0 || !p.suits(node, d.member) || d.sub.Exclusive && n < p.bounds[node] {
		return 0
	}
	if !d.core {
		n = int32(rooms[node].Times(d.unit))
	}
	switch {
	case !d.divided:
		n = min(n, 1)
	case d.sub.MaxNodes == 1 && int(n) < d.count:
		n = 0
	}
	return n
}

// fit finds nodes for a job among some nodes, given their free resources.
func (p *periodic) fit(job int32, rooms []cluster.Room, on bitmap) ([]share, bool) {
	d := p.demand(job)
	clear(p.packer.units)
	if d.core && d.divided && d.sub.MaxNodes != 1 && !d.sub.Exclusive && len(d.sub.Features) == 0 {
		on.each(func(v int) { p.packer.units[v] = rooms[v].Cores }) // most jobs
	} else {
		on.each(func(v int) { p.packer.units[v] = p.units(v, rooms, &d) })
	}
	least, most := max(d.sub.MinNodes, 1), d.maxNodes
	if !d.divided {
		least, most = d.count, d.count
	}
	shares, ok := p.packer.place(int32(d.count), min(least, d.count), most, p.shares[:0])
	if ok {
		p.shares = shares
	}
	return shares, ok
}

// suits reports whether a node has everything that a job asks for by name.
func (p *periodic) suits(node int, m *member) bool {
	for _, f := range m.sub.Features {
		if !p.features[node][f] {
			return false
		}
	}
	return true
}

var _ scheduler.TimedPolicy = (*periodic)(nil)
