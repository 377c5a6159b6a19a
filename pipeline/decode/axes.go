package decode

import (
	"slices"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/language"
)

// absent is the index of a missing axis, and of a missing value of an axis.
const absent = -1

// axis is one axis of the matrix.
type axis struct {
	name   string
	at     hcl.Range
	values []cty.Value
	texts  []string
	places map[string]int // text of a value → its index in values
	read   bool           // a block of some cell reads each.<axis>
}

// index returns the index of a value on the axis, and adds the value if it is new.
func (x *axis) index(v cty.Value) int {
	text := eval.Display(v)
	if i, ok := x.places[text]; ok {
		return i
	}
	if x.places == nil {
		x.places = map[string]int{}
	}
	x.places[text] = len(x.texts)
	x.values, x.texts = append(x.values, v), append(x.texts, text)
	return len(x.texts) - 1
}

// axis returns the index of the axis with this name, or absent.
func (m *matrix) axis(name string) int {
	return slices.IndexFunc(m.axes, func(x *axis) bool { return x.name == name })
}

// declareAxes evaluates the axes of the matrix, and finds its include and exclude blocks. It returns false after an
// error.
func (m *matrix) declareAxes() bool {
	good := m.declareFactors()
	good = m.declareImplied() && good
	for _, b := range m.node.Blocks {
		switch b.Schema.Name {
		case "include":
			m.includes = append(m.includes, b)
			good = m.declareIncluded(b) && good
		case "exclude":
			m.excludes = append(m.excludes, &exclude{Node: b, memo: map[string]bool{}})
		}
	}
	return good
}

// declareFactors evaluates the axes that are arguments of the matrix or of its zip blocks, in the order of the file.
func (m *matrix) declareFactors() bool {
	type factor struct {
		at    hcl.Range
		attrs []*hcl.Attribute
	}
	var factors []factor
	for _, a := range m.node.Attrs {
		factors = append(factors, factor{a.NameRange, []*hcl.Attribute{a}})
	}
	for _, z := range m.node.All("zip") {
		factors = append(factors, factor{z.Header, z.Attrs})
	}
	slices.SortStableFunc(factors, func(a, b factor) int { return a.at.Start.Byte - b.at.Start.Byte })

	good := true
	for _, f := range factors {
		if len(f.attrs) == 0 {
			m.Errorf(f.at, "Empty zip", "A zip block needs at least one axis.")
			good = false
		}
		good = m.declareFactor(f.attrs) && good
	}
	return good
}

// declareFactor evaluates the axes of one factor, whose values advance together.
func (m *matrix) declareFactor(attrs []*hcl.Attribute) bool {
	good := true
	var factor []int
	for _, a := range attrs {
		i, ok := m.declareAxis(a)
		if !ok {
			good = false
			continue
		}
		factor = append(factor, i)
		if first := m.axes[factor[0]]; len(first.values) != len(m.axes[i].values) {
			m.Errorf(a.Range, "Zipped lists of different lengths", "%s has %s, but %s has %d.",
				a.Name, schema.Plural(len(m.axes[i].values), "value"), first.name, len(first.values))
			good = false
		}
	}
	if len(factor) > 0 {
		m.factors = append(m.factors, factor)
	}
	return good
}

// declareImplied adds the axes workload, hardware and policy that the matrix does not set. Their values are all
// blocks of that type, and they vary slowest.
func (m *matrix) declareImplied() bool {
	good := true
	var implied [][]int
	var missing []string
	var empty int
	spared := language.Spared(m.root)
	for _, kind := range matrixKinds {
		if m.axis(kind) != absent {
			continue
		}
		x := &axis{name: kind}
		for _, b := range m.root.All(kind) {
			x.index(eval.RefValue(kind, b.Label))
			good = good && b.Label != "" // a missing label has been reported already
		}
		if len(x.values) == 0 {
			m.axes = append(m.axes, x)
			empty++
			if !slices.Contains(spared, kind) {
				missing = append(missing, kind)
			}
			continue
		}
		implied = append(implied, []int{len(m.axes)})
		m.axes = append(m.axes, x)
	}
	if e := m.root.First("experiment"); len(missing) > 0 && e != nil {
		m.Errorf(e.Header, "Nothing to run", "The experiment has no %s block, so its matrix is empty.",
			strings.Join(missing, ", no "))
	}
	m.factors = append(implied, m.factors...)
	return good && len(missing) == 0 && empty < len(matrixKinds)
}

// declareIncluded adds the axes that only an include block sets.
func (m *matrix) declareIncluded(include *eval.Node) bool {
	good := true
	for _, a := range include.Attrs {
		if m.axis(a.Name) == absent {
			x := &axis{name: a.Name, at: a.NameRange}
			m.axes = append(m.axes, x)
			good = m.freeName(x) && good
		}
	}
	return good
}

// declareAxis evaluates an axis and returns its index. The second result is false after an error.
func (m *matrix) declareAxis(a *hcl.Attribute) (int, bool) {
	if i := m.axis(a.Name); i != absent {
		m.Errorf(a.NameRange, "Duplicate axis", "The matrix already has the axis %q, at line %d.",
			a.Name, m.axes[i].at.Start.Line)
		return 0, false
	}
	x := &axis{name: a.Name, at: a.NameRange}
	m.axes = append(m.axes, x)
	return len(m.axes) - 1, m.freeName(x) && m.axisValues(x, a.Expr)
}

// axisValues evaluates the values of an axis. It returns false after an error.
func (m *matrix) axisValues(x *axis, expr hcl.Expression) bool {
	v := m.Eval(expr, m.global)
	known := v.IsKnown() && !v.IsNull() && eval.IsList(v) && v.LengthInt() > 0
	x.read = x.read || !known // an axis with an error is not reported as unused too
	switch {
	case known:
	case !v.IsKnown(): // the unknown value has been reported
		return false
	case v.IsNull() || !eval.IsList(v):
		m.Errorf(expr.Range(), "Wrong type", "An axis is a list of values; this is %s.", eval.Describe(v))
		return false
	default:
		m.Errorf(expr.Range(), "Empty matrix", "The axis %q has no values, so the matrix has no cells.", x.name)
		return false
	}
	good := true
	ranges := eval.ElementRanges(expr, v.LengthInt())
	for it := v.ElementIterator(); it.Next(); {
		_, e := it.Element()
		before := len(x.values)
		switch {
		case !e.IsWhollyKnown():
			good = false
		case slices.Contains(matrixKinds, x.name) && !m.global.Refers(e, x.name):
			m.Errorf(ranges[0], "Wrong type", "The axis %q is a list of references, like %s.<name>; this is %s.",
				x.name, x.name, eval.Describe(e))
			good = false
		case strings.ContainsFunc(eval.Display(e), unicode.IsControl):
			m.Errorf(ranges[0], "Control character",
				"A value of the axis %q has a control character; values name cells, folders and columns.", x.name)
			good = false
		case x.index(e) != before:
			m.Errorf(ranges[0], "Duplicate value", "The axis %q already has the value %s.", x.name, eval.Display(e))
			good = false
		}
		ranges = ranges[1:]
	}
	return good
}

// freeName reports an axis with the name of a column of the result tables. The values of an axis are a column of
// these tables too.
func (m *matrix) freeName(x *axis) bool {
	if slices.Contains(matrixKinds, x.name) || !slices.Contains(record.ColumnNames(), x.name) {
		return true
	}
	x.read = true // one mistake gives one message
	m.Errorf(x.at, "Axis with the name of a column",
		"The tables of results already have a column %q; give the axis another name.", x.name)
	return false
}
