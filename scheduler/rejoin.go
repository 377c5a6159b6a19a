package scheduler

import (
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// whole returns a job with the numbers of parts that it is to have.
func (l *loop) whole(j int32) *Job { return l.parts.Whole(j, &l.Jobs[j]) }

// askParts sets how many parts of an elastic role a job is to have from now on, from
// Role.Min to Role.Most(). It is the one way to change the number of parts of a job: the
// requests of the workload (Resize.Role) come here, and those of a controller that adds or
// removes workers may: call it while the events of an instant are taken, before
// dispatch. In dispatch, parts that are too many end at once, those with the highest
// numbers first; further parts start as soon as there is room for them, before any waiting
// job. Each change is an event of the trace, ResizeJob, with the layout that the job has from
// then on, and reaches the engine through Reshaper. A job that waits, or that waits again
// after a loss, starts with the numbers that were asked for last.
//
// The error says why the job cannot have so many; nothing has changed then.
func (l *loop) askParts(j int32, role string, count int) error {
	f := l.life(j)
	if f.state == Finished || f.state == Failed || f.state == Stopped {
		return nil
	}
	if _, can := l.Engine.(Reshaper); !can {
		return fmt.Errorf("the parts of job %q: the engine cannot change them", l.Jobs[j].Name)
	}
	counts, err := l.whole(j).AskParts(role, count, l.Cluster)
	if err != nil {
		return err
	}
	l.parts.Ask(j, counts)
	l.guard.News()
	more := l.Jobs[j].WithParts(counts)
	l.emit(Event{Kind: Request, Job: int(j), Cores: l.held(j).Cores, GPUs: l.held(j).GPUs, Request: more.Threads})
	if f.state == Running || f.state == Paused {
		l.parts.Note(j, l.byFirstStart)
	}
	return nil
}

// reform brings the parts of running jobs to what they are to be, as far as there is
// room: of all jobs, or only of those of which another number was asked for.
func (l *loop) reform(all bool) error {
	return l.parts.Settle(func(j int32) (settled bool, err error) {
		f := l.life(j)
		switch {
		case !f.booked: // it is over, or starts again, whole
			return true, nil
		case f.state != Running || f.yields || !all && !l.parts.Asked(j):
			return false, nil
		}
		if err := l.dropParts(j); err != nil {
			return false, err
		}
		lacks, err := l.addParts(j)
		return !lacks, err
	})
}

// dropParts ends the parts of a running job that are too many. The part that ends the
// job stays.
func (l *loop) dropParts(j int32) error {
	keep, drop := l.whole(j).Surplus(l.life(j).grant.Layout.Parts)
	if len(drop) == 0 {
		return nil
	}
	return l.reshape(j, cluster.Together(keep), cluster.Together(drop), "fewer parts were asked for")
}

// addParts starts the parts that a running job lacks, one after the other, while there
// is room. It reports whether the job still lacks some.
func (l *loop) addParts(j int32) (lacks bool, err error) {
	held := l.life(j).grant.Layout.Parts
	parts := slices.Clone(held)
	for _, p := range l.lacks(j) {
		if !l.machine.PlacePart(&p, l.needOf(j, p.Role), held) {
			lacks = true
			continue
		}
		gain := Grant{Cores: p.Cores, GPUs: p.GPUs}
		if err := l.clear(gain); err != nil {
			return lacks, err
		}
		l.machine.Take(gain)
		parts = append(parts, p)
	}
	if len(parts) == len(held) {
		return lacks, nil
	}
	SortLacking(&l.Jobs[j], parts)
	return lacks, l.reshape(j, cluster.Together(parts), Grant{}, "there is room for parts that it lacks")
}

// lacks returns the parts that a running job is to have and does not, but for those that failed.
func (l *loop) lacks(j int32) []Part {
	return l.parts.Lacks(j, &l.Jobs[j], l.life(j).grant.Layout.Parts)
}

// needOf returns what a part of a role of a job needs of its node.
func (l *loop) needOf(j int32, name string) Room {
	r := &l.Jobs[j].Roles()[RoleOf(&l.Jobs[j], name)]
	return Room{Cores: int32(r.Threads), GPUs: int32(r.GPUs), Kind: l.machine.KindOf(r.GPU), Market: l.rental.Bars(j)}
}

// reshape lets a running job go on with other parts. What it gains is taken already.
func (l *loop) reshape(j int32, g, drops Grant, why string) error {
	f := l.life(j)
	l.settleTime(j)
	engine, ok := l.Engine.(Reshaper)
	if !ok {
		return fmt.Errorf("the parts of job %q change, and the engine cannot change them", l.Jobs[j].Name)
	}
	if err := engine.Reshape(int(j), g); err != nil {
		return fmt.Errorf("change the parts of job %q: %w", l.Jobs[j].Name, err)
	}
	l.nodes.Vacate(j, f.grant.Cores, l.now)
	f.hold(g)
	l.machine.Give(drops)
	l.gaveBack = l.gaveBack || len(drops.Cores)+len(drops.GPUs) > 0
	l.nodes.Occupy(j, g.Cores)
	l.unexpect(j)
	l.expect(j)
	l.result(j).Resizes++
	l.guard.News()
	l.out.Decision(l.decide(ResizeJob, j, g.Cores, why))
	l.emit(Event{Kind: ResizeJob, Job: int(j), Cores: g.Cores, GPUs: g.GPUs, Layout: g.Layout})
	return nil
}

// orderParts asks for nodes for the parts that running jobs lack. rooms is what waiting
// jobs leave.
func (l *loop) orderParts(rooms []Room) error {
	for _, j := range l.parts.Amiss() {
		if !l.life(j).booked || l.life(j).state != Running {
			continue
		}
		for _, p := range l.lacks(j) {
			need := l.needOf(j, p.Role)
			if need.Cores == 0 && need.GPUs == 0 {
				continue // it is beside another part
			}
			if _, err := l.nodes.Serve(need, 1, nil, rooms); err != nil {
				return err
			}
		}
	}
	return nil
}
