// Package parts decodes what a file says of jobs that have parts: their roles, and how fast they train by what these run on.
package parts

import (
	"slices"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/files"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/experiments/words"
	"github.com/tfexp/tfexp/scheduler"
)

// Decoder decodes the role blocks of jobs, and the cluster blocks of their run times.
type Decoder struct{ files.Finder }

// The roles that built-in programs know.
const roleServer, roleWorker, roleChief = "ps", "worker", "chief"

// Roles decodes the parts of a job, whose request is their sum.
func (d Decoder) Roles(n *eval.Node, e *eval.Env, a *eval.Args, j *experiments.Job) {
	blocks := n.All("role")
	if len(blocks) == 0 {
		return
	}
	for _, name := range []string{"threads", "gpus", "gpu", "memory", "nodes", "malleable"} {
		if a.IsSet(name) {
			a.Fail(a.At(name), "Contradicting arguments", "A job with role blocks has the resources of its parts, and "+
				"keeps them: %s is not for it.", name)
		}
	}
	if other := n.First("alternative"); other != nil {
		a.Fail(other.Header, "Contradicting blocks", "A job with role blocks has no alternatives.")
	}
	threads, gpus := 0, 0
	for _, rn := range blocks {
		ra := d.EvalArgs(rn, e)
		r := scheduler.Role{
			Name: rn.Label, Count: eval.Get[int](ra, "count"), Threads: eval.Get[int](ra, "threads"),
			GPUs: eval.Get[int](ra, "gpus"), GPU: eval.Get[string](ra, "gpu"), Elastic: eval.Get[bool](ra, "elastic"),
			Vital: eval.Get[bool](ra, "vital"), Min: eval.Get[int](ra, "min"), Max: eval.Get[int](ra, "max"),
		}
		switch {
		case ra.IsSet("min") && !r.Elastic:
			ra.Fail(ra.At("min"), "Argument that nothing reads", "min is for elastic roles.")
		case ra.IsSet("max") && !r.Elastic:
			ra.Fail(ra.At("max"), "Argument that nothing reads", "max is for elastic roles.")
		case ra.IsSet("max") && r.Max < r.Count && ra.OK:
			ra.Fail(ra.At("max"), "Value out of range", "max is %d, but the role %q has %s.", r.Max, r.Name,
				words.Plural(r.Count, "part"))
		case r.Min > r.Count && ra.OK:
			ra.Fail(ra.At("min"), "Value out of range", "min is %d, but the role %q has %s.", r.Min, r.Name,
				words.Plural(r.Count, "part"))
		case r.Elastic:
			r.Min = max(r.Min, 1)
		}
		if r.GPU != "" && r.GPUs == 0 {
			ra.Fail(ra.At("gpu"), "Argument that nothing reads", "The parts of the role %q have no GPUs: set gpus.", r.Name)
		}
		if known := []string{roleServer, roleWorker, roleChief}; j.Builtin != "" &&
			!slices.Contains(known, r.Name) {
			ra.Fail(rn.LabelAt, "Role that the program ignores", "The built-in programs have no role %q, but %s.", r.Name,
				words.AllOf(known))
		}
		a.OK = a.OK && ra.OK
		j.Roles = append(j.Roles, r)
		threads, gpus = threads+r.Count*r.Threads, gpus+r.Count*r.GPUs
	}
	if !a.OK {
		return
	}
	switch workers := count(j.Roles, roleWorker) + count(j.Roles, roleChief); {
	case threads == 0:
		a.Fail(n.Header, "Job without threads", "No part of %s has a thread.", n.Title())
	case threads > schema.MaxThreads:
		a.Fail(n.Header, "Value out of range", "The parts of %s have %d threads, at most %d.", n.Title(), threads,
			schema.MaxThreads)
	case j.Builtin != "" && workers == 0:
		a.Fail(n.Header, "Job without a worker", "%s has nobody who trains: add a role \"worker\".", n.Title())
	case j.Builtin != "" && workers > 1 && count(j.Roles, roleServer) == 0:
		a.Fail(n.Header, "Workers without a parameter server", "%s has %d workers, which need a role \"ps\".", n.Title(),
			workers)
	}
	j.Threads = experiments.Threads{Request: threads, Inter: 1, Intra: threads, Range: eval.RangeOf(n.Header)}
	j.GPUs = gpus
}

// has reports whether a job has a role.
func has(roles []scheduler.Role, name string) bool {
	return slices.ContainsFunc(roles, func(r scheduler.Role) bool { return r.Name == name })
}

// count returns the number of parts of a role.
func count(roles []scheduler.Role, name string) int {
	for _, r := range roles {
		if r.Name == name {
			return r.Count
		}
	}
	return 0
}
