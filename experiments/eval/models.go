package eval

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/experiments/units"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// Model is what a function says that describes a life or a price: its parameters, or
// the file that has them.
type Model struct {
	// Name is the function.
	Name    string
	Numbers []float64
	Spans   []time.Duration
	// File is relative to the folder of the experiment file; of it the rows count that
	// have the texts of Where.
	File  string
	Where []experiments.Setting
	// Named are the names of columns, and other settings of the file.
	Named []experiments.Setting
}

// Option returns a setting of the file, or a default.
func (m *Model) Option(name, otherwise string) string {
	for _, s := range m.Named {
		if s.Name == name {
			return s.Value
		}
	}
	return otherwise
}

// String writes the model as a file has it.
func (m Model) String() string {
	var parts []string
	for _, n := range m.Numbers {
		parts = append(parts, fmt.Sprintf("%g", n))
	}
	for _, d := range m.Spans {
		parts = append(parts, units.FormatDuration(d))
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

// lifeFunction makes a life from numbers above 0 and then durations above 0s.
func lifeFunction(name string, numbers, spans []string) function.Function {
	spec := &function.Spec{Type: function.StaticReturnType(modelType)}
	for _, p := range numbers {
		spec.Params = append(spec.Params, function.Parameter{Name: p, Type: cty.Number})
	}
	for _, p := range spans {
		spec.Params = append(spec.Params, function.Parameter{Name: p, Type: cty.String})
	}
	spec.Impl = func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		m := &Model{Name: name}
		for i, arg := range args {
			if i < len(numbers) {
				f, _ := arg.AsBigFloat().Float64()
				if !(f > 0) {
					return cty.NilVal, function.NewArgErrorf(i, "%s must be above 0", numbers[i])
				}
				m.Numbers = append(m.Numbers, f)
				continue
			}
			d, err := units.ParseDuration(arg.AsString())
			if err != nil {
				return cty.NilVal, function.NewArgErrorf(i, "%q is not a duration: %s", arg.AsString(), err)
			}
			if d == 0 {
				return cty.NilVal, function.NewArgErrorf(i, "%s must be above 0s", spans[i-len(numbers)])
			}
			m.Spans = append(m.Spans, d)
		}
		return cty.CapsuleVal(modelType, m), nil
	}
	return function.New(spec)
}

// fileFunction names a file, the rows of it that count, and settings: what its columns
// are called, and others that it has.
func fileFunction(name string, settings ...string) function.Function {
	return function.New(&function.Spec{
		Params:   []function.Parameter{{Name: "file", Type: cty.String}},
		VarParam: &function.Parameter{Name: "where", Type: cty.DynamicPseudoType},
		Type:     function.StaticReturnType(modelType),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			m := &Model{Name: name, File: args[0].AsString()}
			if len(args) > 3 {
				return cty.NilVal, function.NewArgErrorf(3, "there is a file, a map of the rows that count and a map of the "+
					"columns' names, and no more")
			}
			for i, list := range args[1:] {
				if t := list.Type(); list.IsNull() || !t.IsObjectType() && !t.IsMapType() {
					return cty.NilVal, function.NewArgErrorf(i+1, "%s are a map from columns to texts",
						[]string{"the rows that count", "the names of columns"}[i])
				}
				for it := list.ElementIterator(); it.Next(); {
					k, v := it.Element() // in the order of the keys
					s := experiments.Setting{Name: k.AsString(), Value: Display(v)}
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

// model reads a life or a price that a function describes.
func (a *Args) model(arg *schema.Arg, at hcl.Range, v cty.Value, wanted string, names ...string) (any, bool) {
	if v.Type().Equals(modelType) && !v.IsNull() {
		m := *v.EncapsulatedValue().(*Model)
		for _, name := range names {
			if m.Name == name {
				return m, true
			}
		}
	}
	return a.wrongType(arg, at, v, wanted)
}

// life reads a distribution of lives.
func (a *Args) life(arg *schema.Arg, at hcl.Range, v cty.Value) (any, bool) {
	if v.Type().Equals(gapType) && !v.IsNull() {
		if g := v.EncapsulatedValue().(*workload.Arrivals); g.Kind == workload.Exponential {
			return Model{Name: "exponential", Spans: []time.Duration{g.Mean}}, true
		}
	}
	return a.model(arg, at, v, "a distribution of lives, like exponential(\"2h\") or survival(\"lives.csv\")",
		"weibull", "bathtub", "survival", "availability")
}

// price reads dollars an hour.
func (a *Args) price(arg *schema.Arg, at hcl.Range, v cty.Value) (any, bool) {
	if v.Type().Equals(modelType) {
		return a.model(arg, at, v, "a number, prices(…) or catalogue(…)", "prices", "catalogue")
	}
	n, ok := a.Number(arg, at, v)
	if !ok {
		return nil, false
	}
	return Model{Name: "price", Numbers: []float64{n.(float64)}}, true
}
