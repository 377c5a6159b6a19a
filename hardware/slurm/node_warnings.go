//go:build unix

package slurm

import (
	"slices"
	"time"
)

// deadlines returns the times at which runDeadlines has work: to warn jobs, or to give up allocations or nodes. mu must
// be held.
func (p *nodePool) deadlines() (at []time.Time) {
	for _, a := range p.allocs {
		switch {
		case a.gone || a.until.IsZero():
		case a.told:
			at = append(at, a.until)
		default:
			at = append(at, a.until.Add(-p.set.Notice))
		}
	}
	for v := range p.slots {
		if d := p.slots[v].drains; !d.IsZero() {
			at = append(at, d)
		}
	}
	return at
}

// runDeadlines warns jobs, and gives up allocations and drained nodes, when that is due.
func (p *nodePool) runDeadlines() {
	now := time.Now()
	p.mu.Lock()
	var over []*allocation
	for _, a := range p.allocs {
		switch {
		case a.gone || a.until.IsZero():
		case !now.Before(a.until):
			over = append(over, a)
		default:
			p.warnAllocation(a)
		}
	}
	drained := p.nodesLocked(func(s *nodeSlot) bool { return !s.drains.IsZero() && !now.Before(s.drains) })
	p.mu.Unlock()
	for _, a := range over {
		p.endAllocation(a, true)
	}
	if len(drained) > 0 {
		p.removeNodes(drained)
	}
}

// warnAllocation warns jobs that all nodes of an allocation will be taken away, once its end is near. mu must be held.
func (p *nodePool) warnAllocation(a *allocation) {
	if a.told || a.until.IsZero() || time.Until(a.until) > p.set.Notice {
		return
	}
	a.told = true
	for v := range p.slots {
		if p.slots[v].alloc == a {
			p.warnNode(v, a.until)
		}
	}
}

// warnNode informs the engine that node v will be taken away at a time. mu must be held.
func (p *nodePool) warnNode(v int, until time.Time) {
	if p.slots[v].state != slotUp {
		return
	}
	p.slots[v].state = slotWarned
	if p.user != nil {
		p.user.warned(v, until)
	}
}

// releaseVacant gives up warned allocations and drained nodes before their end if nothing runs on them. A replacement
// is then available sooner.
func (p *nodePool) releaseVacant(vacant []int) {
	if len(vacant) == 0 {
		return
	}
	now, early := time.Now(), false
	p.mu.Lock()
	for v := range p.slots {
		if s := &p.slots[v]; !s.drains.IsZero() && s.drains.After(now) && slices.Contains(vacant, v) {
			s.drains, early = now, true
		}
	}
	for _, a := range p.allocs {
		used := func(v int) bool { return p.slots[v].alloc == a && !slices.Contains(vacant, v) }
		if a.told && !a.gone && a.until.After(now) && !slices.ContainsFunc(a.nodes, used) {
			a.until, early = now, true
		}
	}
	p.mu.Unlock()
	if early {
		select {
		case p.due <- struct{}{}:
		default:
		}
	}
}
