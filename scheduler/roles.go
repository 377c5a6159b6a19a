package scheduler

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// survives reports whether a job continues when it loses the parts for which gone is true.
func (l *loop) survives(j *jobState, gone func(p *Part) bool) bool {
	if j.state != Running || j.yields || len(j.job.Roles()) == 0 || l.ending.stopping {
		return false
	}
	return j.job.spares(j.grant.Layout.Parts, gone)
}

// on returns a function that reports whether a part is on node v.
func on(v int32) func(p *Part) bool { return func(p *Part) bool { return p.Node == int(v) } }

// without makes a running job continue without the parts for which gone is true.
func (l *loop) without(j *jobState, gone func(p *Part) bool, why string) error {
	left, lost := cluster.Split(j.grant.Layout.Parts, gone)
	return l.reshape(j, cluster.Together(left), cluster.Together(lost), why)
}

// partEnded handles the failure of a part of a job. If the job would survive the loss of the part's node, it
// continues without the part. In this attempt it does not get the part again, because the program would probably
// fail again. Otherwise the attempt fails.
func (l *loop) partEnded(n *Notice) error {
	if n.Job < 0 || n.Job >= l.jobs.Len() {
		return fmt.Errorf("engine reported the end of a part of job number %d, which does not exist", n.Job)
	}
	j := int32(n.Job)
	if s := l.state(j).state; s != Running && s != Paused {
		return nil // the engine has reported the end of the job before
	}
	failed := func(p *Part) bool { return p.Role == n.Role && p.Task == n.Task }
	l.detector.Progressed()
	if l.fixed.migrator == nil || !l.survives(l.state(j), failed) {
		if err := l.Engine.Stop(int(j)); err != nil {
			return fmt.Errorf("stop job %q: %w", l.job(j).Name, err)
		}
		return nil
	}
	l.roles.Failed(j, n.Role, n.Task)
	return l.without(l.state(j), failed, n.Reason)
}

// missingRoles records which jobs with roles lack parts, or have too many. The causes are lost nodes, failed parts,
// and requests for another number. The zero value is empty.
type missingRoles struct {
	amiss  []int32                  // started jobs that do not have their wanted parts
	asked  map[int32][]int          // by job, the requested number of parts of each role
	failed map[int32][]cluster.Part // by running job, its failed parts, which are not started again
}

// Amiss returns the jobs that do not have their wanted parts, ordered by first start, then number.
func (p *missingRoles) Amiss() []int32 { return p.amiss }

// Note records that a started job does not have its wanted parts. before compares jobs by first start, then number.
func (p *missingRoles) Note(j int32, before func(a, b int32) int) {
	if slices.Contains(p.amiss, j) {
		return
	}
	i, _ := slices.BinarySearchFunc(p.amiss, j, before)
	p.amiss = slices.Insert(p.amiss, i, j)
}

// Settle calls try for each job that Amiss returns. Jobs that try reports as settled are removed. Settle stops at
// the first error.
func (p *missingRoles) Settle(try func(j int32) (settled bool, err error)) error {
	keep := p.amiss[:0]
	for _, j := range p.amiss {
		settled, err := try(j)
		if err != nil {
			return err
		}
		if !settled {
			keep = append(keep, j)
		}
	}
	p.amiss = keep
	return nil
}

// AskedAny reports whether another number of parts is requested for any job.
func (p *missingRoles) AskedAny() bool { return len(p.asked) > 0 }

// Asked reports whether another number of parts is requested for the job.
func (p *missingRoles) Asked(j int32) bool { return p.asked[j] != nil }

// Ask records the requested number of parts of each role of a job.
func (p *missingRoles) Ask(j int32, counts []int) {
	if p.asked == nil {
		p.asked = map[int32][]int{}
	}
	p.asked[j] = counts
	delete(p.failed, j)
}

// Withdraw removes the request for other numbers of parts of a job.
func (p *missingRoles) Withdraw(j int32) { delete(p.asked, j) }

// Wanted returns the wanted number of parts of one role of a job.
func (p *missingRoles) Wanted(j int32, role int, of *Job) int {
	if n := p.asked[j]; n != nil {
		return n[role]
	}
	return of.Roles()[role].Count
}

// Whole returns the job with its wanted numbers of parts.
func (p *missingRoles) Whole(j int32, of *Job) *Job {
	n := p.asked[j]
	if n == nil {
		return of
	}
	with := of.WithParts(n)
	return &with
}

// Failed records that a part of a running job failed, without the loss of its node.
func (p *missingRoles) Failed(j int32, role string, task int) {
	if p.failed == nil {
		p.failed = map[int32][]cluster.Part{}
	}
	p.failed[j] = append(p.failed[j], cluster.Part{Role: role, Task: task})
}

// Started forgets the failed parts of a job, because a new attempt starts with all parts.
func (p *missingRoles) Started(j int32) { delete(p.failed, j) }

// Lacks returns the parts that a running job does not hold but should. Failed parts are not among them.
func (p *missingRoles) Lacks(j int32, of *Job, held []cluster.Part) []cluster.Part {
	return p.Whole(j, of).Missing(slices.Concat(held, p.failed[j]))
}

// roleOf returns the index of the role with a name; -1 if the job has no such role.
func roleOf(of *Job, name string) int {
	return slices.IndexFunc(of.Roles(), func(r Role) bool { return r.Name == name })
}

// sortParts orders the parts of a job by role, then number.
func sortParts(of *Job, parts []cluster.Part) {
	slices.SortStableFunc(parts, func(a, b cluster.Part) int {
		return cmp.Or(cmp.Compare(roleOf(of, a.Role), roleOf(of, b.Role)), cmp.Compare(a.Task, b.Task))
	})
}

// whole returns the job with its wanted numbers of parts.
func (l *loop) whole(j *jobState) *Job { return l.roles.Whole(j.number, j.job) }

// askParts sets the number of parts of an elastic role, from Role.Min to Role.Most(). Workloads (Resize.Role) and
// controllers call it while the events of an instant are handled, before dispatch.
//
// Dispatch ends parts that are too many at once, those with the highest numbers first. It starts further parts as
// soon as there is room, before any waiting job. Each change is an event ResizeJob with the new layout, and reaches
// the engine through Migrator.Reshape. A waiting job starts with the numbers that were requested last.
//
// If the job cannot have count parts, the error says why, and nothing changes.
func (l *loop) askParts(j *jobState, role string, count int) error {
	if j.state == Finished || j.state == Failed || j.state == Stopped {
		return nil
	}
	if l.fixed.migrator == nil {
		return fmt.Errorf("the parts of job %q cannot be changed: its engine cannot do that", j.job.Name)
	}
	counts, err := l.whole(j).AskParts(role, count, l.Cluster)
	if err != nil {
		return err
	}
	l.roles.Ask(j.number, counts)
	l.detector.Progressed()
	more := j.job.WithParts(counts)
	l.emit(Event{Kind: Request, Job: int(j.number), Cores: l.held(j).Cores, GPUs: l.held(j).GPUs, Request: more.Threads})
	if j.state == Running || j.state == Paused {
		l.roles.Note(j.number, l.byFirstStart)
	}
	return nil
}

// reform starts and ends parts of running jobs until they have their wanted numbers, or there is no more room. If
// all is false, it considers only jobs for which another number is requested.
func (l *loop) reform(all bool) error {
	return l.roles.Settle(func(j int32) (settled bool, err error) {
		f := l.state(j)
		switch {
		case !f.booked: // the job is over or waits; it will start with all parts
			return true, nil
		case f.state != Running || f.yields || !all && !l.roles.Asked(j):
			return false, nil
		}
		if err := l.dropParts(l.state(j)); err != nil {
			return false, err
		}
		lacks, err := l.addParts(l.state(j))
		return !lacks, err
	})
}

// dropParts ends the parts of a running job that are too many.
func (l *loop) dropParts(j *jobState) error {
	keep, drop := l.whole(j).surplus(j.grant.Layout.Parts)
	if len(drop) == 0 {
		return nil
	}
	return l.reshape(j, cluster.Together(keep), cluster.Together(drop), "fewer parts were requested")
}

// addParts starts parts that a running job lacks, one after the other, while there is room. It reports whether the
// job still lacks parts.
func (l *loop) addParts(j *jobState) (lacks bool, err error) {
	held := j.grant.Layout.Parts
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
	sortParts(j.job, parts)
	return lacks, l.reshape(j, cluster.Together(parts), Grant{}, "there is room for its missing parts")
}

// lacks returns the parts that a running job does not hold but should, except for failed ones.
func (l *loop) lacks(j *jobState) []Part {
	return l.roles.Lacks(j.number, j.job, j.grant.Layout.Parts)
}

// needOf returns the resources that one part of a role needs on its node.
func (l *loop) needOf(j *jobState, name string) cluster.Room {
	r := j.job.Roles()[roleOf(j.job, name)]
	need := cluster.Room{Cores: int32(r.Threads), GPUs: int32(r.GPUs), Kind: l.machine.KindOf(r.GPU)}
	return l.extensions.limit(j, need)
}

// reshape gives a running job the parts in g. The caller has already taken new resources from the
// machine; reshape frees the resources of drops.
func (l *loop) reshape(j *jobState, g, drops Grant, why string) error {
	l.settleTime(j)
	if l.fixed.migrator == nil {
		return fmt.Errorf("the parts of job %q cannot be changed: its engine cannot do that", j.job.Name)
	}
	if err := l.fixed.migrator.Reshape(int(j.number), g); err != nil {
		return fmt.Errorf("change the parts of job %q: %w", j.job.Name, err)
	}
	l.extensions.changed(j, leaves, 0)
	j.hold(g)
	l.machine.Give(drops)
	l.dispatching.freed = l.dispatching.freed || len(drops.Cores)+len(drops.GPUs) > 0
	l.extensions.changed(j, placed, 0)
	l.unexpect(j)
	l.expect(j)
	l.result(j).Resizes++
	l.detector.Progressed()
	l.out.Decision(l.decide(ResizeJob, j, g.Cores, why))
	l.emit(Event{Kind: ResizeJob, Job: int(j.number), Cores: g.Cores, GPUs: g.GPUs, Layout: g.Layout})
	return nil
}
