package batch

import (
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/queue"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// never is later than any time of a run. It is small enough that durations can be added without overflow.
const never = scheduler.Never / 4

// periodic is the admission policy of one run. It checks the queue in its order, and runs rounds of backfill.
type periodic struct {
	scheduler.View
	scheduler.Actions
	periodicArgs
	*clusterConfig
	order      *multifactor // nil if the policy has another order
	orderRound int          // the round of the order's priorities at the last dispatch
	blocksErr  error        // the first mistake in the policy's blocks

	arrived          []int32          // jobs that have arrived since the last dispatch
	waiting          int              // number of waiting jobs
	seed             int64            // of the run
	waitReasons      map[int32]string // by number of a waiting job: the limit that held it back
	eligibility      eligibility
	running          runningJobs
	limits           *counters
	preemption       preemption
	cleaning         pendingCleanups
	reservationEdges []time.Duration // future starts and ends of reservations

	passes  schedulingPasses
	wokenUp bool // whether a wakeup came since the last dispatch
	round   backfillRound
	cores   coreNumbers
	packer  packer
	buffers buffers
}

// buffers is memory that is reused between jobs, to avoid allocations.
type buffers struct {
	blocked   bitmap // nodes of partitions with a job that cannot start
	allowed   bitmap // nodes on which a job may start
	rooms     []cluster.Room
	shares    []share
	unitNodes []int32 // the node of each unit of a job
	queue     []int32 // the waiting jobs, in order
}

func newPeriodic(s policy.Setup) *periodic {
	n := len(s.Run.Cluster.Nodes)
	p := &periodic{
		seed: s.Run.Seed, limits: newCounters(), running: runningJobs{allocations: make([]allocation, len(s.Run.Jobs)), wholeNodes: newBitmap(n)},
		eligibility: newEligibility(len(s.Run.Jobs)), waitReasons: map[int32]string{},
		preemption: preemption{last: map[int32]time.Duration{}}, cleaning: pendingCleanups{nodes: newBitmap(n)},
		cores: newCoreNumbers(s.Run.Cluster.Nodes), round: backfillRound{reservedFrom: make([]time.Duration, n)},
		buffers: buffers{blocked: newBitmap(n), allowed: newBitmap(n), rooms: make([]cluster.Room, n)},
	}
	schema.Fill(&p.periodicArgs, s.Policy.Settings)
	var f factors
	schema.Fill(&f, s.Policy.Settings)
	systemStart, _ := f.begun(s.Run.Seed)
	p.passes = newSchedulingPasses(&p.periodicArgs, systemStart)
	if f.Phase == randomPhase { // backfill has its own thread, whose periods begin at any time between two checks
		p.passes.lastRound -= time.Duration(workload.Stream(s.Run.Seed, "phase", "backfill").Int64N(int64(p.Round)))
	}
	p.cleaning.durations, _ = p.releases()
	if m, ok := s.Order.(*multifactor); ok {
		p.order, p.clusterConfig, p.blocksErr = m, m.clusterConfig, m.blocksErr
		m.lastLook = -never
	} else {
		p.clusterConfig = newClusterConfig(s.Run, s.Policy.Blocks)
		p.blocksErr = p.firstMistake()
	}
	p.reservationEdges = p.edgesOfReservations()
	p.packer = packer{units: make([]int32, n), spread: p.Spread}
	if p.blocksErr == nil && slices.Max(p.weight) != slices.Min(p.weight) {
		p.packer.weights = p.weight
	}
	return p
}

// OnEvent receives each event of the run.
func (p *periodic) OnEvent(e *scheduler.Event) {
	if p.blocksErr != nil || e.Job < 0 {
		return
	}
	job := int32(e.Job)
	j := &p.run.Jobs[job]
	p.round.ends.running = nil
	switch e.Kind {
	case scheduler.Arrive:
		m := p.recordOf(j)
		p.arrived, p.waiting = append(p.arrived, job), p.waiting+1
		p.limits.count(m, j.User, usage{submitted: 1}, 1)
		p.eligibility.arrive(job, m, e.At)
		p.passes.recordChange(e.At)
	case scheduler.Start, scheduler.Resume:
		p.start(e)
	case scheduler.Finish, scheduler.Fail, scheduler.Stop, scheduler.Revoke, scheduler.Retry, scheduler.Pause:
		p.end(e)
	}
}

// start records the start or resumption of a job.
func (p *periodic) start(e *scheduler.Event) {
	job := int32(e.Job)
	j := &p.run.Jobs[job]
	m := p.recordOf(j)
	on, shares := p.cores.nodesOf(e.Cores)
	a := allocation{on: on, shares: shares, end: p.floor(e.At, time.Second) + m.limit, since: e.At}
	a.use = usage{cores: e.Cores.Count(), nodes: on.count(), gpus: e.GPUs.Count(), jobs: 1}
	p.waiting--
	p.running.add(job, a)
	if m.exclusive() {
		p.running.wholeNodes.or(on)
		p.running.exclusive++
	}
	p.limits.count(m, j.User, a.use, 1)
	delete(p.waitReasons, job)
	delete(p.preemption.last, job)
	p.preemption.plan(eviction{a.end + p.OverLimit, job, "limit"})
	p.passes.recordChange(e.At)
}

// end records that a job stopped running, or left the queue.
func (p *periodic) end(e *scheduler.Event) {
	job := int32(e.Job)
	j, a := &p.run.Jobs[job], p.running.allocations[job]
	m := p.recordOf(j)
	final := e.Kind == scheduler.Finish || e.Kind == scheduler.Fail || e.Kind == scheduler.Stop
	if a.on != nil {
		p.limits.count(m, j.User, a.use, -1)
		p.running.remove(job)
		if m.exclusive() {
			p.running.wholeNodes.minus(a.on)
			p.running.exclusive--
		}
		p.preemption.drop(job)
		p.cleanUp(e, a.on)
		if !final {
			p.waiting++
		}
	} else if final {
		p.waiting--
	}
	if final {
		p.limits.count(m, j.User, usage{submitted: 1}, -1)
		p.eligibility.end(j.Name, e.At, p.member)
	}
	p.passes.recordChange(e.At)
}

// member returns the record of a job.
func (p *periodic) member(job int32) *jobRecord { return p.recordOf(&p.run.Jobs[job]) }

// NextWakeup implements scheduler.TimedPolicy.
func (p *periodic) NextWakeup() time.Duration {
	at := scheduler.Never
	if p.wokenUp {
		return at
	}
	if len(p.preemption.evictions) > 0 {
		at = p.preemption.evictions[0].at
	}
	if p.waiting == 0 {
		return at
	}
	for _, l := range p.eligibility.instants {
		at = min(at, l)
	}
	if len(p.cleaning.pending) > 0 {
		at = min(at, p.cleaning.pending[0].at)
	}
	if len(p.reservationEdges) > 0 {
		at = min(at, p.reservationEdges[0])
	}
	if p.order != nil && (p.order.Age > 0 || p.order.Fair > 0) && len(p.running.byEnd) > 0 {
		at = min(at, p.order.next)
	}
	if p.passes.dueNow() {
		return 0
	}
	return min(at, p.passes.next())
}

// OnWakeup implements scheduler.TimedPolicy. The next Admit finds out which work is due.
func (p *periodic) OnWakeup() { p.wokenUp = true }

// AsksAlways makes the kernel ask for admissions even when no job waits: running jobs may have reached their limits.
func (p *periodic) AsksAlways() {}

// HeldBack implements scheduler.Admitter.
func (p *periodic) HeldBack(v scheduler.View, job int32) string { return p.Why(v, job) }

// Why implements scheduler.Explainer.
func (p *periodic) Why(_ scheduler.View, job int32) string {
	if p.blocksErr == nil {
		if m := p.member(job); m.reason != "" {
			return m.reason
		}
	}
	if why := p.waitReasons[job]; why != "" {
		return why
	}
	return "comes after jobs that cannot start"
}

// Admit implements scheduler.Admitter.
func (p *periodic) Admit(v scheduler.View, h scheduler.Actions) error {
	if p.blocksErr != nil {
		return p.blocksErr
	}
	p.View, p.Actions, p.wokenUp = v, h, false
	now := v.Now()
	if p.order != nil && p.order.round != p.orderRound {
		p.orderRound = p.order.round
		p.passes.recordChange(now)
	}
	if p.eligibility.pass(now) {
		p.passes.recordChange(now)
		p.passes.requestLook(now)
	}
	if err := p.evictDue(now); err != nil {
		return err
	}
	p.noticeOpenNodes(now)
	if err := p.receive(); err != nil {
		return err
	}
	return p.act(now)
}

// evictDue ends jobs that exceed their time limit, or whose grace time after a preemption is over.
func (p *periodic) evictDue(now time.Duration) error {
	for len(p.preemption.evictions) > 0 && p.preemption.evictions[0].at <= now {
		g := p.preemption.evictions[0]
		p.preemption.evictions = p.preemption.evictions[1:]
		if p.running.allocations[g.job].on == nil {
			continue
		}
		if err := p.evict(g.job, g.mode); err != nil {
			return err
		}
	}
	return nil
}

// evict ends, pauses or requeues a running job, depending on mode.
func (p *periodic) evict(job int32, mode string) error {
	switch mode {
	case "limit":
		return p.Actions.(scheduler.ClusterActions).Cancel(job, "its time limit is over")
	case "cancel":
		return p.Actions.(scheduler.ClusterActions).Cancel(job, "it gives way")
	case "suspend":
		return p.Pause(job, "it gives way")
	}
	m := p.member(job)
	if m.sub.Stays {
		return p.Actions.(scheduler.ClusterActions).Cancel(job, "it gives way")
	}
	m.eligible = p.Now() + p.releaseOf(int(job), p.StopRelease) + p.RequeueDelay
	p.eligibility.instants = append(p.eligibility.instants, m.eligible)
	return p.Actions.(scheduler.ClusterActions).Requeue(job, "it gives way")
}

// receive handles the jobs that arrived since the last dispatch. It cancels those that exceed a limit on submitted
// jobs.
func (p *periodic) receive() error {
	for len(p.arrived) > 0 {
		job := p.arrived[0]
		p.arrived = p.arrived[1:]
		j := p.View.Job(job)
		if j.State() != scheduler.Queued {
			continue
		}
		m := p.recordOf(j.Job())
		p.limits.count(m, j.Job().User, usage{submitted: 1}, -1)
		refused := p.limits.refuses(m, j.Job().User)
		p.limits.count(m, j.Job().User, usage{submitted: 1}, 1)
		if refused != "" {
			if err := p.Actions.(scheduler.ClusterActions).Cancel(job, refused); err != nil {
				return err
			}
			continue
		}
		p.passes.requestLook(p.Now())
	}
	return nil
}

// queue returns the waiting jobs, and records that the queue was checked now: jobs age only after a check.
func (p *periodic) queue() scheduler.WaitingJobs {
	if p.order != nil {
		p.order.lastLook = p.Now()
	}
	return p.View.Waiting()
}

// look tries to start the first depth jobs of the queue, in order. If a job cannot start, later jobs of its partition
// do not start either, nor does any job on nodes of that partition.
func (p *periodic) look(depth int) error {
	clear(p.buffers.blocked)
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
		m := p.recordOf(j)
		if m.eligible > p.Now() || m.reason != "" {
			continue
		}
		if n++; n > depth+1 {
			return nil
		}
		if full[m.partition] {
			continue
		}
		if why := p.limits.holds(m, j); why != "" {
			p.waitReasons[job] = why
			if p.LimitsBlock {
				full[m.partition] = true
				p.buffers.blocked.or(m.partition.nodes)
			}
			continue
		}
		p.buffers.allowed.copy(m.partition.nodes)
		p.buffers.allowed.minus(p.buffers.blocked)
		p.buffers.allowed.minus(p.cleaning.nodes)
		p.removeReserved(m, p.Now(), p.Now()+m.limit, p.buffers.allowed)
		started, err := p.try(job, p.buffers.allowed, "first in the order")
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
		p.buffers.blocked.or(m.partition.nodes)
	}
}

// try starts a job if it fits on the given nodes. Otherwise it preempts others for the job, if the policy does so.
func (p *periodic) try(job int32, on bitmap, why string) (started bool, err error) {
	m := p.member(job)
	if m.reason != "" || p.limits.holds(m, &p.run.Jobs[job]) != "" {
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

// begin starts a job on the nodes in shares.
func (p *periodic) begin(job int32, shares []share, why string) error {
	p.buffers.unitNodes = p.buffers.unitNodes[:0]
	for _, s := range shares {
		for range s.units {
			p.buffers.unitNodes = append(p.buffers.unitNodes, s.node)
		}
	}
	j := p.View.Job(job)
	return p.Start(job, j.Request(), p.buffers.unitNodes, why)
}

// demand is the number of equal units that a waiting job requests.
type demand struct {
	*jobRecord
	unit    cluster.Room
	count   int
	divided bool
	core    bool // whether a unit is one core and nothing else
}

func (p *periodic) demand(job int32) demand {
	v := p.View.Job(job)
	unit, count := v.Needs(v.Request())
	return demand{p.recordOf(v.Job()), unit, count, v.Job().Divided, unit == cluster.Room{Cores: 1}}
}

// units returns how many units of a job fit on a node.
func (p *periodic) units(node int, rooms []cluster.Room, d *demand) int32 {
	n := rooms[node].Cores
	whole := d.exclusive() || p.running.wholeNodes.has(node)
	if n == 0 || !p.suits(node, d.jobRecord) || whole && n < p.cores.perNode[node] {
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

// fit chooses nodes for a job from the set on, given the free resources of each node. ok is false if the job does not
// fit.
func (p *periodic) fit(job int32, rooms []cluster.Room, on bitmap) ([]share, bool) {
	d := p.demand(job)
	clear(p.packer.units)
	if d.core && d.divided && d.sub.MaxNodes != 1 && !d.exclusive() && p.running.exclusive == 0 && len(d.sub.Features) == 0 {
		on.each(func(v int) { p.packer.units[v] = rooms[v].Cores }) // the fast path for most jobs
	} else {
		on.each(func(v int) { p.packer.units[v] = p.units(v, rooms, &d) })
	}
	least, most := max(d.sub.MinNodes, 1), d.maxNodes
	if !d.divided {
		least, most = d.count, d.count
	}
	shares, ok := p.placeAlike(d.sub.Features, int32(d.count), min(least, d.count), most)
	if ok {
		p.buffers.shares = shares
	}
	return shares, ok
}

// placeAlike places a job whose nodes must all have the same one of several alternative features. It takes the first
// feature with enough nodes.
func (p *periodic) placeAlike(features []string, units int32, least, most int) ([]share, bool) {
	i := slices.IndexFunc(features, func(f string) bool { return alternatives(f) != nil })
	if i < 0 {
		return p.packer.place(units, least, most, p.buffers.shares[:0])
	}
	all := slices.Clone(p.packer.units)
	for _, one := range alternatives(features[i]) {
		for v := range all {
			p.packer.units[v] = 0
			if p.has(v, one) {
				p.packer.units[v] = all[v]
			}
		}
		if shares, ok := p.placeAlike(features[i+1:], units, least, most); ok {
			return shares, true
		}
	}
	return nil, false
}

// suits reports whether a node has all features that a job requests.
func (p *periodic) suits(node int, m *jobRecord) bool {
	for _, f := range m.sub.Features {
		if !p.has(node, f) {
			return false
		}
	}
	return true
}

var _ scheduler.TimedPolicy = (*periodic)(nil)
