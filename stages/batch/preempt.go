package batch

import (
	"cmp"
	"slices"
	"time"
)

// eviction is the planned end of a running job's attempt: the job has to make room for others, or exceeds its limit.
type eviction struct {
	at   time.Duration
	job  int32
	mode string // a mode of preemption, or "limit"
}

// preemption records which running jobs are to be evicted, and for which waiting jobs others were evicted.
type preemption struct {
	evictions []eviction              // to come, by instant
	last      map[int32]time.Duration // by waiting job, when it last had others evicted
}

// plan adds an eviction.
func (p *preemption) plan(e eviction) {
	i, _ := slices.BinarySearchFunc(p.evictions, e, func(a, b eviction) int { return int(max(min(a.at-b.at, 1), -1)) })
	p.evictions = slices.Insert(p.evictions, i, e)
}

// planned reports whether a job is to be evicted before it reaches its limit.
func (p *preemption) planned(job int32) bool {
	return slices.ContainsFunc(p.evictions, func(e eviction) bool { return e.job == job && e.mode != "limit" })
}

// drop removes the evictions of a job that has left its nodes.
func (p *preemption) drop(job int32) {
	p.evictions = slices.DeleteFunc(p.evictions, func(e eviction) bool { return e.job == job })
}

// victims returns the running jobs that a waiting job may preempt, in order: the least priority of their
// quality of service, or tier of their partition, first; among equals those on the fewest nodes.
func (p *periodic) victims(job int32) []int32 {
	m := p.member(job)
	var list []int32
	for _, r := range p.running.byEnd {
		k, a := p.member(r.job), &p.running.allocations[r.job]
		switch {
		case p.modeOf(k) == "off" || p.Now() < a.since+k.qos.Exempt:
		case !a.on.overlaps(m.partition.nodes):
		case p.preemption.planned(r.job):
		case p.PreemptionBy == "qos" && slices.Contains(m.qos.Preempts, k.qos.Name),
			p.PreemptionBy == "partition" && k.partition.Tier < m.partition.Tier:
			list = append(list, r.job)
		}
	}
	worth := func(job int32) int {
		if k := p.member(job); p.PreemptionBy == "qos" {
			return k.qos.Priority
		}
		return p.member(job).partition.Tier
	}
	nodes := func(job int32) int { return p.running.allocations[job].use.nodes }
	slices.SortFunc(list, func(a, b int32) int {
		return cmp.Or(cmp.Compare(worth(a), worth(b)), cmp.Compare(nodes(a), nodes(b)), cmp.Compare(a, b))
	})
	return list
}

// modeOf returns the fate of a preempted job.
func (p *periodic) modeOf(k *jobRecord) string {
	own := k.qos.PreemptMode
	if p.PreemptionBy == "partition" {
		own = k.partition.PreemptMode
	}
	if own != "" {
		return own
	}
	return p.PreemptMode
}

// preempt evicts running jobs if that lets a waiting job start. It takes few jobs, first those that hold most of
// the needed resources. The waiting job starts when they have gone. Until then it preempts no others for some time.
func (p *periodic) preempt(job int32, on bitmap) error {
	if at, some := p.preemption.last[job]; some && p.Now() < at+p.Again {
		return nil
	}
	list := p.victims(job)
	var nodes bitmap
	for pass := 1; ; pass++ {
		p.buffers.rooms = append(p.buffers.rooms[:0], p.Machine().Free()...)
		last := -1
		for i, k := range list {
			p.View.Job(k).GiveBack(p.buffers.rooms, false)
			if shares, ok := p.fit(job, p.buffers.rooms, on); ok {
				last, nodes = i, p.nodesIn(shares)
				break
			}
		}
		if last < 0 {
			return nil
		}
		if pass > 2 || len(list) <= pass {
			list = list[:last+1]
			break
		}
		overlap := map[int32]int{list[last]: len(p.cores.perNode) + 1}
		for _, k := range list[:last] {
			both := slices.Clone(nodes)
			both.and(p.running.allocations[k].on)
			overlap[k] = both.count()
		}
		slices.SortStableFunc(list, func(a, b int32) int { return overlap[b] - overlap[a] })
	}
	p.preemption.last[job] = p.Now()
	for _, k := range list {
		if !p.running.allocations[k].on.overlaps(nodes) {
			continue
		}
		m := p.member(k)
		grace, mode := m.qos.Grace, p.modeOf(m)
		if p.PreemptionBy == "partition" {
			grace = m.partition.Grace
		}
		if grace > 0 {
			p.preemption.plan(eviction{p.Now() + grace, k, mode})
			continue
		}
		if err := p.evict(k, mode); err != nil {
			return err
		}
	}
	return nil
}
