package gavel

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/stages/gavel/shares"
)

// Admit implements scheduler.Admitter. At the start of a round it decides which jobs run; within a round it gives free
// devices to waiting jobs.
func (p *roundPlanner) Admit(v scheduler.View, h scheduler.Actions) error {
	if p.failed != nil {
		return p.failed
	}
	if !v.RoundStarts() {
		return p.place(v, h, p.pick(p.problem(v, v.Machine().Free()), p.could(v, h)))
	}
	p.begins(v.Now())
	for _, j := range v.Running().All() {
		m, stretch := &p.members[j], v.Now()-v.Job(j).Times().Since
		p.count(m, p.whole(stretch-m.counted), true)
		m.counted = stretch
	}
	q, could := p.problem(v, nil), p.could(v, h)
	if err := p.divide(q); err != nil {
		return err
	}
	picks := p.pick(q, could)
	// No job can run by the old division, and no other job will arrive.
	if len(picks) == 0 && p.changed && v.Now() >= p.last {
		p.stuck = true
		if err := p.divide(q); err != nil {
			return err
		}
		picks = p.pick(q, could)
	}
	return p.carryOut(v, h, picks)
}

// pick returns the teams that run in the next round. Paused jobs keep memory on the types where they ran, so the
// division may leave no team that can run. In that case jobs may run on types where they have no time.
func (p *roundPlanner) pick(q *shares.Problem, could func(job int32, t int) bool) []shares.Pick {
	picks := p.mech.Pick(q, p.order(), could)
	if len(picks) == 0 && p.mech.Idle && could != nil {
		p.mech.Idle = false
		picks = p.mech.Pick(q, p.order(), could)
		p.mech.Idle = true
	}
	return picks
}

// could returns a function that reports whether a job runs on a type or would have room there if all jobs were paused.
// Paused jobs keep their memory. could is nil if no job needs memory.
func (p *roundPlanner) could(v scheduler.View, h scheduler.Actions) func(job int32, t int) bool {
	if !p.memory {
		return nil
	}
	rooms, paused := make([][]cluster.Room, len(p.kinds)), v.Machine().Paused()
	for t := range p.kinds {
		rooms[t] = p.roomsOf(v, t, paused)
	}
	return func(number int32, t int) bool {
		j, m := v.Job(number), &p.members[number]
		if j.State() == scheduler.Running && m.on == t {
			return true
		}
		defer h.Choose(number, j.Alternative())
		h.Choose(number, m.way[t])
		_, ok := j.FitsIn(rooms[t], j.Request(), nil)
		return ok
	}
}

// place is where a job runs in a round: on a type of device, alone or sharing with another job.
type place struct {
	on   int
	with int32
}

// carryOut pauses the jobs that change their type or partner, and starts the other picked jobs.
func (p *roundPlanner) carryOut(v scheduler.View, h scheduler.Actions, picks []shares.Pick) error {
	places := make(map[int32]place, len(picks))
	for _, k := range picks {
		places[k.First] = place{k.Type, k.Second}
		if k.Second != shares.Nobody {
			places[k.Second] = place{k.Type, k.First}
		}
	}
	running := slices.Clone(v.Running().All())
	slices.Sort(running)
	now := make(map[int32]place, len(running))
	for _, j := range running {
		now[j] = place{p.members[j].on, p.members[j].with}
	}
	for _, j := range running {
		to, ok := places[j]
		if ok && to == now[j] {
			continue
		}
		why := ""
		if v.Recording() {
			why = "is not chosen for this round"
			if ok {
				why = fmt.Sprintf("goes on with %s in this round", p.kinds[to.on].Name)
			}
		}
		if err := h.Pause(j, why); err != nil {
			return err
		}
	}
	return p.place(v, h, picks)
}

// place starts the waiting picks, those with the most devices first. If the free devices of a type are too scattered
// for a pick, it places all jobs of that type again. A pick without enough memory keeps waiting.
func (p *roundPlanner) place(v scheduler.View, h scheduler.Actions, picks []shares.Pick) error {
	picks = slices.Clone(picks)
	slices.SortStableFunc(picks, func(a, b shares.Pick) int {
		return cmp.Compare(p.members[b.First].Workers[b.Type], p.members[a.First].Workers[a.Type])
	})
	again := make([]bool, len(p.kinds))
	for _, k := range picks {
		started, err := p.startTeam(v, h, k)
		if err != nil {
			return err
		}
		if started || again[k.Type] || !v.RoundStarts() {
			continue
		}
		if could := p.could(v, h); could != nil && !could(k.First, k.Type) {
			continue
		}
		again[k.Type] = true
		for _, other := range picks {
			for _, j := range other.Jobs() {
				if other.Type == k.Type && v.Job(j).State() == scheduler.Running {
					if err := h.Pause(j, "makes room for a job with more devices"); err != nil {
						return err
					}
				}
			}
		}
		for _, other := range picks {
			if other.Type == k.Type {
				if _, err := p.startTeam(v, h, other); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// startTeam starts the waiting jobs of a team, and reports whether the first one runs. The second job of a pair waits
// if no threads are left for it.
func (p *roundPlanner) startTeam(v scheduler.View, h scheduler.Actions, k shares.Pick) (bool, error) {
	started, err := p.start(v, h, k.First, k.Type)
	if err != nil || !started || k.Second == shares.Nobody || v.Job(k.First).State() != scheduler.Running {
		return started, err
	}
	return true, p.share(v, h, k)
}

// share starts the second job of a pair on the devices of the first.
func (p *roundPlanner) share(v scheduler.View, h scheduler.Actions, k shares.Pick) error {
	j := v.Job(k.Second)
	if s := j.State(); s != scheduler.Queued && s != scheduler.Paused {
		return nil
	}
	h.Choose(k.Second, p.members[k.Second].way[k.Type])
	rooms := p.free(v, k.Type)
	for n := range rooms {
		rooms[n].GPUs = 0
	}
	first := v.Job(k.First)
	v.Machine().AddGPUs(rooms, first.Held())
	nodes, ok := j.FitsAnew(rooms, j.Request(), nil)
	if !ok {
		return nil
	}
	why := ""
	if v.Recording() {
		why = fmt.Sprintf("shares %s with %s", p.kinds[k.Type].Name, first.Job().Name)
	}
	if err := h.(scheduler.ClusterActions).Share(k.Second, k.First, nodes, why); err != nil || j.State() != scheduler.Running {
		return err
	}
	a, b := &p.members[k.First], &p.members[k.Second]
	a.part, b.part = p.partsOf(k.First, k.Second, k.Type)
	a.with, b.with = k.Second, k.First
	b.on, b.since, b.counted = k.Type, v.Now(), 0
	return nil
}

// free returns the free resources of nodes with devices of a type.
func (p *roundPlanner) free(v scheduler.View, t int) []cluster.Room {
	return p.roomsOf(v, t, v.Machine().Free())
}

// roomsOf returns the free resources of each open node that has devices of a type; other nodes have none.
func (p *roundPlanner) roomsOf(v scheduler.View, t int, all []cluster.Room) []cluster.Room {
	rooms := make([]cluster.Room, len(all))
	for _, n := range p.kinds[t].nodes {
		if !v.Machine().Closed(n) {
			rooms[n] = all[n]
		}
	}
	return rooms
}

// start starts a waiting job on devices of a type, and reports whether it runs.
func (p *roundPlanner) start(v scheduler.View, h scheduler.Actions, number int32, on int) (bool, error) {
	j, m := v.Job(number), &p.members[number]
	switch j.State() {
	case scheduler.Running:
		return true, nil
	case scheduler.Queued, scheduler.Paused:
	default:
		return true, nil // the job could not be started
	}
	h.Choose(number, m.way[on])
	nodes, ok := j.FitsIn(p.free(v, on), j.Request(), nil)
	if !ok {
		return false, nil
	}
	why := ""
	if v.Recording() {
		why = fmt.Sprintf("has the next place on %s", p.kinds[on].Name)
	}
	m.on, m.since, m.counted = on, v.Now(), 0
	return true, h.Start(number, j.Request(), nodes, why)
}
