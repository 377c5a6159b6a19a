package validate

import "github.com/tfexp/tfexp/scheduler"

// divided checks what a divided job holds from an event on, and books it: its whole request, in
// equal units, however many on each node, and on several nodes a part on each.
func (v *Validator) divided(e *scheduler.Event, t *traced) {
	j := &v.jobs[e.Job]
	ask := requestOf(j, t.alternative)
	if cores, gpus := e.Cores.Count(), e.GPUs.Count(); cores != ask.Threads || gpus != ask.GPUs {
		v.report(e.At, e.Job, "job %q is given %d cores and %d GPUs instead of %d and %d", j.Name, cores, gpus,
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
			v.report(e.At, e.Job, "job %q has %d cores and %d GPUs on node %d, and asks for %d and %d in all", j.Name, c, g,
				node,
				ask.Threads, ask.GPUs)
		}
	}
	v.covered(e, t)
	if e.Layout != nil && len(e.Layout.Parts) != len(t.nodes) {
		v.report(e.At, e.Job, "job %q has %d parts on %d nodes", j.Name, len(e.Layout.Parts), len(t.nodes))
	}
}

// memoryOfUnits returns what a divided job needs on the i-th of its nodes: the memory of each
// unit, rounded up, for each of its units there.
func (v *Validator) memoryOfUnits(job int, t *traced, i int) int64 {
	ask := requestOf(&v.jobs[job], t.alternative)
	units := int64(ask.Threads)
	for n := int64(1); n <= int64(ask.GPUs); n++ { // the greatest number that divides both
		if n == 1 || int64(ask.GPUs)%n == 0 && int64(ask.Threads)%n == 0 {
			units = n
		}
	}
	return (ask.Memory + units - 1) / units * (int64(t.units[i]) * units / int64(ask.Threads))
}
