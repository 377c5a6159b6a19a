package batch

import (
	"cmp"
	"slices"
)

// victims returns the running jobs that a waiting job may preempt, in order: the least priority of their
// quality of service, or tier of their partition, first; among equals those on the fewest nodes.
func (p *periodic) victims(job int32) []int32 {
	m := p.of(&p.run.Jobs[job])
	var list []int32
	for _, r := range p.running {
		k := p.of(&p.run.Jobs[r.job])
		switch {
		case p.modeOf(k) == "off" || p.Now() < p.held[r.job].since+k.qos.Exempt:
		case !p.held[r.job].on.overlaps(m.partition.nodes):
		case slices.ContainsFunc(p.giving, func(g giving) bool { return g.job == r.job && g.mode != "limit" }):
		case p.PreemptionBy == "qos" && slices.Contains(m.qos.Preempts, k.qos.Name),
			p.PreemptionBy == "partition" && k.partition.Tier < m.partition.Tier:
			list = append(list, r.job)
		}
	}
	worth := func(job int32) int {
		if k := p.of(&p.run.Jobs[job]); p.PreemptionBy == "qos" {
			return k.qos.Priority
		}
		return p.of(&p.run.Jobs[job]).partition.Tier
	}
	slices.SortFunc(list, func(a, b int32) int {
		return cmp.Or(cmp.Compare(worth(a), worth(b)), cmp.Compare(p.held[a].use.nodes, p.held[b].use.nodes), cmp.Compare(a, b))
	})
	return list
}

// modeOf returns the fate of a preempted job.
func (p *periodic) modeOf(k *member) string {
	own := k.qos.PreemptMode
	if p.PreemptionBy == "partition" {
		own = k.partition.PreemptMode
	}
	if own != "" {
		return own
	}
	return p.PreemptMode
}

// preempt has jobs give way to a waiting one, if that lets it start. It takes few jobs, first those that hold most of
// the needed resources. The waiting job starts when they have gone. Until then it preempts no others for some time.
func (p *periodic) preempt(job int32, on bitmap) error {
	if at, some := p.preempted[job]; some && p.Now() < at+p.Again {
		return nil
	}
	list := p.victims(job)
	var nodes bitmap
	for pass := 1; ; pass++ {
		p.rooms = append(p.rooms[:0], p.Machine().Free()...)
		last := -1
		for i, k := range list {
			p.View.Job(k).GiveBack(p.rooms, false)
			if shares, ok := p.fit(job, p.rooms, on); ok {
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
		overlap := map[int32]int{list[last]: len(p.bounds) + 1}
		for _, k := range list[:last] {
			both := slices.Clone(nodes)
			both.and(p.held[k].on)
			overlap[k] = both.count()
		}
		slices.SortStableFunc(list, func(a, b int32) int { return overlap[b] - overlap[a] })
	}
	p.preempted[job] = p.Now()
	for _, k := range list {
		if !p.held[k].on.overlaps(nodes) {
			continue
		}
		m := p.of(&p.run.Jobs[k])
		grace, mode := m.qos.Grace, p.modeOf(m)
		if p.PreemptionBy == "partition" {
			grace = m.partition.Grace
		}
		if grace > 0 {
			p.give(giving{p.Now() + grace, k, mode})
			continue
		}
		if err := p.evict(k, mode); err != nil {
			return err
		}
	}
	return nil
}
