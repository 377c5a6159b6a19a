package shares

import (
	"cmp"
	"slices"
)

// Mechanism chooses what runs in each round, so that the time which jobs receive follows a
// division. A pair of a job and a type has the priority x_ij over the part of the type's time,
// since the last division, that was the job's. Pairs are taken by priority, then by deficit, then
// by x, type after type in the order of speed, as long as there are devices.
type Mechanism struct {
	// Round is the length of a round in seconds.
	Round float64
	// Idle is that of the Kind.
	Idle bool

	division map[int32][]float64
	spent    []float64 // device time by type since the last division, counted once for a job
	jobs     map[int32]*account
	last     float64 // the instant of the last division
}

// account is what a job has received of each type since the last division, in seconds, and
// what it received less than it should have before.
type account struct{ received, deficit []float64 }

// Pick is a job that runs in a round, and on which type of device.
type Pick struct {
	Job  int32
	Type int
}

// Add begins to count a job. For a start, everybody is taken to have run half a round on each type.
func (m *Mechanism) add(job int32, types int) *account {
	a := &account{make([]float64, types), make([]float64, types)}
	for t := range a.received {
		a.received[t] = m.Round / 2
	}
	m.jobs[job] = a
	return a
}

// Divided begins to follow another division.
func (m *Mechanism) Divided(p *Problem, d Division, now float64) {
	types := len(p.Types)
	if m.jobs == nil {
		m.jobs = map[int32]*account{}
	}
	old, elapsed := m.division, now-m.last
	m.division, m.spent, m.last = make(map[int32][]float64, len(d)), make([]float64, types), now
	for i := range p.Jobs {
		job := p.Jobs[i].Number
		m.division[job] = d[i]
		a := m.jobs[job]
		if a == nil {
			a = m.add(job, types)
		}
		for t := range types {
			due := 0.0
			if x := old[job]; x != nil {
				due = x[t] * elapsed
			}
			a.deficit[t] += due - (a.received[t] - m.Round/2)
			a.received[t] = m.Round / 2
			m.spent[t] += m.Round / 2
		}
	}
}

// Ran counts that a job ran on devices of a type for some seconds.
func (m *Mechanism) Ran(job int32, on int, seconds float64) {
	if a := m.jobs[job]; a != nil {
		a.received[on] += seconds
		m.spent[on] += seconds
	}
}

// Ended forgets a job. The time that it received still counts for its types.
func (m *Mechanism) Ended(job int32) {
	delete(m.jobs, job)
	delete(m.division, job)
}

// Priority is that of a job on a type of device.
func (m *Mechanism) priority(job int32, t int) float64 {
	x, a := m.division[job], m.jobs[job]
	switch {
	case x == nil || x[t] == 0:
		return 0
	case m.spent[t] == 0 || a.received[t] == 0:
		return x[t] * 1e9
	}
	return x[t] / (a.received[t] / m.spent[t])
}

// Pick returns what is to run in the next round, in the order in which it was chosen. order
// has the types as they are gone through.
func (m *Mechanism) Pick(p *Problem, order []int) []Pick {
	type candidate struct {
		job                  *Job
		priority, deficit, x float64
	}
	var picks []Pick
	taken := make(map[int32]bool, len(p.Jobs))
	for _, t := range order {
		list := make([]candidate, 0, len(p.Jobs))
		for i := range p.Jobs {
			j := &p.Jobs[i]
			if m.jobs == nil {
				m.jobs = map[int32]*account{}
			}
			a := m.jobs[j.Number]
			if a == nil {
				a = m.add(j.Number, len(p.Types))
			}
			c := candidate{job: j, priority: m.priority(j.Number, t), deficit: a.deficit[t]}
			if x := m.division[j.Number]; x != nil {
				c.x = x[t]
			}
			list = append(list, c)
		}
		slices.SortStableFunc(list, func(a, b candidate) int {
			return cmp.Or(cmp.Compare(b.priority, a.priority), cmp.Compare(b.deficit, a.deficit), cmp.Compare(b.x, a.x))
		})
		left := p.Types[t].Count
		for _, c := range list {
			if taken[c.job.Number] || c.job.Speed[t] == 0 || c.job.Workers[t] > left || m.Idle && c.priority <= 0 {
				continue
			}
			left -= c.job.Workers[t]
			taken[c.job.Number] = true
			picks = append(picks, Pick{c.job.Number, t})
		}
	}
	return picks
}
