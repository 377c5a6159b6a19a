package batch

import (
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// Resume lets the priorities of a run continue the priorities of another run, which has heard all events up to an
// instant. It takes over the usage, and the time of its next update. The clock of this run is ahead of the other
// one's.
func (m *multifactor) Resume(past *Priorities, ahead time.Duration) {
	if m.blocksErr != nil {
		return
	}
	m.first, m.last, m.next, m.clock = past.first+ahead, past.last+ahead, past.next+ahead, past.clock-ahead
	m.lastLook = m.last
	for name, a := range past.accounts {
		m.accountOf(name).raw = a.raw
	}
	for key, a := range past.users {
		m.associationOf(key[0], key[1]).raw = a.raw
	}
	for i := range m.run.Jobs { // those that wait already are as old as they are
		if m.run.Jobs[i].Arrival <= m.last {
			m.priority[i] = 1
		}
	}
	m.share()
}

// Occupy starts a job that was running when the run begins, on nodes of its partition with room. Limits do not apply.
func (p *periodic) Occupy(v scheduler.View, h scheduler.Actions, job int32) (started bool, err error) {
	if p.blocksErr != nil {
		return false, p.blocksErr
	}
	p.View, p.Actions = v, h
	shares, ok := p.fit(job, v.Machine().Free(), p.member(job).partition.nodes)
	if !ok {
		return false, nil
	}
	return true, p.begin(job, shares, "it runs already")
}
