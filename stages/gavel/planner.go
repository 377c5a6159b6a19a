package gavel

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages/gavel/shares"
)

// kind is a type of device.
type kind struct {
	shares.Devices
	nodes []int32
}

// member is the planner's record of a job.
type member struct {
	shares.Job
	// way is the alternative of the job for each type; -1 if it cannot run there
	way     []int32
	on      int           // the type that it runs on, or ran on last
	since   time.Duration // when its current stretch of running began
	counted time.Duration // the counted part of this stretch
	units   float64       // its total work
	active  bool
	// with is the job that shares its devices. part is the fraction of its speed that it keeps while sharing.
	with int32
	part float64
}

// roundPlanner is the state of an order.
type roundPlanner struct {
	policy.Setup
	set     roundSettings
	kinds   []kind
	members []member
	divider shares.Divider
	shuffle *shares.Chance // for a policy that does not know the types
	like    int            // the type whose speed is assumed for all types; -1 if none
	packs   bool           // whether two jobs may share devices
	memory  bool           // whether jobs need memory
	mech    shares.Mechanism
	failed  error // an error in the settings

	active  int           // jobs that have arrived and not ended
	stopped time.Duration // when a job last stopped running
	changed bool          // whether jobs have arrived or ended since the last division
	divided float64       // time of the last division, by the planner's clock
	began   time.Duration // start of the current round, and the planner's clock then
	clock   time.Duration
	stuck   bool          // whether the last call picked no team
	last    time.Duration // time of the last arrival
}

func newRoundPlanner(k *shares.Kind, s policy.Setup) *roundPlanner {
	var set roundSettings
	s.Policy.Settings.Fill(&set)
	p := &roundPlanner{
		Setup: s, set: set, members: make([]member, len(s.Run.Jobs)), like: -1,
		divider: k.New(shares.Options{Blind: set.Blind != "", Seed: uint32(set.Seed), Tolerance: set.Tolerance}),
		mech:    shares.Mechanism{Round: set.Length.Seconds(), Idle: k.Idle, Global: set.Global},
	}
	p.findKinds(s.Run)
	if set.Blind != "" {
		p.shuffle = shares.NewChance(uint32(set.Seed) + 5)
		p.like = slices.IndexFunc(p.kinds, func(k kind) bool { return k.Name == set.Blind })
		if p.like < 0 {
			p.failed = fmt.Errorf("policy: blind = %q is not a type of device of the hardware", set.Blind)
		}
	}
	_, p.mech.Eager = p.Rounds()
	p.packs = s.Policy.Packs()
	if k.Prices {
		p.failed = cmp.Or(p.failed, p.setPrices(set.Prices))
	}
	needs := func(a scheduler.Alternative) bool { return a.Memory > 0 }
	for i := range p.members {
		j := &s.Run.Jobs[i]
		p.memory = p.memory || j.Memory > 0 || slices.ContainsFunc(j.Alternatives(), needs)
		p.members[i] = p.memberOf(j)
		p.last = max(p.last, j.Arrival)
	}
	return p
}

// cores is the device type of jobs without GPUs.
const cores = "cores"

// findKinds sets the device types of a cluster.
func (p *roundPlanner) findKinds(r *scheduler.Run) {
	add := func(name string, gpu bool, node, count int) {
		i := slices.IndexFunc(p.kinds, func(k kind) bool { return k.Name == name && k.Cores != gpu })
		if i < 0 {
			i = len(p.kinds)
			p.kinds = append(p.kinds, kind{Devices: shares.Devices{Name: name, Price: 1, Cores: !gpu}})
		}
		p.kinds[i].Count += float64(count)
		p.kinds[i].nodes = append(p.kinds[i].nodes, int32(node))
	}
	for i, n := range r.Cluster.Nodes {
		if n.GPUs > 0 {
			add(n.GPU, true, i, n.GPUs)
		}
	}
	without := func(j scheduler.Job) bool {
		return len(j.Alternatives()) == 0 && j.GPUs == 0 ||
			slices.ContainsFunc(j.Alternatives(), func(a scheduler.Alternative) bool { return a.GPUs == 0 })
	}
	if slices.ContainsFunc(r.Jobs, without) {
		for i, n := range r.Cluster.Nodes {
			add(cores, false, i, n.Threads)
		}
	}
}

// setPrices parses texts "type=price".
func (p *roundPlanner) setPrices(texts []string) error {
	for _, text := range texts {
		name, value, _ := strings.Cut(text, "=")
		price, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		i := slices.IndexFunc(p.kinds, func(k kind) bool { return k.Name == strings.TrimSpace(name) })
		if err != nil || !(price > 0) || math.IsInf(price, 1) || i < 0 {
			return fmt.Errorf("policy: prices: %q is not the price of a type of device of the hardware, such as \"v100=2.48\"",
				text)
		}
		p.kinds[i].Price = price
	}
	return nil
}

// memberOf returns the record of a job with its speed on each type, from predicted run times. If several alternatives
// run on one type, it uses the fastest.
func (p *roundPlanner) memberOf(j *scheduler.Job) member {
	n := len(p.kinds)
	m := member{units: j.Units(), way: make([]int32, n), on: -1, with: shares.Nobody, part: 1}
	if m.units <= 0 {
		m.units = 1
	}
	m.Job = shares.Job{
		Number: int32(j.Number), Workers: make([]float64, n), Speed: make([]float64, n), Weight: j.Weight(), Left: m.units,
	}
	if m.Weight <= 0 {
		m.Weight = 1
	}
	ways := j.Alternatives()
	if len(ways) == 0 {
		ways = []scheduler.Alternative{j.As(0)}
	}
	for t, k := range p.kinds {
		m.way[t], m.Workers[t] = -1, 1
		if !k.Cores {
			m.Workers[t] = float64(max(j.GPUs, 1))
		}
		for w, a := range ways {
			if (a.GPUs > 0) == k.Cores || a.GPU != "" && a.GPU != k.Name {
				continue
			}
			workers := float64(a.GPUs)
			if k.Cores {
				workers = float64(a.Threads)
			}
			speed := m.units // without an estimate, all types are equally fast
			if a.Predicted > 0 {
				speed = m.units / a.Predicted.Seconds()
			}
			if workers <= k.Count && speed > m.Speed[t] {
				m.way[t], m.Workers[t], m.Speed[t] = int32(w), workers, speed
			}
		}
	}
	return m
}

// Rank implements scheduler.Ranker: waiting jobs are sorted by arrival.
func (p *roundPlanner) Rank(scheduler.JobView) int64 { return 0 }

// Arrived implements scheduler.UsageObserver.
func (p *roundPlanner) Arrived(j int32) {
	p.members[j].active, p.changed = true, true
	p.active++
}

// Ended implements scheduler.UsageObserver. When the last job ends, an empty division is made, so that the least time
// to the next division counts from then.
func (p *roundPlanner) Ended(j int32) {
	p.members[j].active, p.changed = false, true
	p.mech.Ended(j)
	if p.active--; p.active > 0 {
		return
	}
	if at := (p.clock + p.whole(p.stopped-p.began)).Seconds(); p.divided == 0 || at-p.divided >= p.least() {
		p.divided, p.changed = at, false
	}
}

// least returns the least time between two divisions, in seconds.
func (p *roundPlanner) least() float64 { return p.set.Recompute.Seconds() }

// Served implements scheduler.UsageObserver.
func (p *roundPlanner) Served(int32) {}

// Used implements scheduler.UsageObserver.
func (p *roundPlanner) Used(j int32, d time.Duration, _ scheduler.Grant) {
	m := &p.members[j]
	p.stopped = max(p.stopped, m.since+d)
	p.count(m, d-m.counted, false)
	m.counted = 0
	m.with, m.part = shares.Nobody, 1 // this job stops, or its partner does
}

// lateness is how much a stretch of time may differ from whole rounds and still be rounded to them.
const lateness = 100 * time.Millisecond

// whole rounds a duration to whole rounds if it is close to them. Rounds on a real clock begin slightly late, but jobs
// that ran equally many rounds must have equal service.
func (p *roundPlanner) whole(d time.Duration) time.Duration {
	length, _ := p.Rounds()
	if full := d.Round(length); (d - full).Abs() <= min(lateness, length/4) {
		return full
	}
	return d
}

// begins sets the planner's clock at the start of a round, to a multiple of the round's length.
func (p *roundPlanner) begins(now time.Duration) {
	p.clock += p.whole(now - p.began)
	p.began = now
}

// count adds running time to a job's service. With whole, the work of a continuing job is rounded to whole units.
func (p *roundPlanner) count(m *member, d time.Duration, whole bool) {
	if d <= 0 || m.on < 0 {
		return
	}
	seconds, speed := d.Seconds(), m.Speed[m.on]*m.part
	m.Left = max(m.Left-seconds*speed, m.units*1e-9)
	if units := math.Floor(seconds*speed + 1e-9); whole && units >= 1 && m.units > 1 {
		seconds = units / speed
	}
	switch {
	case m.with == shares.Nobody:
		p.mech.Ran(shares.Alone(m.Number), m.on, seconds)
	case m.Number < m.with: // count the time of a pair only once
		p.mech.Ran(shares.Team{First: m.Number, Second: m.with}, m.on, d.Seconds())
	}
}

// HeldBack implements scheduler.Admitter.
func (p *roundPlanner) HeldBack(v scheduler.View, j int32) string { return p.Why(v, j) }

// Why implements scheduler.Explainer.
func (p *roundPlanner) Why(_ scheduler.View, j int32) string {
	for t := range p.kinds {
		if p.members[j].Speed[t] > 0 {
			return "was not chosen for this round"
		}
	}
	return "can run on no type of device of the hardware"
}

// problem returns the current division problem. If free is not nil, only waiting jobs and these free devices count.
func (p *roundPlanner) problem(v scheduler.View, free []cluster.Room) *shares.Problem {
	q := &shares.Problem{}
	for _, k := range p.kinds {
		d := k.Devices
		if free != nil {
			d.Count = 0
			for _, n := range k.nodes {
				if !k.Cores {
					d.Count += float64(free[n].GPUs)
				} else {
					d.Count += float64(free[n].Cores)
				}
			}
		}
		q.Types = append(q.Types, d)
	}
	for i := range p.members {
		m := &p.members[i]
		if !m.active || slices.Max(m.Speed) == 0 || free != nil && v.Job(int32(i)).State() == scheduler.Running {
			continue
		}
		j := v.Job(int32(i)).Job()
		m.Age, m.Due = (v.Now() - j.Arrival).Seconds(), math.Inf(1)
		if j.Within() > 0 {
			m.Due = (j.Deadline - v.Now()).Seconds()
		}
		q.Jobs = append(q.Jobs, m.Job)
	}
	if p.packs {
		q.Pairs = p.pairs(q)
	}
	return q
}

// pairs returns the pairs of a problem's jobs that can share devices. Both jobs must request the same amount on a type
// and have a known speed next to the other.
func (p *roundPlanner) pairs(q *shares.Problem) []shares.Pair {
	var pairs []shares.Pair
	for b := range q.Jobs {
		for a := range b {
			pair, any := shares.Pair{First: a, Second: b}, false
			for n := range pair.Speed {
				pair.Speed[n] = make([]float64, len(p.kinds))
			}
			for t := range p.kinds {
				first, second := p.partsOf(q.Jobs[a].Number, q.Jobs[b].Number, t)
				if first > 0 && second > 0 {
					pair.Speed[0][t], pair.Speed[1][t] = q.Jobs[a].Speed[t]*first, q.Jobs[b].Speed[t]*second
					any = true
				}
			}
			if any {
				pairs = append(pairs, pair)
			}
		}
	}
	return pairs
}

// partsOf returns the fractions of their speeds that two jobs keep when they share devices of a type; 0 if they cannot
// share.
func (p *roundPlanner) partsOf(a, b int32, t int) (first, second float64) {
	one, other := p.request(a, t), p.request(b, t)
	if one == nil || other == nil || one.GPUs == 0 || one.GPUs != other.GPUs || one.Threads != other.Threads ||
		p.Run.Jobs[a].Nodes != p.Run.Jobs[b].Nodes {
		return 0, 0
	}
	return one.Beside[p.Run.Jobs[b].Class], other.Beside[p.Run.Jobs[a].Class]
}

// request returns the request of a job on a type; nil if it cannot run there.
func (p *roundPlanner) request(j int32, t int) *scheduler.Alternative {
	w := p.members[j].way[t]
	if w < 0 || len(p.Run.Jobs[j].Alternatives()) == 0 {
		return nil
	}
	return &p.Run.Jobs[j].Alternatives()[w]
}

// divide makes a new division if jobs have arrived or ended, and the last division is old enough.
func (p *roundPlanner) divide(q *shares.Problem) error {
	now := p.clock.Seconds()
	if !p.changed || len(q.Jobs) == 0 || p.divided > 0 && now-p.divided < p.least() && !p.stuck {
		return nil
	}
	seen := q
	if p.like >= 0 {
		seen = q.Blind(p.like)
	}
	d, err := p.divider.Divide(seen)
	if err != nil {
		return fmt.Errorf("the division of %d jobs: %w", len(q.Jobs), err)
	}
	p.mech.Divided(q, d, now)
	p.divided, p.changed, p.stuck = now, false, false
	return nil
}

// order returns the types in the order in which jobs are picked for them.
func (p *roundPlanner) order() []int {
	list := make([]int, len(p.kinds))
	for t := range list {
		list[t] = t
	}
	if p.shuffle != nil {
		p.shuffle.Shuffle(list)
	}
	return list
}
