// Rejoin keeps account of jobs with roles that are to have other parts than they hold: some
// were lost with their nodes, failed by themselves, or another number was asked for.

package scheduler

import (
	"cmp"
	"slices"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Parts are what a run knows of such jobs. The zero value knows of none.
type LackingParts struct {
	amiss  []int32                  // jobs that have started
	asked  map[int32][]int          // by job, how many parts of each of its roles were asked for
	failed map[int32][]cluster.Part // by running job, the parts that failed by themselves, which it does not get again
}

// Amiss returns the jobs that were noted and not settled since, by first start, then number.
func (p *LackingParts) Amiss() []int32 { return p.amiss }

// Note notes that the parts of a job that has started are not those that it is to have. before
// orders jobs by their first start.
func (p *LackingParts) Note(j int32, before func(a, b int32) int) {
	if slices.Contains(p.amiss, j) {
		return
	}
	i, _ := slices.BinarySearchFunc(p.amiss, j, before)
	p.amiss = slices.Insert(p.amiss, i, j)
}

// Settle calls try with each of the jobs, in their order, and forgets those of which it reports that
// nothing is amiss any more. It ends at the first error.
func (p *LackingParts) Settle(try func(j int32) (settled bool, err error)) error {
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

// AskedAny reports whether another number of parts was asked for, for any job.
func (p *LackingParts) AskedAny() bool { return len(p.asked) > 0 }

// Asked reports whether another number of parts was asked for.
func (p *LackingParts) Asked(j int32) bool { return p.asked[j] != nil }

// Ask notes how many parts of each of its roles a job is to have from now on.
func (p *LackingParts) Ask(j int32, counts []int) {
	if p.asked == nil {
		p.asked = map[int32][]int{}
	}
	p.asked[j] = counts
	delete(p.failed, j)
}

// Withdraw forgets what was asked for a job.
func (p *LackingParts) Withdraw(j int32) { delete(p.asked, j) }

// Wanted returns how many parts of one of its roles a job is to have.
func (p *LackingParts) Wanted(j int32, role int, of *Job) int {
	if n := p.asked[j]; n != nil {
		return n[role]
	}
	return of.Roles()[role].Count
}

// Whole returns a job with the numbers of parts that it is to have.
func (p *LackingParts) Whole(j int32, of *Job) *Job {
	n := p.asked[j]
	if n == nil {
		return of
	}
	with := of.WithParts(n)
	return &with
}

// Failed notes that a part of a running job failed by itself.
func (p *LackingParts) Failed(j int32, role string, task int) {
	if p.failed == nil {
		p.failed = map[int32][]cluster.Part{}
	}
	p.failed[j] = append(p.failed[j], cluster.Part{Role: role, Task: task})
}

// Started forgets which parts of a job failed: it starts whole.
func (p *LackingParts) Started(j int32) { delete(p.failed, j) }

// Lacks returns the parts that a running job is to have beside those that it holds. It has none in place of those that
// failed.
func (p *LackingParts) Lacks(j int32, of *Job, held []cluster.Part) []cluster.Part {
	return p.Whole(j, of).Missing(slices.Concat(held, p.failed[j]))
}

// RoleOf returns the index of a job's role; negative when it has none of that name.
func RoleOf(of *Job, name string) int {
	return slices.IndexFunc(of.Roles(), func(r Role) bool { return r.Name == name })
}

// Sort puts the parts of a job in the order of its roles, then by number.
func SortLacking(of *Job, parts []cluster.Part) {
	slices.SortStableFunc(parts, func(a, b cluster.Part) int {
		return cmp.Or(cmp.Compare(RoleOf(of, a.Role), RoleOf(of, b.Role)), cmp.Compare(a.Task, b.Task))
	})
}
