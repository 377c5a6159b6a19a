package experiments

import (
	"encoding/binary"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

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
	text := display(v)
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

// matrix is the matrix block with its axes evaluated.
type matrix struct {
	*decoder
	axes     []*axis
	factors  [][]int // axes that advance together, the first factor slowest
	excludes []*exclude
	includes []*node
}

// axis returns the index of the axis of that name; absent when there is none.
func (m *matrix) axis(name string) int {
	return slices.IndexFunc(m.axes, func(x *axis) bool { return x.name == name })
}

// cells expands the matrix. It returns the cells in the order of the file,
// each once, and the names of the axes that they read.
func (d *decoder) cells() ([]Cell, []string) {
	m := &matrix{decoder: d}
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
	n := m.root.first("matrix")
	if n == nil {
		n = &node{}
	}
	type source struct {
		at    hcl.Range
		attrs []*hcl.Attribute
	}
	var sources []source
	for _, a := range n.attrs {
		sources = append(sources, source{a.NameRange, []*hcl.Attribute{a}})
	}
	for _, z := range n.blocks {
		if z.schema.Name == "zip" {
			sources = append(sources, source{z.header, z.attrs})
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
				m.errorf(a.Range, "Zipped lists of different lengths", "%s has %s, but %s has %d.", a.Name, plural(len(m.axes[i].values), "value"), first.name, len(first.values))
				good = false
			}
		}
		if len(factor) > 0 {
			m.factors = append(m.factors, factor)
		} else if len(s.attrs) == 0 {
			m.errorf(s.at, "Empty zip", "A zip block needs at least one axis.")
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
		for _, b := range m.root.all(kind) {
			x.index(refValue(kind, b.label))
			good = good && b.label != "" // it lacks its label, which has been reported
		}
		if len(x.values) == 0 {
			missing = append(missing, kind)
		}
		good = good && len(x.values) > 0
		implied = append(implied, []int{len(m.axes)})
		m.axes = append(m.axes, x)
	}
	if e := m.root.first("experiment"); len(missing) > 0 && e != nil {
		m.errorf(e.header, "Nothing to run", "The experiment has no %s block, so its matrix is empty.", strings.Join(missing, ", no "))
	}
	m.factors = append(implied, m.factors...)
	for _, b := range n.blocks {
		switch b.schema.Name {
		case "include":
			m.includes = append(m.includes, b)
			for _, a := range b.attrs {
				if m.axis(a.Name) == absent {
					x := &axis{name: a.Name, at: a.NameRange}
					m.axes = append(m.axes, x)
					good = m.freeName(x) && good
				}
			}
		case "exclude":
			m.excludes = append(m.excludes, &exclude{node: b, memo: map[string]bool{}})
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
	m.errorf(x.at, "Axis with the name of a column", "The tables of results have a column %q already; give the axis another name.", x.name)
	return false
}

func (m *matrix) experimentHeader() hcl.Range {
	if n := m.root.first("experiment"); n != nil {
		return n.header
	}
	return m.root.header
}

// declareAxis evaluates one axis and its values.
func (m *matrix) declareAxis(a *hcl.Attribute) (int, bool) {
	if i := m.axis(a.Name); i != absent {
		m.errorf(a.NameRange, "Duplicate axis", "The matrix has the axis %q at line %d already.", a.Name, m.axes[i].at.Start.Line)
		return 0, false
	}
	x := &axis{name: a.Name, at: a.NameRange}
	m.axes = append(m.axes, x)
	at := len(m.axes) - 1
	if !m.freeName(x) {
		return at, false
	}
	v := m.eval(a.Expr, m.global)
	switch {
	case !v.IsKnown():
		x.read = true // whether it is, cannot be told
		return at, false
	case v.IsNull() || !isList(v):
		m.errorf(a.Expr.Range(), "Wrong type", "An axis is a list of values; this is %s.", describe(v))
		x.read = true
		return at, false
	case v.LengthInt() == 0:
		m.errorf(a.Expr.Range(), "Empty matrix", "The axis %q has no values, so the matrix has no cells.", a.Name)
		x.read = true
		return at, false
	}
	good := true
	ranges := elementRanges(a.Expr, v.LengthInt())
	for it := v.ElementIterator(); it.Next(); {
		_, e := it.Element()
		before := len(x.values)
		switch {
		case !e.IsWhollyKnown():
			good = false
		case slices.Contains(matrixKinds, a.Name) && !m.global.refers(e, a.Name):
			m.errorf(ranges[0], "Wrong type", "The axis %q has references, like %s.<name>; this is %s.", a.Name, a.Name, describe(e))
			good = false
		case x.index(e) != before:
			m.errorf(ranges[0], "Duplicate value", "The axis %q has the value %s already.", a.Name, display(e))
			good = false
		}
		ranges = ranges[1:]
	}
	return at, good
}

// points crosses the factors, and applies exclude and include.
func (m *matrix) points() ([]point, bool) {
	place := m.experimentHeader()
	if n := m.root.first("matrix"); n != nil {
		place = n.header
	}
	size := 1
	for _, f := range m.factors {
		if size *= len(m.axes[f[0]].values); size > maxPoints {
			m.errorf(place, "Matrix too large", "The matrix has more than %d points.", maxPoints)
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
		m.errorf(place, "Empty matrix", "Every point of the matrix is excluded.")
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
func (m *matrix) include(n *node, crossed map[string]int) ([]point, bool) {
	a := m.evalArgs(n, m.global)
	p := m.blank(n.header)
	for _, attr := range n.attrs {
		i := m.axis(attr.Name)
		if ref, ok := a.values[attr.Name].(reference); ok {
			p.at[i] = m.axes[i].index(refValue(attr.Name, ref.name))
			continue
		}
		if slices.Contains(matrixKinds, attr.Name) {
			continue // in error
		}
		v := m.eval(attr.Expr, m.global)
		if !v.IsWhollyKnown() {
			m.axes[i].read = true
			a.ok = false
			continue
		}
		p.at[i] = m.axes[i].index(v)
	}
	if !a.ok {
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
	*node
	memo map[string]bool
}

// exclude returns the points that no exclude block matches.
func (m *matrix) exclude(points []point) ([]point, bool) {
	good := true
	for _, x := range m.excludes {
		attr := x.attr("when")
		if attr == nil || x.broken {
			good = false
			continue
		}
		reads := m.conditionReads(attr.Expr)
		kept := points[:0:0]
		for _, p := range points {
			key := p.key(reads)
			match, known := x.memo[key]
			if !known {
				v := m.condition(attr.Expr, m.pointEnv(p))
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
			m.warnf(x.header, "Exclude that excludes nothing", "Its condition is true at no point of the matrix that is left here.")
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
func (m *matrix) pointEnv(p point) *env {
	each := map[string]cty.Value{}
	for i, x := range m.axes {
		each[x.name] = cty.NullVal(cty.DynamicPseudoType)
		if p.at[i] != absent {
			each[x.name] = x.values[p.at[i]]
		}
	}
	e := m.global.with(each, "")
	for _, kind := range matrixKinds {
		all, _ := m.global.lookup(kind) // known, or no point would have been made
		attrs := map[string]cty.Value{}
		for it := all.ElementIterator(); it.Next(); {
			k, v := it.Element()
			attrs[k.AsString()] = v
		}
		attrs["name"] = each[kind].GetAttr("name")
		e.ctx.Variables[kind] = cty.ObjectVal(attrs)
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
