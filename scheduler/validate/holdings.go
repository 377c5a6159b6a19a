package validate

import (
	"slices"

	"github.com/tfexp/tfexp/scheduler"
)

// parts checks that the parts of a job have all resources of its grant, each part on one node. The parts of a job on
// several nodes without roles must be equal, one on each node.
func (v *Validator) parts(e *scheduler.Event, t *traced) {
	if n := v.job(e.Job).Nodes; n <= 1 || e.Layout == nil || len(e.Layout.Parts) != n {
		v.report(e.At, e.Job, "job %q does not have one part on each of its %d nodes", v.name(e.Job), max(n, 1))
		return
	}
	parts := e.Layout.Parts
	onCores, onGPUs := map[int]int{}, map[int]int{} // by number of a core or GPU, the index of its part
	for i, p := range parts {
		if !slices.Contains(t.nodes, p.Node) || i > 0 && p.Node <= parts[i-1].Node {
			v.report(e.At, e.Job, "part %d of job %q is on node %d of %v", i, v.name(e.Job), p.Node, t.nodes)
		}
		if c, g := p.Cores.Count(), p.GPUs.Count(); c != parts[0].Cores.Count() || g != parts[0].GPUs.Count() {
			v.report(e.At, e.Job, "part %d of job %q has %d cores and %d GPUs, unlike part 0", i, v.name(e.Job), c, g)
		}
		v.within(e, &v.cores, p.Cores, i, p.Node, onCores)
		v.within(e, &v.gpus, p.GPUs, i, p.Node, onGPUs)
	}
	v.together(e, "cores", e.Cores, onCores)
	v.together(e, "GPUs", e.GPUs, onGPUs)
}

// within checks that the cores or GPUs of a part are on its node, and belong to no other part.
func (v *Validator) within(e *scheduler.Event, h *holders, set scheduler.CoreSet, part, node int, of map[int]int) {
	set.Each(func(c int) {
		if c >= len(h.node) || int(h.node[c]) != node {
			v.report(e.At, e.Job, "part %d of job %q has %s %d, which is not on its node %d",
				part, v.name(e.Job), h.what, c, node)
		}
		if other, taken := of[c]; taken {
			v.report(e.At, e.Job, "%s %d of job %q belongs to its parts %d and %d", h.what, c, v.name(e.Job), other, part)
		}
		of[c] = part
	})
}

// together checks that the parts have all resources of the job's grant.
func (v *Validator) together(e *scheduler.Event, what string, set scheduler.CoreSet, of map[int]int) {
	same := set.Count() == len(of)
	set.Each(func(c int) {
		_, ok := of[c]
		same = same && ok
	})
	if !same {
		v.report(e.At, e.Job, "the parts of job %q do not hold its %s %s", v.name(e.Job), what, set)
	}
}

// hold records the resources that a job holds, and returns their number on each node. The slice is valid until the
// next call.
func (v *Validator) hold(h *holders, e *scheduler.Event, set scheduler.CoreSet) []int {
	h.clear()
	for _, span := range set {
		for c := int(span.Lo); c < int(span.Hi); c++ {
			if c >= len(h.job) {
				v.report(e.At, e.Job, "job %q gets %s %d, but the cluster has only %d", v.name(e.Job), h.what, c, len(h.job))
				continue
			}
			if h.job[c] >= 0 {
				v.report(e.At, e.Job, "%s %d is held by %q and by %q", h.what, c, v.name(int(h.job[c])), v.name(e.Job))
			}
			h.job[c] = int32(e.Job)
			h.count(c)
		}
	}
	return h.byNode
}

// grantPlain handles the start of a plain job in the usual case: its grant is one span of free cores of one node, as
// many as the job may have. Such a grant breaks no rule of the method grant. In other cases it does nothing and
// returns false.
func (v *Validator) grantPlain(e *scheduler.Event, t *traced) bool {
	if len(e.Cores) != 1 || len(e.GPUs) > 0 || e.Layout != nil || e.Beside != nil || e.Alternative != 0 || v.changes {
		return false
	}
	h, span := &v.cores, e.Cores[0]
	n := span.Hi - span.Lo
	if n < max(t.low, 1) || n > t.high || span.Lo < 0 || int(span.Hi) > len(h.job) ||
		h.node[span.Lo] != h.node[span.Hi-1] { // the cores of a node have consecutive numbers
		return false
	}
	held := h.job[span.Lo:span.Hi]
	for _, job := range held {
		if job >= 0 {
			return false
		}
	}
	for i := range held {
		held[i] = int32(e.Job)
	}
	t.cores, t.gpus, t.nodes = e.Cores, nil, append(t.nodes, int(h.node[span.Lo]))
	return true
}

// clear resets the counts for another grant.
func (h *holders) clear() {
	for _, node := range h.on {
		h.byNode[node] = 0
	}
	h.on = h.on[:0]
}

// count counts a core or GPU of a grant.
func (h *holders) count(c int) {
	node := int(h.node[c])
	if h.byNode[node]++; h.byNode[node] == 1 {
		h.on = append(h.on, node)
	}
}

// granted returns the nodes of the last grant, in ascending order. The slice is valid until the next call.
func (v *Validator) granted() []int {
	if len(v.gpus.on) == 0 && len(v.cores.on) == 1 {
		return v.cores.on
	}
	v.nodes = append(append(v.nodes[:0], v.cores.on...), v.gpus.on...)
	slices.Sort(v.nodes)
	v.nodes = slices.Compact(v.nodes)
	return v.nodes
}

// drop records that a job gives back all resources.
func (v *Validator) drop(e *scheduler.Event, t *traced) {
	v.cores.takeFrom(int32(e.Job), t.cores)
	if len(t.gpus) > 0 {
		v.gpus.takeFrom(int32(e.Job), t.gpus)
	}
	t.cores, t.gpus = nil, nil
}

// takeFrom records that a job gives back a set of cores or GPUs.
func (h *holders) takeFrom(job int32, set scheduler.CoreSet) {
	for _, span := range set {
		for c, end := int(span.Lo), min(int(span.Hi), len(h.job)); c < end; c++ {
			if h.second != nil {
				h.leave(c, job)
			} else if h.job[c] == job {
				h.job[c] = -1
			}
		}
	}
}

func (v *Validator) takeMemory(e *scheduler.Event, t *traced) {
	if !t.memory {
		return
	}
	for i, node := range t.nodes {
		v.memory[node] -= v.memoryOn(e.Job, t, i)
		if v.cluster.Nodes[node].Memory > 0 && v.memory[node] < 0 {
			v.report(e.At, e.Job, "with job %q, the jobs on node %d need %d bytes more than its memory", v.name(e.Job), node, -v.memory[node])
		}
	}
}

func (v *Validator) giveMemory(e *scheduler.Event, t *traced) {
	if !t.memory {
		return
	}
	for i, node := range t.nodes {
		v.memory[node] += v.memoryOn(e.Job, t, i)
	}
}

// memoryOn returns the memory that a job needs on the i-th of its nodes.
func (v *Validator) memoryOn(job int, t *traced, i int) int64 {
	if v.job(job).Divided {
		return v.memoryOfUnits(job, t, i)
	}
	n := int64(max(v.job(job).Nodes, 1))
	return (requestOf(v.job(job), t.alternative).Memory + n - 1) / n
}

func (h *holders) add(node, n int) {
	h.byNode = append(h.byNode, 0)
	for range n {
		h.job = append(h.job, -1)
		h.node = append(h.node, int32(node))
	}
}
