package validate

import "github.com/tfexp/tfexp/scheduler"

// elastic checks what an elastic job holds from an event on, and books it: any number of
// GPUs, with as many cores beside each as it has asked for, and parts that are together all
// of it.
func (v *Validator) elastic(e *scheduler.Event, t *traced) {
	j := &v.jobs[e.Job]
	cores, gpus := e.Cores.Count(), e.GPUs.Count()
	if each := max(j.Threads/max(j.GPUs, 1), 1); gpus < 1 || cores != each*gpus && (cores != j.Threads || gpus != j.GPUs) {
		v.report(e.At, e.Job, "job %q is given %d cores and %d GPUs, not %d for each", j.Name, cores, gpus, each)
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

// covered checks that the parts of a job, if it has some, are together all that it holds.
func (v *Validator) covered(e *scheduler.Event, t *traced) {
	if e.Layout == nil {
		if len(t.nodes) > 1 {
			v.report(e.At, e.Job, "job %q is on %d nodes without parts", v.name(e.Job), len(t.nodes))
		}
		return
	}
	coresOf, gpusOf := map[int]int{}, map[int]int{} // the part of each core and GPU
	for i, p := range e.Layout.Parts {
		v.within(e, &v.cores, p.Cores, i, p.Node, coresOf)
		v.within(e, &v.gpus, p.GPUs, i, p.Node, gpusOf)
	}
	v.together(e, "cores", e.Cores, coresOf)
	v.together(e, "GPUs", e.GPUs, gpusOf)
}
