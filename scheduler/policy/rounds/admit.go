package rounds

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/shares"
)

// Admit implements scheduler.Admitter: at the start of a round it decides anew for all jobs, and
// else gives what is free to jobs that wait.
func (p *planner) Admit(v scheduler.View, h scheduler.Hands) error {
	if p.failed != nil {
		return p.failed
	}
	if !v.RoundStarts() {
		q := p.problem(v, v.Machine().Free())
		return p.place(v, h, p.mech.Pick(q, p.order()))
	}
	p.begins(v.Now())
	for _, j := range v.Running().All() {
		m, stretch := &p.members[j], v.Now()-v.Job(j).Since()
		p.count(m, p.whole(stretch-m.counted), true)
		m.counted = stretch
	}
	q := p.problem(v, nil)
	if err := p.divide(v, q); err != nil {
		return err
	}
	picks := p.mech.Pick(q, p.order())
	if len(picks) == 0 && p.changed { // nobody could run by an old division
		p.stuck = true
		if err := p.divide(v, q); err != nil {
			return err
		}
		picks = p.mech.Pick(q, p.order())
	}
	return p.carryOut(v, h, picks)
}

// carryOut pauses who is not to go on where it runs, and starts the others.
func (p *planner) carryOut(v scheduler.View, h scheduler.Hands, picks []shares.Pick) error {
	on := make(map[int32]int, len(picks))
	for _, k := range picks {
		on[k.Job] = k.Type
	}
	running := slices.Clone(v.Running().All())
	slices.Sort(running)
	for _, j := range running {
		if t, ok := on[j]; !ok || t != p.members[j].on {
			why := ""
			if v.Recording() {
				why = "is not chosen for this round"
				if ok {
					why = fmt.Sprintf("goes on with %s in this round", p.kinds[t].Name)
				}
			}
			if err := h.Pause(j, why); err != nil {
				return err
			}
		}
	}
	return p.place(v, h, picks)
}

// place starts the picks that wait, those with the most devices first. When the free devices
// of a type are too scattered for one of them, all of that type are placed anew.
func (p *planner) place(v scheduler.View, h scheduler.Hands, picks []shares.Pick) error {
	picks = slices.Clone(picks)
	slices.SortStableFunc(picks, func(a, b shares.Pick) int {
		return cmp.Compare(p.members[b.Job].Workers[b.Type], p.members[a.Job].Workers[a.Type])
	})
	again := make([]bool, len(p.kinds))
	for _, k := range picks {
		started, err := p.start(v, h, k)
		if err != nil {
			return err
		}
		if started || again[k.Type] || !v.RoundStarts() {
			continue
		}
		again[k.Type] = true
		for _, other := range picks {
			if other.Type == k.Type && v.Job(other.Job).State() == scheduler.Running {
				if err := h.Pause(other.Job, "makes room for a job with more devices"); err != nil {
					return err
				}
			}
		}
		for _, other := range picks {
			if other.Type == k.Type {
				if _, err := p.start(v, h, other); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// start starts a job that waits on devices of a type, and reports whether it runs now.
func (p *planner) start(v scheduler.View, h scheduler.Hands, k shares.Pick) (bool, error) {
	j, m := v.Job(k.Job), &p.members[k.Job]
	switch j.State() {
	case scheduler.Running:
		return true, nil
	case scheduler.Queued, scheduler.Paused:
	default:
		return true, nil // it could not be started
	}
	if len(j.Job().Alternatives) > 0 {
		h.Choose(k.Job, m.way[k.Type])
	}
	rooms := make([]scheduler.Room, len(v.Machine().Free()))
	for _, n := range p.kinds[k.Type].nodes {
		if !v.Machine().Closed(n) {
			rooms[n] = v.Machine().Free()[n]
		}
	}
	nodes, ok := j.FitsIn(rooms, j.Request(), nil)
	if !ok {
		return false, nil
	}
	why := ""
	if v.Recording() {
		why = fmt.Sprintf("has the next place on %s", p.kinds[k.Type].Name)
	}
	m.on, m.counted = k.Type, 0
	return true, h.Start(k.Job, j.Request(), nodes, why)
}
