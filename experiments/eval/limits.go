package eval

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/tfexp/tfexp/experiments/schema"
)

// MostSource is the largest size of a file, in bytes. mostWords bounds a file too.
const MostSource = 4 << 20

// Limits of the values in a file. They are far above normal use. They keep a mistake, or a hostile file, from filling
// the memory.
const (
	mostElements = 250_000 // elements of a value, including nested ones
	mostText     = 8 << 20 // bytes of all texts in a value
	mostExponent = 3322    // binary exponent of a number, 1e1000; writing 1e99999999 would take minutes
)

// weight counts the parts of a value, up to just above the limits.
type weight struct {
	elements, text int
	huge           bool // a number in the value is too large
}

// Huge reports whether a value is a number outside the supported range: above 1e1000 or infinite, or below 1e-1000.
func Huge(v cty.Value) bool {
	if v.Type() != cty.Number || v.IsNull() || !v.IsKnown() {
		return false
	}
	v, _ = v.Unmark()
	f := v.AsBigFloat()
	exponent := f.MantExp(nil)
	return exponent > mostExponent || exponent < -mostExponent || f.IsInf()
}

// The HCL library divides by 0: the quotient is infinite, and the remainder is the dividend. It also reads the text
// "Inf" as a number. These operations return errors instead, since a text would contain "+Inf".
func init() {
	for _, op := range []*hclsyntax.Operation{hclsyntax.OpAdd, hclsyntax.OpSubtract, hclsyntax.OpMultiply,
		hclsyntax.OpDivide, hclsyntax.OpModulo, hclsyntax.OpNegate} {
		library := op.Impl
		op.Impl = function.New(&function.Spec{
			Params: library.Params(), Type: function.StaticReturnType(cty.Number),
			Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
				if (op == hclsyntax.OpDivide || op == hclsyntax.OpModulo) && args[1].AsBigFloat().Sign() == 0 {
					return cty.NilVal, errors.New("division by zero")
				}
				v, err := library.Call(args)
				if err == nil && v.AsBigFloat().IsInf() {
					return cty.NilVal, errors.New("the result is infinite")
				}
				return v, err
			},
		})
	}
}

func (w *weight) add(v cty.Value) {
	if w.elements++; w.tooMuch() != "" || v.IsNull() || !v.IsKnown() {
		return
	}
	v, _ = v.Unmark()
	t := v.Type()
	switch {
	case Huge(v):
		w.huge = true
	case t == cty.String:
		w.text += len(v.AsString())
	case t.IsObjectType() || t.IsMapType() || t.IsTupleType() || t.IsListType() || t.IsSetType():
		for it := v.ElementIterator(); it.Next() && w.tooMuch() == ""; {
			k, e := it.Element()
			if k.Type() == cty.String {
				w.text += len(k.AsString())
			}
			w.add(e)
		}
	}
}

// tooMuch names the limit that the weight exceeds, or returns "".
func (w *weight) tooMuch() string {
	switch {
	case w.huge:
		return "a number above 1e1000 or closer to 0 than 1e-1000"
	case w.elements > mostElements:
		return fmt.Sprintf("more than %d elements", mostElements)
	case w.text > mostText:
		return fmt.Sprintf("more than %d MiB of text", mostText>>20)
	}
	return ""
}

// Guard returns a function that works like f, but rejects calls with very large results. It turns panics into errors,
// and adds the results to the effort.
func Guard(name string, f function.Function, made *Effort) function.Function {
	open := func(p function.Parameter) function.Parameter {
		if p.Type.IsListType() {
			p.Type = cty.DynamicPseudoType // listed converts the arguments
		}
		return p
	}
	params, others := slices.Clone(f.Params()), f.VarParam()
	for i, p := range params {
		params[i] = open(p)
	}
	if others != nil {
		p := open(*others)
		others = &p
	}
	return function.New(&function.Spec{
		Params: params, VarParam: others,
		Type: func(args []cty.Value) (cty.Type, error) {
			args, err := listed(f, args)
			if err != nil {
				return cty.NilType, err
			}
			if err := refuse(name, args); err != nil {
				return cty.NilType, err
			}
			t, err := f.ReturnTypeForValues(args)
			return t, inWords(err)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if made.spent() {
				return cty.DynamicVal, nil
			}
			args, err := listed(f, args)
			if err != nil {
				return cty.NilVal, err
			}
			v, err := f.Call(args)
			if err == nil {
				made.made(v)
			}
			if name == "contains" && len(args) > 0 {
				made.elements += length(args[0]) // the call has read all elements
			}
			return v, inWords(err)
		},
	})
}

// mostMixed is the largest length of a tuple with elements of several types that is converted to a list. The time of
// the conversion is quadratic.
const mostMixed = 5000

// mostDistinct is the largest number of elements that are all compared with each other.
const mostDistinct = 10_000

// listed converts the arguments of f to lists where its parameters are lists. The time is linear if all elements have
// the same type, as is usual.
func listed(f function.Function, args []cty.Value) ([]cty.Value, error) {
	args = slices.Clone(args)
	for i := range args {
		var p function.Parameter
		if params := f.Params(); i < len(params) {
			p = params[i]
		} else {
			p = *f.VarParam()
		}
		if !p.Type.IsListType() || args[i].Type() == cty.DynamicPseudoType {
			continue
		}
		if v, ok := likeList(args[i]); ok {
			args[i] = v
		} else if args[i].Type().IsTupleType() && args[i].Type().Length() > mostMixed {
			return nil, function.NewArgErrorf(i, "more than %d elements of several types", mostMixed)
		}
		v, err := convert.Convert(args[i], p.Type)
		if err != nil {
			return nil, function.NewArgError(i, err)
		}
		args[i] = v
	}
	return args, nil
}

// likeList converts a tuple to a list if its elements are of one type.
func likeList(v cty.Value) (list cty.Value, ok bool) {
	if !v.Type().IsTupleType() || v.IsNull() || !v.IsKnown() || v.Type().Length() == 0 {
		return v, false
	}
	v, marks := v.Unmark()
	types := v.Type().TupleElementTypes()
	for _, t := range types {
		if t == cty.DynamicPseudoType || !t.Equals(types[0]) {
			return v.WithMarks(marks), false
		}
	}
	return cty.ListVal(v.AsValueSlice()).WithMarks(marks), true
}

// inWords returns an error that says why a call failed, also if the function panicked or gave no reason.
func inWords(err error) error {
	var panicked function.PanicError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &panicked):
		return errors.New("it has no value for these arguments")
	case err.Error() == "EOF" || err.Error() == "unexpected EOF":
		return errors.New("the text ends too early")
	}
	return err
}

// refuse returns an error for a call whose value would be very large.
func refuse(name string, args []cty.Value) error {
	args = schema.Each(args, func(v cty.Value) cty.Value {
		plain, _ := v.UnmarkDeep()
		return plain
	})
	if slices.ContainsFunc(args, Huge) {
		return errors.New("a number is beyond 1e1000")
	}
	size, most, what := 1.0, mostElements, "elements"
	switch name {
	case "setproduct":
		for _, a := range args {
			size *= float64(length(a))
		}
		size *= float64(len(args))
	case "range":
		if len(args) == 3 && args[2].Type() == cty.Number && args[2].IsKnown() && !args[2].IsNull() &&
			args[2].AsBigFloat().Sign() == 0 {
			return errors.New("the step must not be 0")
		}
	case "distinct":
		if len(args) == 1 && length(args[0]) > mostDistinct {
			return fmt.Errorf("more than %d elements", mostDistinct)
		}
	case "split", "jsondecode":
		if n := len(args); n > 0 && texts(args) {
			size = pieces(name, args)
		}
	case "concat", "flatten":
		var w weight
		for _, a := range args {
			w.add(a)
		}
		size = float64(w.elements)
	case "replace", "join", "format", "formatlist", "jsonencode":
		var w weight
		for _, a := range args {
			w.add(a)
		}
		size, most, what = float64(w.text), mostText, "bytes"
		if name == "replace" && len(args) == 3 && texts(args) {
			size += float64(strings.Count(args[0].AsString(), args[1].AsString()) * len(args[2].AsString()))
		}
		if name == "join" && len(args) > 0 && texts(args[:1]) {
			size += float64(w.elements * len(args[0].AsString()))
		}
		if strings.HasPrefix(name, "format") && len(args) > 0 && texts(args[:1]) {
			calls := 1
			for _, a := range args[1:] {
				calls = max(calls, length(a))
			}
			size += float64(calls) * padding(args[0].AsString())
		}
	}
	if size > float64(most) {
		return fmt.Errorf("it would make more than %d %s", most, what)
	}
	return nil
}

// pieces returns an upper bound on the number of elements into which a function divides a text.
func pieces(name string, args []cty.Value) float64 {
	text := args[len(args)-1].AsString()
	if name == "split" {
		return float64(strings.Count(text, args[0].AsString()) + 1)
	}
	return float64(strings.Count(text, ",") + strings.Count(text, "[") + strings.Count(text, "{") + 1)
}

var verb = regexp.MustCompile(`%[-+ #0]*(?:\[\d+\])?(\d*)(?:\.(\d*))?`)

// padding returns the sum of the widths and precisions in a format.
func padding(format string) (sum float64) {
	for _, found := range verb.FindAllStringSubmatch(format, -1) {
		for _, digits := range found[1:] {
			n, _ := strconv.ParseFloat(digits, 64) // 0 if there are no digits
			sum += n
		}
	}
	return sum
}

// length returns the number of elements, or 1 if the value is not a collection.
func length(v cty.Value) int {
	v, _ = v.Unmark()
	if v.IsNull() || !v.IsKnown() || !v.CanIterateElements() {
		return 1
	}
	return v.LengthInt()
}

// texts reports whether all values are known strings.
func texts(vs []cty.Value) bool {
	return !slices.ContainsFunc(vs, func(v cty.Value) bool {
		return v.IsNull() || !v.IsKnown() || v.Type() != cty.String
	})
}
