package eval

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/tfexp/tfexp/experiments/schema"
)

// Model is the result of a function of the language: a distribution, estimates with an error, a speed-up curve, a
// lifetime or a price. It has either checked parameters or the name of a file.
type Model struct {
	// Name is the name of the function.
	Name    string
	Numbers []float64
	Spans   []time.Duration
	// File is a path relative to the folder of the experiment file. Only its rows that match Where are used.
	File  string
	Where []schema.Setting
	// Named are names of the file's columns and other settings.
	Named []schema.Setting
}

// Option returns a setting of the file, or `otherwise` if it is not set.
func (m *Model) Option(name, otherwise string) string {
	for _, s := range m.Named {
		if s.Name == name {
			return s.Value
		}
	}
	return otherwise
}

// String returns the model as it is written in a file.
func (m Model) String() string {
	parts := schema.Each(m.Numbers, func(n float64) string { return fmt.Sprintf("%g", n) })
	for _, d := range m.Spans {
		parts = append(parts, schema.FormatDuration(d))
	}
	if m.File != "" {
		parts = append(parts, m.File)
	}
	for _, w := range m.Where {
		parts = append(parts, w.Name+"="+w.Value)
	}
	for _, n := range m.Named {
		parts = append(parts, n.Name+" = "+n.Value)
	}
	return m.Name + "(" + strings.Join(parts, ", ") + ")"
}

var modelType = cty.Capsule("model", reflect.TypeFor[Model]())

// parameter is a parameter of a function: a duration, or a number from 0 to most (above 0 if most is 0).
type parameter struct {
	name, article   string // article stands before the name in messages
	most            float64
	span, mayBeZero bool
}

// modelFunction returns a function that makes a model from numbers and durations.
func modelFunction(name string, params ...parameter) function.Function {
	spec := &function.Spec{Type: function.StaticReturnType(modelType)}
	for _, p := range params {
		of := cty.Number
		if p.span {
			of = cty.String
		}
		spec.Params = append(spec.Params, function.Parameter{Name: p.name, Type: of})
	}
	spec.Impl = func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		m := &Model{Name: name}
		for i, arg := range args {
			p := params[i]
			if !p.span {
				f, _ := arg.AsBigFloat().Float64()
				switch {
				case math.IsInf(f, 0):
					return cty.NilVal, function.NewArgErrorf(i, "the parameter %s must be below 1.8e308", p.name)
				case p.most == 0 && !(f > 0):
					return cty.NilVal, function.NewArgErrorf(i, "the parameter %s must be above 0", p.name)
				case p.most > 0 && (f < 0 || f > p.most):
					return cty.NilVal, function.NewArgErrorf(i, "%s must be from 0 to %g", p.name, p.most)
				}
				m.Numbers = append(m.Numbers, f)
				continue
			}
			d, err := schema.ParseDuration(arg.AsString())
			if err != nil {
				return cty.NilVal, function.NewArgErrorf(i, "%q is not a duration: %s", arg.AsString(), err)
			}
			if d == 0 && !p.mayBeZero {
				return cty.NilVal, function.NewArgErrorf(i, "%s%s must be above 0s", p.article, p.name)
			}
			m.Spans = append(m.Spans, d)
		}
		return cty.CapsuleVal(modelType, m), nil
	}
	return function.New(spec)
}

// fileFunction returns a function whose arguments are a file, a map that selects rows, and a map of settings, such as
// names of columns.
func fileFunction(name string, settings ...string) function.Function {
	return function.New(&function.Spec{
		Params:   []function.Parameter{{Name: "file", Type: cty.String}},
		VarParam: &function.Parameter{Name: "where", Type: cty.DynamicPseudoType},
		Type:     function.StaticReturnType(modelType),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			m := &Model{Name: name, File: args[0].AsString()}
			if len(args) > 3 {
				return cty.NilVal, function.NewArgErrorf(3, "its arguments are a file, a map that selects rows and a map of the "+
					"columns' names, and no others")
			}
			for i, list := range args[1:] {
				if t := list.Type(); list.IsNull() || !t.IsObjectType() && !t.IsMapType() {
					return cty.NilVal, function.NewArgErrorf(i+1, "%s are a map from columns to texts",
						[]string{"the selected rows", "the names of columns"}[i])
				}
				if !list.IsWhollyKnown() { // such as each.zone before the cells are made
					return cty.UnknownVal(modelType), nil
				}
				for it := list.ElementIterator(); it.Next(); {
					k, v := it.Element() // in the order of keys
					s := schema.Setting{Name: k.AsString(), Value: Display(v)}
					switch {
					case i == 0:
						m.Where = append(m.Where, s)
					case !slices.Contains(settings, s.Name):
						return cty.NilVal, function.NewArgErrorf(i+1, "%s has no column or setting %q; it has %s", name, s.Name,
							strings.Join(settings, ", "))
					default:
						m.Named = append(m.Named, s)
					}
				}
			}
			return cty.CapsuleVal(modelType, m), nil
		},
	})
}

// ModelOf returns the model in a value, if one of the named functions has made it.
func ModelOf(v cty.Value, names ...string) (m Model, ok bool) {
	if !v.Type().Equals(modelType) || v.IsNull() {
		return m, false
	}
	m = *v.EncapsulatedValue().(*Model)
	return m, slices.Contains(names, m.Name)
}

// life reads a distribution of lifetimes.
func (a *Args) life(arg *schema.Arg, at hcl.Range, v cty.Value) (any, bool) {
	if m, ok := ModelOf(v, "exponential", "weibull", "bathtub", "survival", "availability"); ok {
		return m, true
	}
	return a.WrongType(arg, at, v, "a distribution of lives, like exponential(\"2h\") or survival(\"lives.csv\")")
}

// price reads a price in dollars per hour.
func (a *Args) price(arg *schema.Arg, at hcl.Range, v cty.Value) (any, bool) {
	m, ok := ModelOf(v, "prices", "catalogue")
	if ok {
		return m, true
	}
	if m.Name != "" {
		return a.WrongType(arg, at, v, "a number, prices(…) or catalogue(…)")
	}
	n, ok := a.Number(arg, at, v)
	if !ok {
		return nil, false
	}
	return Model{Name: "price", Numbers: []float64{n.(float64)}}, true
}
