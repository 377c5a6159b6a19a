package decode

import (
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// expander turns points of the matrix into cells. It evaluates a block once for each combination of values of the
// axes that the block reads.
type expander struct {
	*matrix
	unknown   *eval.Env // the scope without values of axes
	known     map[*eval.Node]*block
	memory    map[memoKey]any // values of evaluated blocks; nil: the block has an error
	workloads map[memoKey]*experiment.Workload
}

// block holds facts about a job, workload, hardware or policy block that do not depend on a cell.
type block struct {
	reads  []int // indexes of the axes that its own arguments read, ascending
	broken bool
}

type memoKey struct {
	n      *eval.Node
	values string // point.key of the axes that the block reads
}

// newExpander checks each block once with unknown values of the axes. So it finds mistakes also in blocks that no
// cell uses.
func newExpander(m *matrix) *expander {
	x := &expander{
		matrix: m, known: map[*eval.Node]*block{}, memory: map[memoKey]any{},
		workloads: map[memoKey]*experiment.Workload{},
	}
	unknowns := map[string]cty.Value{}
	for _, a := range m.axes {
		if !slices.Contains(matrixKinds, a.name) {
			unknowns[a.name] = eval.Unknown
		}
	}
	for _, name := range language.NamesBeyond(m.root) {
		unknowns[name] = eval.Unknown
	}
	e := m.global.With(unknowns, "")
	x.unknown = e
	for _, kind := range eval.Kinds {
		for _, n := range m.root.All(kind) {
			before := len(m.List)
			switch kind {
			case "job":
				m.blocks.Job(n, e)
			case "workload":
				m.blocks.Workload(n, e)
			case "hardware":
				m.blocks.Hardware(n, e)
			case "policy":
				m.blocks.Policy(n, e)
			}
			x.know(n, before)
		}
	}
	return x
}

// know stores which axes a block reads, and whether evaluating it has reported an error. before is the number of
// reports before the evaluation.
func (x *expander) know(n *eval.Node, before int) {
	m := x.matrix
	b := &block{broken: n.Broken || len(m.List) > before}
	names, _ := eval.NamesRead(n, "each")
	for _, name := range names {
		i := m.axis(name)
		if i == absent && b.broken {
			// The misspelled axis is meant, so it must not be reported as unread too.
			i = m.axis(schema.Nearest(name, schema.Each(m.axes, func(a *axis) string { return a.name })))
		}
		if i == absent || slices.Contains(matrixKinds, m.axes[i].name) {
			continue
		}
		b.reads = schema.AddOnce(b.reads, i)
		m.axes[i].read = m.axes[i].read || b.broken
	}
	slices.Sort(b.reads)
	x.known[n] = b
}

// env returns the scope in which a block is evaluated at a point. It returns false if the point lacks a value.
func (x *expander) env(n *eval.Node, p point) (*eval.Env, bool) {
	reads := x.known[n].reads
	if len(reads) == 0 {
		return x.global, true
	}
	each := make(map[string]cty.Value, len(reads))
	var notes []string
	for _, i := range reads {
		a := x.axes[i]
		if p.at[i] == absent {
			x.Errorf(p.place, "Point without a value", "%s reads each.%s, which this point does not set.", n.Title(), a.name)
			a.read = true
			return nil, false
		}
		each[a.name] = a.values[p.at[i]]
		notes = append(notes, "each."+a.name+" is "+a.texts[p.at[i]])
	}
	return x.global.With(each, " ("+strings.Join(notes, ", ")+")"), true
}

// evaluate returns the value of a block at a point, and stores it; nil if the block has an error.
func evaluate[T any](x *expander, n *eval.Node, p point, decode func(*eval.Node, *eval.Env) (T, bool)) T {
	b := x.known[n]
	var v T
	if b == nil || b.broken {
		return v
	}
	key := memoKey{n, p.key(b.reads)}
	if v, ok := x.memory[key]; ok {
		return v.(T)
	}
	if e, ok := x.env(n, p); ok {
		if got, ok := decode(n, e); ok {
			v = got
		}
	}
	x.memory[key] = v
	return v
}

// workload evaluates a workload at a point, with the jobs that it submits. It also returns the axes that they read.
func (x *expander) workload(n *eval.Node, p point) (*experiment.Workload, []int) {
	raw := evaluate(x, n, p, x.blocks.Workload)
	reads := x.known[n].reads
	if raw == nil {
		// The workload's jobs are unknown because of an error. All axes that jobs read count as read, so that none is
		// reported as unread too.
		for _, j := range x.root.All("job") {
			reads = union(reads, x.known[j].reads)
		}
		return nil, reads
	}
	names := raw.Jobs()
	nodes := make([]*eval.Node, len(names))
	for i, name := range names {
		nodes[i] = x.root.Find("job", name)
		reads = union(reads, x.known[nodes[i]].reads)
	}
	key := memoKey{n, p.key(reads)}
	if w, ok := x.workloads[key]; ok {
		return w, reads
	}
	jobs, good := make([]*experiment.Job, len(nodes)), true
	for i := range nodes {
		jobs[i] = evaluate(x, nodes[i], p, x.blocks.Job)
		good = good && jobs[i] != nil
	}
	var w *experiment.Workload
	if good {
		w = raw.With(jobs)
	}
	x.workloads[key] = w
	return w, reads
}

// expand makes the cells. Points whose blocks read the same values make one cell.
func (x *expander) expand(points []point) []experiment.Cell {
	at := func(kind string) int { return x.axis(kind) }
	iw, ih, ip := at("workload"), at("hardware"), at("policy")
	block := func(p point, kind string, i int) *eval.Node { return x.root.Find(kind, x.axes[i].texts[p.at[i]]) }

	var cells []experiment.Cell
	seen := make(map[string]bool, len(points))
	for _, p := range points {
		if p.at[iw] == absent || p.at[ih] == absent || p.at[ip] == absent {
			continue // all cells are from searches: workloads and policies are missing
		}
		wn, hn, pn := block(p, "workload", iw), block(p, "hardware", ih), block(p, "policy", ip)
		w, reads := x.workload(wn, p)
		h := evaluate(x, hn, p, x.blocks.Hardware)
		pol := evaluate(x, pn, p, x.blocks.Policy)
		reads = union(union(reads, x.known[hn].reads), x.known[pn].reads)
		for _, i := range reads {
			x.axes[i].read = true
		}
		if w == nil || h == nil || pol == nil {
			continue
		}
		key := p.key([]int{iw, ih, ip}) + p.key(reads)
		if seen[key] {
			continue
		}
		seen[key] = true
		c := experiment.Cell{Workload: w, Hardware: h, Policy: pol}
		for _, i := range reads {
			c.Axes = append(c.Axes, schema.Setting{Name: x.axes[i].name, Value: x.axes[i].texts[p.at[i]]})
		}
		cells = append(cells, c)
	}
	return cells
}

// axesRead returns the axes that the cells read, in the order of the file, and reports axes that no cell reads.
func (x *expander) axesRead() []string {
	var names []string
	for _, a := range x.axes {
		switch {
		case slices.Contains(matrixKinds, a.name):
		case a.read:
			names = append(names, a.name)
		default:
			suggestion := ""
			if near := schema.Nearest(a.name, append(slices.Clone(matrixKinds), "zip", "include", "exclude")); near != "" {
				suggestion = near
			}
			x.Suggest(a.at, suggestion, "Unused axis",
				"No block of any cell reads each.%s, so its values would change nothing.", a.name)
		}
	}
	return names
}

// union merges two ascending lists.
func union(a, b []int) []int {
	if len(b) == 0 {
		return a
	}
	merged := append(slices.Clone(a), b...)
	slices.Sort(merged)
	return slices.Compact(merged)
}
