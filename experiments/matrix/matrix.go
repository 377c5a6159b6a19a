// Package matrix expands the matrix of a file: axes into points, points into
// cells. The blocks of a cell are evaluated by what implements Blocks.
package matrix

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/words"
	"github.com/tfexp/tfexp/results/record"
)

// maxPoints bounds the matrix: a slip of the keyboard shall not fill the memory.
const maxPoints = 1_000_000

// matrixKinds are the axes that every matrix has.
var matrixKinds = []string{"workload", "hardware", "policy"}

// axis is one axis of the matrix.
type axis struct {
	name   string
	at     hcl.Range
	values []cty.Value
	texts  []string
	read   bool // by a block of some cell
}

// index returns the place of a value on the axis, adding it when it is new.
func (x *axis) index(v cty.Value) int {
	text := eval.Display(v)
	for i, t := range x.texts {
		if t == text {
			return i
		}
	}
	x.values, x.texts = append(x.values, v), append(x.texts, text)
	return len(x.texts) - 1
}

// absent is the index of a value that a point does not have.
const absent = -1

// point is one point of the matrix: an index of a value for each axis.
type point struct {
	at    []int
	place hcl.Range // what to point to when the point lacks an axis
}

// Blocks evaluates the blocks of a cell. Its methods return false when the block
// has an error, which is reported, or depends on something that has.
type Blocks interface {
	Job(*eval.Node, *eval.Env) (*experiments.Job, bool)
	Workload(*eval.Node, *eval.Env) (Draft, bool)
	Hardware(*eval.Node, *eval.Env) (*experiments.Hardware, bool)
	Policy(*eval.Node, *eval.Env) (*experiments.Policy, bool)
}

// Draft is a workload whose jobs are known by name only, because they may read
// axes that the workload itself does not read.
type Draft interface {
	// Jobs returns the names of the job blocks, some more than once.
	Jobs() []string
	// With returns the workload with its jobs: one for each name.
	With(jobs []*experiments.Job) *experiments.Workload
}

// matrix is the matrix block with its axes evaluated.
type matrix struct {
	*eval.Reporter
	root     *eval.Node
	global   *eval.Env
	blocks   Blocks
	axes     []*axis
	factors  [][]int // axes that advance together, the first factor slowest
	excludes []*exclude
	includes []*eval.Node
}

// axis returns the index of the axis of that name; absent when there is none.
func (m *matrix) axis(name string) int {
	return slices.IndexFunc(m.axes, func(x *axis) bool { return x.name == name })
}

// Expand returns the cells of a file's matrix in the order of the file, each
// once, and the names of the axes that they read. Errors are reported to r.
func Expand(r *eval.Reporter, root *eval.Node, global *eval.Env, blocks Blocks) ([]experiments.Cell, []string) {
	m := &matrix{Reporter: r, root: root, global: global, blocks: blocks}
	good := m.declare()
	x := newExpander(m)
	if !good {
		return nil, nil
	}
	points, good := m.points()
	if !good {
		return nil, nil
	}
	cells := x.expand(points)
	return cells, x.axesRead()
}

// declare evaluates the matrix's axes. It returns false when some are in error.
func (m *matrix) declare() bool {
	good := true
	n := m.root.First("matrix")
	if n == nil {
		n = &eval.Node{}
	}
	type source struct {
		at    hcl.Range
		attrs []*hcl.Attribute
	}
	var sources []source
	for _, a := range n.Attrs {
		sources = append(sources, source{a.NameRange, []*hcl.Attribute{a}})
	}
	for _, z := range n.Blocks {
		if z.Schema.Name == "zip" {
			sources = append(sources, source{z.Header, z.Attrs})
		}
	}
	slices.SortStableFunc(sources, func(a, b source) int { return a.at.Start.Byte - b.at.Start.Byte })
	for _, s := range sources {
		var factor []int
		for _, a := range s.attrs {
			i, ok := m.declareAxis(a)
			if !ok {
				good = false
				continue
			}
			factor = append(factor, i)
			if first := m.axes[factor[0]]; len(first.values) != len(m.axes[i].values) {
				m.Errorf(a.Range, "Zipped lists of different lengths", "%s has %s, but %s has %d.", a.Name, words.Plural(len(m.axes[i].values), "value"), first.name, len(first.values))
				good = false
			}
		}
		if len(factor) > 0 {
			m.factors = append(m.factors, factor)
		} else if len(s.attrs) == 0 {
			m.Errorf(s.at, "Empty zip", "A zip block needs at least one axis.")
			good = false
		}
	}
	// What the matrix leaves out takes all blocks of its kind, and varies slowest.
	var implied [][]int
	var missing []string
	for _, kind := range matrixKinds {
		if m.axis(kind) != absent {
			continue
		}
		x := &axis{name: kind}
		for _, b := range m.root.All(kind) {
			x.index(eval.RefValue(kind, b.Label))
			good = good && b.Label != "" // it lacks its label, which has been reported
		}
		if len(x.values) == 0 {
			missing = append(missing, kind)
		}
		good = good && len(x.values) > 0
		implied = append(implied, []int{len(m.axes)})
		m.axes = append(m.axes, x)
	}
	if e := m.root.First("experiment"); len(missing) > 0 && e != nil {
		m.Errorf(e.Header, "Nothing to run", "The experiment has no %s block, so its matrix is empty.", strings.Join(missing, ", no "))
	}
	m.factors = append(implied, m.factors...)
	for _, b := range n.Blocks {
		switch b.Schema.Name {
		case "include":
			m.includes = append(m.includes, b)
			for _, a := range b.Attrs {
				if m.axis(a.Name) == absent {
					x := &axis{name: a.Name, at: a.NameRange}
					m.axes = append(m.axes, x)
					good = m.freeName(x) && good
				}
			}
		case "exclude":
			m.excludes = append(m.excludes, &exclude{Node: b, memo: map[string]bool{}})
		}
	}
	return good
}

// freeName reports an axis with the name of a column that the tables of
// results have already: its values are a column of them too.
func (m *matrix) freeName(x *axis) bool {
	if slices.Contains(matrixKinds, x.name) || !slices.Contains(record.ColumnNames(), x.name) {
		return true
	}
	x.read = true // one mistake is one message
	m.Errorf(x.at, "Axis with the name of a column", "The tables of results have a column %q already; give the axis another name.", x.name)
	return false
}

func (m *matrix) experimentHeader() hcl.Range {
	if n := m.root.First("experiment"); n != nil {
		return n.Header
	}
	return m.root.Header
}

// declareAxis evaluates one axis and its values.
func (m *matrix) declareAxis(a *hcl.Attribute) (int, bool) {
	if i := m.axis(a.Name); i != absent {
		m.Errorf(a.NameRange, "Duplicate axis", "The matrix has the axis %q at line %d already.", a.Name, m.axes[i].at.Start.Line)
		return 0, false
	}
	x := &axis{name: a.Name, at: a.NameRange}
	m.axes = append(m.axes, x)
	at := len(m.axes) - 1
	if !m.freeName(x) {
		return at, false
	}
	v := m.Eval(a.Expr, m.global)
	switch {
	case !v.IsKnown():
		x.read = true // whether it is, cannot be told
		return at, false
	case v.IsNull() || !eval.IsList(v):
		m.Errorf(a.Expr.Range(), "Wrong type", "An axis is a list of values; this is %s.", eval.Describe(v))
		x.read = true
		return at, false
	case v.LengthInt() == 0:
		m.Errorf(a.Expr.Range(), "Empty matrix", "The axis %q has no values, so the matrix has no cells.", a.Name)
		x.read = true
		return at, false
	}
	good := true
	ranges := eval.ElementRanges(a.Expr, v.LengthInt())
	for it := v.ElementIterator(); it.Next(); {
		_, e := it.Element()
		before := len(x.values)
		switch {
		case !e.IsWhollyKnown():
			good = false
		case slices.Contains(matrixKinds, a.Name) && !m.global.Refers(e, a.Name):
			m.Errorf(ranges[0], "Wrong type", "The axis %q has references, like %s.<name>; this is %s.", a.Name, a.Name, eval.Describe(e))
			good = false
		case x.index(e) != before:
			m.Errorf(ranges[0], "Duplicate value", "The axis %q has the value %s already.", a.Name, eval.Display(e))
			good = false
		}
		ranges = ranges[1:]
	}
	return at, good
}

// points crosses the factors, and applies exclude and include.
func (m *matrix) points() ([]point, bool) {
	place := m.experimentHeader()
	if n := m.root.First("matrix"); n != nil {
		place = n.Header
	}
	size := 1
	for _, f := range m.factors {
		if size *= len(m.axes[f[0]].values); size > maxPoints {
			m.Errorf(place, "Matrix too large", "The matrix has more than %d points.", maxPoints)
			return nil, false
		}
	}
	points := make([]point, 0, size)
	for i := 0; i < size; i++ {
		p := m.blank(place)
		rest := i
		for k := len(m.factors) - 1; k >= 0; k-- {
			n := len(m.axes[m.factors[k][0]].values)
			for _, a := range m.factors[k] {
				p.at[a] = rest % n
			}
			rest /= n
		}
		points = append(points, p)
	}
	crossed := make(map[string]int, len(matrixKinds))
	for _, kind := range matrixKinds {
		crossed[kind] = len(m.axes[m.axis(kind)].values)
	}

	points, good := m.exclude(points)
	for _, n := range m.includes {
		more, ok := m.include(n, crossed)
		points, good = append(points, more...), good && ok
	}
	if good && len(points) == 0 {
		m.Errorf(place, "Empty matrix", "Every point of the matrix is excluded.")
		return nil, false
	}
	return points, good
}

func (m *matrix) blank(place hcl.Range) point {
	p := point{at: make([]int, len(m.axes)), place: place}
	for i := range p.at {
		p.at[i] = absent
	}
	return p
}

// include makes the points of an include block.
func (m *matrix) include(n *eval.Node, crossed map[string]int) ([]point, bool) {
	a := m.EvalArgs(n, m.global)
	p := m.blank(n.Header)
	for _, attr := range n.Attrs {
		i := m.axis(attr.Name)
		if ref, ok := a.Values[attr.Name].(eval.Reference); ok {
			p.at[i] = m.axes[i].index(eval.RefValue(attr.Name, ref.Name))
			continue
		}
		if slices.Contains(matrixKinds, attr.Name) {
			continue // in error
		}
		v := m.Eval(attr.Expr, m.global)
		if !v.IsWhollyKnown() {
			m.axes[i].read = true
			a.OK = false
			continue
		}
		p.at[i] = m.axes[i].index(v)
	}
	if !a.OK {
		return nil, false
	}
	points := []point{p}
	for _, kind := range matrixKinds {
		i := m.axis(kind)
		if p.at[i] != absent {
			continue
		}
		var crossedPoints []point
		for _, q := range points {
			for v := range crossed[kind] {
				q.at = slices.Clone(q.at)
				q.at[i] = v
				crossedPoints = append(crossedPoints, q)
			}
		}
		points = crossedPoints
	}
	return points, true
}

// exclude is an exclude block, with its condition by the values that it reads.
type exclude struct {
	*eval.Node
	memo map[string]bool
}

// exclude returns the points that no exclude block matches.
func (m *matrix) exclude(points []point) ([]point, bool) {
	good := true
	for _, x := range m.excludes {
		attr := x.Attr("when")
		if attr == nil || x.Broken {
			good = false
			continue
		}
		reads := m.conditionReads(attr.Expr)
		kept := points[:0:0]
		for _, p := range points {
			key := p.key(reads)
			match, known := x.memo[key]
			if !known {
				v := m.Condition(attr.Expr, m.pointEnv(p))
				if !v.IsKnown() {
					return points, false
				}
				match = v.True()
				x.memo[key] = match
			}
			if !match {
				kept = append(kept, p)
			}
		}
		if len(kept) == len(points) && len(points) > 0 {
			m.Warnf(x.Header, "Exclude that excludes nothing", "Its condition is true at no point of the matrix that is left here.")
		}
		points = kept
	}
	return points, good
}

// conditionReads returns the axes that an exclude condition can depend on.
func (m *matrix) conditionReads(expr hcl.Expression) []int {
	var reads []int
	for i, x := range m.axes {
		for _, t := range expr.Variables() {
			if t.RootName() == "each" || t.RootName() == x.name {
				reads = append(reads, i)
				break
			}
		}
	}
	return reads
}

// pointEnv lets a condition read the whole point: each.<axis>, each.policy
// (a reference), and policy.name beside the references policy.<name>.
func (m *matrix) pointEnv(p point) *eval.Env {
	each := map[string]cty.Value{}
	for i, x := range m.axes {
		each[x.name] = cty.NullVal(cty.DynamicPseudoType)
		if p.at[i] != absent {
			each[x.name] = x.values[p.at[i]]
		}
	}
	e := m.global.With(each, "")
	for _, kind := range matrixKinds {
		all, _ := m.global.Lookup(kind) // known, or no point would have been made
		attrs := map[string]cty.Value{}
		for it := all.ElementIterator(); it.Next(); {
			k, v := it.Element()
			attrs[k.AsString()] = v
		}
		attrs["name"] = each[kind].GetAttr("name")
		e.Ctx.Variables[kind] = cty.ObjectVal(attrs)
	}
	return e
}

// key identifies the values that a point has on some axes.
func (p point) key(axes []int) string {
	key := make([]byte, 0, 8*len(axes))
	for _, i := range axes {
		key = binary.LittleEndian.AppendUint32(key, uint32(i))
		key = binary.LittleEndian.AppendUint32(key, uint32(p.at[i]+1))
	}
	return string(key)
}
