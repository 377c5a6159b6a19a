package validate

import (
	"slices"
	"strings"

	"github.com/tfexp/tfexp/scheduler"
)

// elastic checks the resources of an elastic job after an event, and records them. It may have any number of GPUs,
// with the requested number of cores for each. Its parts must have all of them.
func (v *Validator) elastic(e *scheduler.Event, t *traced) {
	j := v.job(e.Job)
	cores, gpus := e.Cores.Count(), e.GPUs.Count()
	if each := max(j.Threads/max(j.GPUs, 1), 1); gpus < 1 || cores != each*gpus && (cores != j.Threads || gpus != j.GPUs) {
		v.report(e.At, e.Job, "job %q gets %d cores and %d GPUs, not %d cores for each GPU", j.Name, cores, gpus, each)
	}
	onCores := v.hold(&v.cores, e, e.Cores)
	onGPUs := v.hold(&v.gpus, e, e.GPUs)
	t.nodes = t.nodes[:0]
	for node := range v.cluster.Nodes {
		if onCores[node] == 0 && onGPUs[node] == 0 {
			continue
		}
		t.nodes = append(t.nodes, node)
		v.usable(e, node)
	}
	v.covered(e, t)
}

// covered checks that the parts of a job, if it has parts, have all resources that the job holds.
func (v *Validator) covered(e *scheduler.Event, t *traced) {
	if e.Layout == nil {
		if len(t.nodes) > 1 {
			v.report(e.At, e.Job, "job %q is on %d nodes without parts", v.name(e.Job), len(t.nodes))
		}
		return
	}
	coresOf, gpusOf := map[int]int{}, map[int]int{} // by number of a core or GPU, the index of its part
	for i, p := range e.Layout.Parts {
		v.within(e, &v.cores, p.Cores, i, p.Node, coresOf)
		v.within(e, &v.gpus, p.GPUs, i, p.Node, gpusOf)
	}
	v.together(e, "cores", e.Cores, coresOf)
	v.together(e, "GPUs", e.GPUs, gpusOf)
}

// profiling is the state of samples, from the events so far. It is nil for a policy without samples.
type profiling struct {
	byClass bool
	// sampled has the alternatives with a finished sample, by the name that together returns.
	sampled map[string][]int32
}

// Profiling makes the validator check that jobs run as samples before they run in full: each job, or with byClass
// one job for all jobs of its class that have the same alternatives. Without this call, any sample is a violation.
func (v *Validator) Profiling(byClass bool) { v.profiling = &profiling{byClass, map[string][]int32{}} }

// together returns a name for the group of jobs that share the samples of a job.
func (p *profiling) together(v *Validator, job int) string {
	j := v.job(job)
	if !p.byClass {
		return j.Name
	}
	names := []string{j.Class}
	for _, a := range j.Alternatives() {
		names = append(names, a.Name)
	}
	return strings.Join(names, "\n")
}

// sample checks the end of a sample: the group must not have run one with this alternative before.
func (p *profiling) sample(v *Validator, e *scheduler.Event, t *traced) {
	if p == nil {
		v.report(e.At, e.Job, "job %q runs as a sample, but its policy takes no samples", v.name(e.Job))
		return
	}
	who := p.together(v, e.Job)
	if slices.Contains(p.sampled[who], t.alternative) {
		v.report(e.At, e.Job, "job %q runs as a sample of alternative %d a second time", v.name(e.Job), t.alternative)
	}
	p.sampled[who] = append(p.sampled[who], t.alternative)
}

// finish checks that a finished job had samples before, with each alternative that the cluster has room for.
func (p *profiling) finish(v *Validator, e *scheduler.Event) {
	j, want := v.job(e.Job), 0
	for k := range j.Alternatives() {
		if j.DemandAs(k).FitsOn(v.cluster) {
			want++
		}
	}
	if has := len(p.sampled[p.together(v, e.Job)]); has < max(want, 1) {
		v.report(e.At, e.Job, "job %q finished after only %d of %d samples", j.Name, has, max(want, 1))
	}
}

// holdGPUs records the GPUs that a job holds, which it may share with another job. It returns their number on each
// node.
func (v *Validator) holdGPUs(e *scheduler.Event) []int {
	if e.Beside == nil {
		return v.hold(&v.gpus, e, e.GPUs)
	}
	h := &v.gpus
	h.clear()
	with := e.Beside.Job
	if with < 0 || with >= v.jobs.Len() || with == e.Job {
		v.report(e.At, e.Job, "job %q shares GPUs with job number %d, which does not exist", v.name(e.Job), with)
		return h.byNode
	}
	other := v.life(with)
	switch {
	case other.state != scheduler.Running || !slices.Equal(other.gpus, e.GPUs) || len(e.GPUs) == 0:
		v.report(e.At, e.Job, "job %q shares GPUs %s with %q, which holds other GPUs", v.name(e.Job), e.GPUs,
			v.name(with))
	case !v.knows(e.Job, with) || !v.knows(with, e.Job):
		v.report(e.At, e.Job, "job %q shares GPUs with %q, but its speed together with it is not known", v.name(e.Job), v.name(with))
	}
	if h.second == nil {
		h.second = slices.Repeat([]int32{-1}, len(h.job))
	}
	e.GPUs.Each(func(c int) {
		switch {
		case c >= len(h.job):
			v.report(e.At, e.Job, "job %q gets %s %d, but the cluster has only %d", v.name(e.Job), h.what, c, len(h.job))
			return
		case h.second[c] >= 0:
			v.report(e.At, e.Job, "%s %d is held by three jobs: %q, %q and %q", h.what, c, v.name(int(h.job[c])),
				v.name(int(h.second[c])), v.name(e.Job))
		}
		h.second[c] = int32(e.Job)
		h.count(c)
	})
	return h.byNode
}

// knows reports whether a job may share its GPUs with another job, because its speed together with that job is known.
func (v *Validator) knows(job, with int) bool {
	ways, way := v.job(job).Alternatives(), int(v.life(job).alternative)
	return way < len(ways) && ways[way].Beside[v.job(with).Class] > 0
}

// leave records that a job no longer holds a core or GPU. A job that shared it then has it alone.
func (h *holders) leave(c int, job int32) {
	alone := int32(-1)
	switch {
	case h.second == nil:
	case h.second[c] == job:
		h.second[c] = -1
		return
	case h.job[c] == job:
		alone, h.second[c] = h.second[c], -1
	}
	if h.job[c] == job {
		h.job[c] = alone
	}
}

// divided checks the resources of a divided job after an event, and records them. It must have its whole request in
// equal units, any number on each node. On several nodes it has one part on each.
func (v *Validator) divided(e *scheduler.Event, t *traced) {
	j := v.job(e.Job)
	ask := requestOf(j, t.alternative)
	if cores, gpus := e.Cores.Count(), e.GPUs.Count(); cores != ask.Threads || gpus != ask.GPUs {
		v.report(e.At, e.Job, "job %q gets %d cores and %d GPUs instead of %d cores and %d GPUs", j.Name, cores, gpus,
			ask.Threads, ask.GPUs)
		return
	}
	onCores := v.hold(&v.cores, e, e.Cores)
	onGPUs := v.holdGPUs(e)
	t.nodes, t.units = t.nodes[:0], t.units[:0]
	for _, node := range v.granted() {
		c, g := onCores[node], onGPUs[node]
		t.nodes = append(t.nodes, node)
		t.units = append(t.units, c)
		v.usable(e, node)
		if has := v.cluster.Nodes[node].GPU; ask.GPU != "" && has != ask.GPU {
			v.report(e.At, e.Job, "job %q is on node %d, whose GPUs are of the type %q instead of %q", j.Name, node, has,
				ask.GPU)
		}
		if c*ask.GPUs != g*ask.Threads {
			v.report(e.At, e.Job, "job %q has %d cores and %d GPUs on node %d, which are no whole units of its %d cores and %d GPUs", j.Name, c, g,
				node,
				ask.Threads, ask.GPUs)
		}
	}
	v.covered(e, t)
	if e.Layout != nil && len(e.Layout.Parts) != len(t.nodes) {
		v.report(e.At, e.Job, "job %q has %d parts on %d nodes", j.Name, len(e.Layout.Parts), len(t.nodes))
	}
}

// memoryOfUnits returns the memory that a divided job needs on the i-th of its nodes: the memory of a unit, rounded
// up, × its units there.
func (v *Validator) memoryOfUnits(job int, t *traced, i int) int64 {
	ask := requestOf(v.job(job), t.alternative)
	units := int64(ask.Threads)
	for n := int64(1); n <= int64(ask.GPUs); n++ { // units becomes the greatest common divisor
		if n == 1 || int64(ask.GPUs)%n == 0 && int64(ask.Threads)%n == 0 {
			units = n
		}
	}
	return (ask.Memory + units - 1) / units * (int64(t.units[i]) * units / int64(ask.Threads))
}
