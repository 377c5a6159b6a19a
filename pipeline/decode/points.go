package decode

import (
	"encoding/binary"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfexp/tfexp/experiments/eval"
)

// maxPoints is the largest number of points of a matrix, so that a mistyped list does not fill the memory.
const maxPoints = 1_000_000

// point is one point of the matrix: for each axis the index of its value, or absent.
type point struct {
	at    []int
	place hcl.Range // where a missing axis is reported
}

// header returns the place of errors about the matrix as a whole.
func (m *matrix) header() hcl.Range {
	if n := m.root.First("matrix"); n != nil {
		return n.Header
	}
	if n := m.root.First("experiment"); n != nil {
		return n.Header
	}
	return m.root.Header
}

// points returns the combinations of the factors, after exclude and include blocks. It returns false after an error.
func (m *matrix) points() ([]point, bool) {
	place := m.header()
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
		m.Errorf(place, "Empty matrix", "All points of the matrix are excluded.")
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

// include returns the points of an include block that are not in crossed yet.
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
			continue // an error has been reported
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
		if p.at[i] != absent || crossed[kind] == 0 {
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

// exclude is an exclude block. It caches its condition by the values that the condition reads.
type exclude struct {
	*eval.Node
	memo map[string]bool
}

// exclude returns the points at which no exclude block's condition is true.
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
			m.Warnf(x.Header, "Exclude block without effect",
				"Its condition is false at all remaining points of the matrix.")
		}
		points = kept
	}
	return points, good
}

// conditionReads returns the axes on which the condition of an exclude block can depend.
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

// pointEnv returns the scope of conditions. They can read each.<axis>, each.policy (a reference) and policy.name, in
// addition to the references policy.<name>.
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
		all, _ := m.global.Lookup(kind) // unknown kinds have been reported before
		attrs := map[string]cty.Value{}
		for it := all.ElementIterator(); it.Next(); {
			k, v := it.Element()
			attrs[k.AsString()] = v
		}
		if !each[kind].IsNull() {
			attrs["name"] = each[kind].GetAttr("name")
		}
		e.Ctx.Variables[kind] = cty.ObjectVal(attrs)
	}
	return e
}

// key returns a text that identifies the values of the point on some axes.
func (p point) key(axes []int) string {
	key := make([]byte, 0, 8*len(axes))
	for _, i := range axes {
		key = binary.LittleEndian.AppendUint32(key, uint32(i))
		key = binary.LittleEndian.AppendUint32(key, uint32(p.at[i]+1))
	}
	return string(key)
}
