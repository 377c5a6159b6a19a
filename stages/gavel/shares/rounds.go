package shares

import (
	"cmp"
	"maps"
	"slices"
)

// Mechanism chooses the teams that run in each round: jobs, and pairs of jobs on the same devices. The time that
// teams receive follows a division. A team and a type of device have a priority: x_ij over the team's fraction of
// the type's time since the last division. A team that runs on a type alone has all of its time, so time may
// differ from the division where devices are left over. Teams and types are taken by priority, then by deficit,
// then by x, type after type, as long as there are devices, and each job once: a job without time on a type runs
// on the type's remaining devices, and so may miss a later type on which it has time. The authors' simulator does
// this by default; as with its global queue, one that is Global takes the pairs of team and type in one order. A
// job that came after the division is taken like the others, but its devices stand idle: as in that simulator, it
// runs from the next division on.
type Mechanism struct {
	// Round is the length of a round in seconds.
	Round float64
	// Idle has the meaning of Kind.Idle.
	Idle bool
	// Eager lets jobs that arrived after the division run on devices that are left.
	Eager bool
	// Global sorts all pairs of team and type into one order, instead of one order for each type.
	Global bool

	division map[Team][]float64
	spent    []float64 // device time by type since the last division; a team counts once
	accounts map[Team]*account
	last     float64 // time of the last division, in seconds
}

// account has, by type, the seconds that a team has received since the last division, and its deficit from earlier
// divisions.
type account struct{ received, deficit []float64 }

// Pick is a team that runs in a round, and its device type.
type Pick struct {
	Team
	Type int
}

// account returns the account of a team. A new account has half a round on each type for a single job, and 0 for a
// pair.
func (m *Mechanism) account(team Team, types int) *account {
	a := m.accounts[team]
	if a != nil {
		return a
	}
	a = &account{make([]float64, types), make([]float64, types)}
	for t := range a.received {
		if team.Second == Nobody {
			a.received[t] = m.Round / 2
		}
	}
	if m.accounts == nil {
		m.accounts = map[Team]*account{}
	}
	m.accounts[team] = a
	return a
}

// Divided sets a new division, which Pick follows from now on.
func (m *Mechanism) Divided(p *Problem, d Division, now float64) {
	types := len(p.Types)
	old, elapsed := m.division, now-m.last
	m.division, m.spent, m.last = make(map[Team][]float64, len(d)), make([]float64, types), now
	for _, team := range p.teams() {
		if team.at < len(d) {
			m.division[team.Team] = d[team.at]
		}
		a := m.account(team.Team, types)
		for t := range types {
			due := 0.0
			if x := old[team.Team]; x != nil {
				due = x[t] * elapsed
			}
			a.deficit[t] += due - (a.received[t] - m.Round/2)
			a.received[t] = m.Round / 2
			m.spent[t] += m.Round / 2
		}
	}
}

// Ran records that a team ran on devices of a type for this time in seconds.
func (m *Mechanism) Ran(team Team, on int, seconds float64) {
	if a := m.accounts[team]; a != nil {
		a.received[on] += seconds
		m.spent[on] += seconds
	}
}

// Ended removes the accounts of a job and its pairs. The time that they received still counts for the types.
func (m *Mechanism) Ended(job int32) {
	of := func(team Team) bool { return team.Has(job) }
	maps.DeleteFunc(m.accounts, func(team Team, _ *account) bool { return of(team) })
	maps.DeleteFunc(m.division, func(team Team, _ []float64) bool { return of(team) })
}

// priority returns the priority of a team on a type of device.
func (m *Mechanism) priority(team Team, t int) float64 {
	x, a := m.division[team], m.accounts[team]
	switch {
	case x == nil || x[t] == 0:
		return 0
	case m.spent[t] == 0 || a.received[t] == 0:
		return x[t] * 1e9
	}
	return x[t] / (a.received[t] / m.spent[t])
}

// candidate is a team that could run on a type.
type candidate struct {
	*lineup
	on                   int
	priority, deficit, x float64
}

// compare orders candidates: those that are picked first come first.
func (c candidate) compare(d candidate) int {
	return cmp.Or(cmp.Compare(d.priority, c.priority), cmp.Compare(d.deficit, c.deficit), cmp.Compare(d.x, c.x))
}

// candidates returns the teams for each type, in the order in which they are picked.
func (m *Mechanism) candidates(p *Problem, order []int) []candidate {
	teams := p.teams()
	all := make([]candidate, 0, len(teams)*len(order))
	for _, t := range order {
		ofType := len(all)
		for k := range teams {
			team := &teams[k]
			a := m.account(team.Team, len(p.Types))
			c := candidate{lineup: team, on: t, priority: m.priority(team.Team, t), deficit: a.deficit[t]}
			if x := m.division[team.Team]; x != nil {
				c.x = x[t]
			}
			all = append(all, c)
		}
		slices.SortStableFunc(all[ofType:], candidate.compare)
	}
	if m.Global {
		slices.SortStableFunc(all, candidate.compare)
	}
	return all
}

// Pick returns the teams of the next round; each job is in at most one. Unless the mechanism is Global, it goes through
// the types in the given order. could reports whether a job could start on a type now; nil means that all could.
func (m *Mechanism) Pick(p *Problem, order []int, could func(job int32, t int) bool) []Pick {
	var picks []Pick
	taken := make([]bool, len(p.Jobs))
	left := make([]float64, len(p.Types))
	for t := range left {
		left[t] = p.Types[t].Count
	}
	for _, c := range m.candidates(p, order) {
		t := c.on
		out := func(i int) bool { return taken[i] || could != nil && !could(p.Jobs[i].Number, t) }
		if !c.runs(p, t) || c.workers(p, t) > left[t] || m.Idle && c.priority <= 0 || slices.ContainsFunc(c.jobs, out) {
			continue
		}
		left[t] -= c.workers(p, t)
		for _, i := range c.jobs {
			taken[i] = true
		}
		if m.division[c.Team] != nil || m.Eager {
			picks = append(picks, Pick{c.Team, t})
		}
	}
	return picks
}
