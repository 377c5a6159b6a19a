package batch

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// Multifactor orders jobs by the weighted sum of several factors.
const Multifactor policy.Order = "multifactor"

// factors are the arguments of the order.
type factors struct {
	// The weight of a job's age: its time in the queue as a part of `max_age`. A factor is between 0 and 1, and the
	// priority of a job is the sum of the weighted factors.
	//
	//	weight_age = 1000
	Age float64 `arg:"weight_age" default:"0" min:"0" max:"1e12"`
	// The age at which the factor of age reaches its maximum.
	//
	//	max_age = "24h"
	MaxAge time.Duration `arg:"max_age,positive" default:"168h"`
	// The weight of the fair share of the job's user, by the `account` blocks.
	//
	//	weight_fair_share = 10000
	Fair float64 `arg:"weight_fair_share" default:"0" min:"0" max:"1e12"`
	// Whether fair shares are ranks of Slurm's Fair Tree algorithm. Without it the share of a user is 2^(−u/s): u is
	// the user's part of all usage, together with the account's, and s the user's part of all shares.
	//
	//	fair_tree = false
	Tree bool `arg:"fair_tree" default:"true"`
	// The divisor of usage / shares in fair shares without Fair Tree.
	//
	//	fair_share_damping = 2
	Damping float64 `arg:"fair_share_damping" default:"1" min:"1" max:"1e6"`
	// The time after which past usage counts half; with `0s` it always counts fully.
	//
	//	half_life = "24h"
	HalfLife time.Duration `arg:"half_life" default:"168h"`
	// When the time of a running job counts as usage. With `updates` it does each time that usage is brought up to date: what a
	// job runs after the last of these counts for nothing, as in Slurm without enforced limits.
	//
	// Default: at these times and at the end of the job.
	//
	//	charge = "updates"
	Charge string `arg:"charge" allowed:"updates"`
	// How often the usage and the priorities of waiting jobs are updated.
	//
	//	recalculate = "1m"
	Period time.Duration `arg:"recalculate,positive" least:"1s" default:"5m"`
	// The weight of the job's size: the mean of its share of nodes and its share of cores.
	//
	//	weight_size = 500
	Size float64 `arg:"weight_size" default:"0" min:"0" max:"1e12"`
	// Whether smaller jobs have a greater size factor.
	//
	//	favor_small = true
	Small bool `arg:"favor_small" default:"false"`
	// The weight of the factor of the job's partition.
	//
	//	weight_partition = 1000
	Partition float64 `arg:"weight_partition" default:"0" min:"0" max:"1e12"`
	// The weight of the priority of the job's quality of service.
	//
	//	weight_qos = 1000
	QOS float64 `arg:"weight_qos" default:"0" min:"0" max:"1e12"`
	// The weight of the priority of the job's user or account.
	//
	//	weight_association = 1000
	Association float64 `arg:"weight_association" default:"0" min:"0" max:"1e12"`
	// The weights of the job's share of `cpu`, `node`, `mem` and `gpu` of its partition.
	//
	// Default: none.
	//
	//	weights_resources = { cpu = "1000", gpu = "5000" }
	Resources []schema.Setting `arg:"weights_resources"`
	// The start of all periodic work, counted from the first arrival; `"random"` draws it. With `random` it is drawn
	// for each replicate, from the hour before the first arrival.
	//
	//	phase = "-12s"
	Phase string `arg:"phase" default:"0s"`
}

func init() {
	policy.RegisterOrder(policy.OrderChoice{
		Choice: policy.Choice{
			Name: Multifactor, Title: "Multifactor priority", Place: 15, Settings: schema.Args[factors](),
			Doc:   "the greatest weighted sum of age, fair share, size and other factors",
			Check: func(s policy.Settings) (string, error) { return "phase", checkPhase(s) },
			Draws: func(s policy.Settings) bool { return s["phase"] == randomPhase },
			Fits:  misfitsOf,
		},
		New: func(s policy.Setup) scheduler.Ranker { return newMultifactor(s) },
	})
}

func checkPhase(s policy.Settings) error {
	var f factors
	schema.Fill(&f, s)
	_, err := f.begun(0)
	return err
}

// randomPhase is the value of phase that draws another start of the batch system for each replicate.
const randomPhase = "random"

// begun returns the time at which the batch system started, relative to the first arrival.
func (f *factors) begun(seed int64) (time.Duration, error) {
	if f.Phase == randomPhase {
		return -time.Duration(workload.Stream(seed, "phase").Int64N(int64(time.Hour))), nil
	}
	return time.ParseDuration(f.Phase)
}

// multifactor is the state of the order in one run.
type multifactor struct {
	factors
	*clusterConfig
	blocksErr error         // the first mistake in the blocks of the policy
	first     time.Duration // when the batch system started
	next      time.Duration // the next update of usage and priorities
	last      time.Duration // the last update of usage and priorities
	lastLook  time.Duration // the last time that the queue was checked
	round     int
	seen      []int   // by job: the round in which its priority was computed
	priority  []int64 // by job; 0 if not computed yet
	cores     float64 // total cores of the cluster
	running   []stretch
	slot      []int32 // by job: its index in running; -1 if it does not run
	active    []int32 // jobs that wait or run, by number; unused with Fair Tree
	after     time.Duration
	left      float64 // how much usage counts after that time, from 0 to 1
	changed   bool    // since the last call of Rerank
	preempter bool
	clock     time.Duration
}

// stretch is a running job with its number of cores and the time since when it holds them.
type stretch struct {
	job   int32
	cores int
	from  time.Duration
}

func newMultifactor(s policy.Setup) *multifactor {
	m := &multifactor{seen: make([]int, len(s.Run.Jobs)), priority: make([]int64, len(s.Run.Jobs)),
		slot: make([]int32, len(s.Run.Jobs)), round: 1, left: 1, lastLook: never}
	schema.Fill(&m.factors, s.Policy.Settings)
	m.clusterConfig = newClusterConfig(s.Run, s.Policy.Blocks)
	m.blocksErr = m.firstMistake()
	m.first, _ = m.begun(s.Run.Seed)
	m.next, m.last = m.first+m.Period, m.first
	for i := range m.slot {
		m.slot[i] = -1
	}
	for _, n := range s.Run.Cluster.Nodes {
		m.cores += float64(n.Threads)
	}
	var t periodicArgs
	schema.Fill(&t, s.Policy.Settings)
	m.preempter, m.clock = t.PreemptionBy == "qos", t.Clock
	if m.blocksErr == nil {
		for i := range s.Run.Jobs { // create all associations before the first shares are computed
			m.recordOf(&s.Run.Jobs[i])
		}
		m.share()
	}
	return m
}

// Rank implements scheduler.Ranker.
func (m *multifactor) Rank(j scheduler.JobView) int64 {
	n := j.Number()
	if m.seen[n] != m.round {
		m.seen[n] = m.round
		age := time.Duration(0)
		if m.priority[n] > 0 {
			age = m.ageOf(j.Job())
		}
		m.priority[n] = m.priorityOf(j.Job(), age)
	}
	k := m.recordOf(j.Job())
	tier := int64(k.partition.Tier)
	if m.preempter && len(k.qos.Preempts) > 0 {
		tier += 1 << 17
	}
	return -(tier<<40 + m.priority[n])
}

// ageOf returns the age of a job at the last update of priorities, in whole seconds. The age is 0 until the queue has
// been checked once with the job in it.
func (m *multifactor) ageOf(j *scheduler.Job) time.Duration {
	eligible := m.recordOf(j).eligible
	if eligible > m.lastLook {
		return 0
	}
	return max(m.second(m.last)-m.second(eligible), 0)
}

// priorityOf returns the priority of a job with the given age. It is at least 1.
func (m *multifactor) priorityOf(j *scheduler.Job, age time.Duration) int64 {
	sum := 0.0
	for _, x := range m.partsOf(j, age) {
		sum += x.Value
	}
	return max(int64(sum), 1)
}

// Part is one term of a job's priority: its name, and the factor times its weight.
type Part struct {
	Name  string
	Value float64
}

// partsOf returns the weighted factors of a job, and its nice value as a negative term. Their sum is its priority.
func (m *multifactor) partsOf(j *scheduler.Job, age time.Duration) [8]Part {
	k := m.recordOf(j)
	relative := func(value, most int) float64 {
		if most == 0 {
			return 0
		}
		return float64(value) / float64(most)
	}
	nodes := float64(len(m.run.Cluster.Nodes))
	least := float64(max(k.sub.MinNodes, j.Nodes, 1))
	size := (least/nodes + float64(j.Threads)/m.cores) / 2
	if m.Small {
		size = ((nodes-least)/nodes + (m.cores-float64(j.Threads))/m.cores) / 2
	}
	resources := 0.0
	for _, w := range m.Resources {
		weight, _ := strconv.ParseFloat(w.Value, 64)
		resources += weight * m.partOf(k.partition, j, w.Name)
	}
	priority := k.assoc.Priority
	if priority == 0 {
		priority = k.assoc.parent.Priority
	}
	return [8]Part{
		{"age", m.Age * min(age.Seconds()/m.MaxAge.Seconds(), 1)},
		{"fair share", m.Fair * m.fair(k.assoc)},
		{"size", m.Size * size},
		{"partition", m.Partition * relative(k.partition.Factor, m.mostFactor)},
		{"qos", m.QOS * relative(k.qos.Priority, m.mostQOS)},
		{"association", m.Association * relative(priority, m.mostPriority)},
		{"resources", resources},
		{"nice", -float64(k.sub.Nice)},
	}
}

// partOf returns a job's request of a resource, as a fraction of the partition's total.
func (m *multifactor) partOf(p *Partition, j *scheduler.Job, resource string) float64 {
	has, asks := 0.0, 0.0
	for i, n := range m.run.Cluster.Nodes {
		if !p.nodes.has(i) {
			continue
		}
		switch strings.ToLower(resource) {
		case "cpu":
			has += float64(n.Threads)
		case "node":
			has++
		case "mem":
			has += float64(n.Memory)
		case "gpu", "gres/gpu":
			has += float64(n.GPUs)
		}
	}
	switch strings.ToLower(resource) {
	case "cpu":
		asks = float64(j.Threads)
	case "node":
		asks = float64(max(m.recordOf(j).sub.MinNodes, j.Nodes, 1))
	case "mem":
		asks = float64(j.Memory)
	case "gpu", "gres/gpu":
		asks = float64(j.GPUs)
	}
	if has == 0 {
		return 0
	}
	return asks / has
}

// Rerank reports whether priorities have changed since the last call.
func (m *multifactor) Rerank(now time.Duration) bool {
	m.catchUp(now)
	changed := m.changed
	m.changed = false
	return changed
}

// catchUp does all updates of usage and priorities that are due up to now.
func (m *multifactor) catchUp(now time.Duration) {
	for m.next <= now {
		if m.Fair > 0 {
			m.account(m.next)
		}
		m.last, m.changed = m.next, true
		m.round++
		m.next += m.Period
		if m.Fair == 0 && m.next < now { // without fair shares, updates can be skipped
			m.next += (now - m.next) / m.Period * m.Period
		}
	}
}

// share computes the fair shares of all users with Fair Tree, and the shares of all accounts without it.
func (m *multifactor) share() {
	if m.Tree {
		m.rankTree()
	} else {
		m.divide(m.root, 1)
	}
}

// fair returns the fair-share factor of an association.
func (m *multifactor) fair(a *association) float64 {
	if a.stale {
		m.charge(a)
		a.stale, a.factor = false, 0
		if a.whole > 0 {
			a.factor = math.Exp2(-a.level / a.whole / m.Damping)
		}
	}
	return a.factor
}

// second rounds a time down to a whole second of the clock. Slurm counts usage and ages in whole seconds.
func (m *multifactor) second(at time.Duration) time.Duration { return floor(at, time.Second, m.clock) }

// decayIn returns the factor by which usage decays in a duration.
func (m *multifactor) decayIn(d time.Duration) float64 {
	if m.HalfLife <= 0 {
		return 1
	}
	if d != m.after {
		m.after, m.left = d, math.Pow(1-0.693/m.HalfLife.Seconds(), d.Seconds())
	}
	return m.left
}

// account applies the decay to all usage and adds the usage of running jobs since the last update. Without Fair Tree,
// the charged usage of accounts is updated first. The charged usage of a user is updated at the first of the user's
// waiting jobs, or at the user's next arrival. This is how Slurm was measured to work.
func (m *multifactor) account(now time.Duration) {
	if !m.Tree {
		m.share()
	}
	m.decay(m.root, m.decayIn(m.second(now)-m.second(m.last)))
	if m.Tree {
		for _, r := range m.running {
			m.use(r, now)
		}
		m.share()
		return
	}
	for _, job := range m.active {
		if at := m.slot[job]; at >= 0 {
			m.use(m.running[at], now)
		} else {
			m.fair(m.recordOf(&m.run.Jobs[job]).assoc)
		}
	}
}

// use adds the usage of a job between the last update and to. This usage is already decayed by the length of that time.
func (m *multifactor) use(r stretch, to time.Duration) {
	d := m.second(to) - m.second(max(r.from, m.last))
	if d <= 0 {
		return
	}
	k := m.recordOf(&m.run.Jobs[r.job])
	used := d.Seconds() * m.decayIn(d) * float64(r.cores) * k.qos.UsageFactor
	for a := k.assoc; a != nil; a = a.parent {
		a.raw += used
	}
}

func (m *multifactor) decay(a *association, by float64) {
	a.raw *= by
	for _, c := range a.children {
		m.decay(c, by)
	}
}

// OnEvent updates the running jobs and their usage after an event.
func (m *multifactor) OnEvent(e *scheduler.Event) {
	if m.Fair == 0 || e.Job < 0 || slices.Contains(uneventful, e.Kind) {
		return
	}
	m.catchUp(e.At)
	job := int32(e.Job)
	if at := m.slot[job]; at >= 0 {
		if m.Charge == "" || !slices.Contains(ends, e.Kind) {
			m.use(m.running[at], e.At)
		}
		last := m.running[len(m.running)-1]
		m.running[at], m.slot[last.job] = last, at
		m.running, m.slot[job] = m.running[:len(m.running)-1], -1
	}
	i, found := slices.BinarySearch(m.active, job)
	switch e.Kind {
	case scheduler.Start, scheduler.Resume:
		m.slot[job] = int32(len(m.running))
		m.running = append(m.running, stretch{job, e.Cores.Count(), e.At})
	case scheduler.Arrive:
		if !m.Tree && !found {
			m.active = slices.Insert(m.active, i, job)
			m.fair(m.recordOf(&m.run.Jobs[job]).assoc)
		}
	case scheduler.Finish, scheduler.Fail, scheduler.Stop:
		if found {
			m.active = slices.Delete(m.active, i, i+1)
		}
	}
}

// ends are the kinds of events that end a job.
var ends = []scheduler.EventKind{scheduler.Finish, scheduler.Fail, scheduler.Stop}

// uneventful are the kinds of events that do not change the resources that a job holds.
var uneventful = []scheduler.EventKind{scheduler.Request, scheduler.Level, scheduler.Predict, scheduler.Decided}

// Priorities computes the priorities of jobs of a run. It must receive the events of the run through OnEvent.
type Priorities = multifactor

// NewPriorities returns the priorities for a run whose policy has the order multifactor. The error describes a mistake
// in the blocks of the policy.
func NewPriorities(s policy.Setup) (*Priorities, error) {
	m := newMultifactor(s)
	return m, m.blocksErr
}

// Of returns the weighted factors of a waiting job at the last update, and its nice value as a negative term. The twins
// of recordings compare them with what a controller has printed.
func (m *multifactor) Of(j *scheduler.Job) [8]Part {
	return m.partsOf(j, m.ageOf(j))
}

// Usage returns the decayed usage, in core seconds, and the fair-share factor of a user in an account. If user is
// empty, it returns the values of the account itself. ok is false if the user or account is unknown.
func (m *multifactor) Usage(account, user string) (coreSeconds, factor float64, ok bool) {
	a := m.accounts[account]
	if user != "" {
		a = m.users[[2]string{account, user}]
	}
	if a == nil {
		return 0, 0, false
	}
	return a.raw, m.fair(a), true
}
