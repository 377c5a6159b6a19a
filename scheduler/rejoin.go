package scheduler

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// parts are what a run knows of jobs with roles that are to have other parts than
// they hold: some were lost with their nodes, or another number was asked for.
type parts struct {
	amiss  []int32          // running jobs, by first start, then number
	asked  map[int32][]int  // by job, how many parts of each of its roles were asked for
	failed map[int32][]Part // by running job, the parts that failed by themselves, which it does not get again
}

// wanted returns how many parts of one of its roles a job is to have.
func (l *loop) wanted(j int32, role int) int {
	if n := l.parts.asked[j]; n != nil {
		return n[role]
	}
	return l.Jobs[j].Roles[role].Count
}

// whole returns a job with the numbers of parts that it is to have.
func (l *loop) whole(j int32) *Job {
	n := l.parts.asked[j]
	if n == nil {
		return &l.Jobs[j]
	}
	job := l.Jobs[j].WithParts(n)
	return &job
}

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
	f := &l.lives[j]
	if f.State == Finished || f.State == Failed || f.State == Stopped {
		return nil
	}
	if _, can := l.Engine.(Reshaper); !can {
		return fmt.Errorf("the parts of job %q: the engine cannot change them", l.Jobs[j].Name)
	}
	counts, err := l.whole(j).AskParts(role, count, l.Cluster)
	if err != nil {
		return err
	}
	if l.parts.asked == nil {
		l.parts.asked = map[int32][]int{}
	}
	l.parts.asked[j] = counts
	delete(l.parts.failed, j)
	l.guard.News()
	more := l.Jobs[j].WithParts(counts)
	l.emit(Event{Kind: Request, Job: int(j), Cores: l.holds(j), GPUs: l.holdsGPUs(j), Request: more.Threads})
	if f.State == Running || f.State == Paused {
		l.noteAmiss(j)
	}
	return nil
}

// noteAmiss notes that the parts of a job that has started are not those that it is to
// have.
func (l *loop) noteAmiss(j int32) {
	if slices.Contains(l.parts.amiss, j) {
		return
	}
	i, _ := slices.BinarySearchFunc(l.parts.amiss, j, l.byFirstStart)
	l.parts.amiss = slices.Insert(l.parts.amiss, i, j)
}

// reform brings the parts of running jobs to what they are to be, as far as there is
// room: of all jobs, or only of those of which another number was asked for.
func (l *loop) reform(all bool) error {
	keep := l.parts.amiss[:0]
	for _, j := range l.parts.amiss {
		f := &l.lives[j]
		switch {
		case !f.booked: // it is over, or starts again, whole
			continue
		case f.State != Running || f.yields || !all && l.parts.asked[j] == nil:
			keep = append(keep, j)
			continue
		}
		if err := l.dropParts(j); err != nil {
			return err
		}
		lacks, err := l.addParts(j)
		if err != nil {
			return err
		}
		if lacks {
			keep = append(keep, j)
		}
	}
	l.parts.amiss = keep
	return nil
}

// dropParts ends the parts of a running job that are too many. The part that ends the
// job stays.
func (l *loop) dropParts(j int32) error {
	keep, drop := l.whole(j).Surplus(l.lives[j].grant.Layout.Parts)
	if len(drop) == 0 {
		return nil
	}
	return l.reshape(j, cluster.Together(keep), cluster.Together(drop), "fewer parts were asked for")
}

// addParts starts the parts that a running job lacks, one after the other, while there
// is room. It reports whether the job still lacks some.
func (l *loop) addParts(j int32) (lacks bool, err error) {
	held := l.lives[j].grant.Layout.Parts
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
	slices.SortStableFunc(parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(l.roleOf(j, a.Role), l.roleOf(j, b.Role)), cmp.Compare(a.Task, b.Task))
	})
	return lacks, l.reshape(j, cluster.Together(parts), Grant{}, "there is room for parts that it lacks")
}

// roleOf returns the index of a job's role.
func (l *loop) roleOf(j int32, name string) int {
	return slices.IndexFunc(l.Jobs[j].Roles, func(r Role) bool { return r.Name == name })
}

// needOf returns what a part of a role of a job needs of its node.
func (l *loop) needOf(j int32, name string) Room {
	r := &l.Jobs[j].Roles[l.roleOf(j, name)]
	return Room{Cores: int32(r.Threads), GPUs: int32(r.GPUs), Kind: l.machine.KindOf(r.GPU), Market: l.rental.Bars(j)}
}

// reshape lets a running job go on with other parts. What it gains is taken already.
func (l *loop) reshape(j int32, g, drops Grant, why string) error {
	f := &l.lives[j]
	l.settleTime(j)
	engine, ok := l.Engine.(Reshaper)
	if !ok {
		return fmt.Errorf("the parts of job %q change, and the engine cannot change them", l.Jobs[j].Name)
	}
	if err := engine.Reshape(int(j), g); err != nil {
		return fmt.Errorf("change the parts of job %q: %w", l.Jobs[j].Name, err)
	}
	l.nodes.Vacate(j, f.grant.Cores, l.now)
	f.grant = g
	l.machine.Give(drops)
	l.gaveBack = l.gaveBack || len(drops.Cores)+len(drops.GPUs) > 0
	l.nodes.Occupy(j, g.Cores)
	l.unexpect(j)
	l.expect(j)
	f.Resizes++
	l.guard.News()
	l.record(l.decide(ResizeJob, j, g.Cores, why))
	l.emit(Event{Kind: ResizeJob, Job: int(j), Cores: g.Cores, GPUs: g.GPUs, Layout: g.Layout})
	return nil
}

// orderParts asks for nodes for the parts that running jobs lack. rooms is what waiting
// jobs leave.
func (l *loop) orderParts(rooms []Room) error {
	for _, j := range l.parts.amiss {
		if !l.lives[j].booked || l.lives[j].State != Running {
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
