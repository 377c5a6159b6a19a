package eval

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/schema"
)

// Converter converts a value to the Go value of an argument. If that is not possible, it reports an error and returns
// false.
type Converter func(a *Args, arg *schema.Arg, expr hcl.Expression, v cty.Value) (any, bool)

// converters are the converters of types that other packages define.
var converters = map[schema.Type]Converter{}

// Register sets the converter for a type of arguments.
func Register(of schema.Type, c Converter) bool {
	converters[of] = c
	return true
}

// convert converts a value to the Go value of the argument's type. It returns false if the value is unknown, or if it
// is wrong, which it reports.
func (a *Args) convert(arg *schema.Arg, expr hcl.Expression, v cty.Value) (any, bool) {
	if !v.IsWhollyKnown() {
		return nil, false
	}
	at := expr.Range()
	if kind := arg.Type.ReferenceKind(); kind != "" {
		return a.reference(arg, at, v, kind)
	}
	if other := converters[arg.Type]; other != nil {
		return other(a, arg, expr, v)
	}
	switch arg.Type {
	case schema.String:
		return a.text(arg, at, v)
	case schema.Integer:
		return a.Integer(arg, at, v)
	case schema.Number:
		return a.Number(arg, at, v)
	case schema.Share:
		return a.share(arg, at, v)
	case schema.Bool:
		return a.truth(arg, at, v)
	case schema.Duration:
		return a.Duration(arg, at, v)
	case schema.Size:
		return a.size(arg, at, v)
	case schema.Estimates:
		return a.estimates(arg, at, v)
	case schema.Strings:
		if v.Type() == cty.String && v.IsKnown() && !v.IsNull() && !v.IsMarked() { // a command line as for a shell
			words := strings.Fields(v.AsString())
			for i, w := range words {
				words[i] = Literal(w)
			}
			written := "[" + strings.Join(words, ", ") + "]"
			return a.Wrong(at, "", "Wrong type", "%s must be a list of strings, such as %s; this is %s.", arg.Name, written,
				Describe(v))
		}
		return list[string](a, arg, expr, v, a.text)
	case schema.Integers:
		return list[int](a, arg, expr, v, a.Integer)
	case schema.Instants:
		return a.instants(arg, expr, v)
	case schema.StringMap:
		return a.stringMap(arg, expr, v)
	case schema.Baseline:
		return a.baseline(arg, at, v)
	case schema.JobMap:
		return a.jobMap(arg, expr, v)
	case schema.Life:
		return a.life(arg, at, v)
	case schema.Price:
		return a.price(arg, at, v)
	}
	return v, true
}

func (a *Args) truth(arg *schema.Arg, at hcl.Range, v cty.Value) (any, bool) {
	b, err := convert.Convert(v, cty.Bool)
	if err != nil || b.IsNull() {
		return a.WrongType(arg, at, v, "true or false")
	}
	return b.True(), true
}

// instants reads a list of durations, or one duration.
func (a *Args) instants(arg *schema.Arg, expr hcl.Expression, v cty.Value) (any, bool) {
	if IsList(v) {
		return list[time.Duration](a, arg, expr, v, a.Duration)
	}
	d, ok := a.Duration(arg, expr.Range(), v)
	if !ok {
		return nil, false
	}
	return []time.Duration{d.(time.Duration)}, true
}

// estimates reads the source of estimates: a name, or a function such as noisy(…).
func (a *Args) estimates(arg *schema.Arg, at hcl.Range, v cty.Value) (any, bool) {
	if m, ok := ModelOf(v, "noisy", "online"); ok {
		return Estimates{Name: m.Name, Sigma: m.Numbers[0]}, true
	}
	if v.Type() != cty.String {
		return a.WrongType(arg, at, v, "a name in quotes, noisy(…) or online(…)")
	}
	s, ok := a.text(arg, at, v)
	if !ok {
		return nil, false
	}
	return Estimates{Name: s.(string)}, true
}

func (a *Args) WrongType(arg *schema.Arg, at hcl.Range, v cty.Value, wanted string) (any, bool) {
	return a.Wrong(at, "", "Wrong type", "%s must be %s; this is %s.", arg.Name, wanted, Describe(v))
}

// Describe describes a value with its type for messages, such as `the string "x"` or `a list`.
func Describe(v cty.Value) string {
	t := v.Type()
	switch {
	case v.IsMarked():
		return "a sensitive value"
	case v.IsNull():
		return "null"
	case t == cty.String:
		return fmt.Sprintf("the string %q", v.AsString())
	case t.IsPrimitiveType():
		return "the " + t.FriendlyName() + " " + Display(v)
	case t.Equals(refType) && v.GetAttr("kind").IsKnown() && !v.GetAttr("kind").IsNull():
		return v.GetAttr("kind").AsString() + "." + Display(v)
	case t.Equals(modelType):
		return Display(v)
	case IsList(v):
		return "a list"
	}
	return "an object"
}

// IsMap reports whether a value is a map or an object, and no reference.
func IsMap(v cty.Value) bool {
	t := v.Type()
	return !v.IsNull() && (t.IsObjectType() || t.IsMapType()) && !t.Equals(refType)
}

// IsList reports whether a value is a list, a tuple or a set.
func IsList(v cty.Value) bool {
	t := v.Type()
	return t.IsTupleType() || t.IsListType() || t.IsSetType()
}

func (a *Args) text(arg *schema.Arg, at hcl.Range, v cty.Value) (any, bool) {
	if v.IsMarked() {
		return a.hidden(arg, at, v)
	}
	s, err := convert.Convert(v, cty.String)
	if err != nil || s.IsNull() {
		return a.WrongType(arg, at, v, "a string")
	}
	text := s.AsString()
	if strings.ContainsRune(text, 0) {
		return a.Wrong(at, "", "Control character", "%s has a NUL character, which no program and no file can take.",
			arg.Name)
	}
	if arg.Allowed != nil && !slices.Contains(arg.Allowed, text) {
		what := arg.Name
		if arg.Type != schema.String && arg.Type != schema.Estimates {
			what = "value" // names one of the allowed values
		}
		return a.Wrong(at, schema.Nearest(text, arg.Allowed), fmt.Sprintf("Unknown %s %q", what, text),
			"It is one of %s.", schema.OneOf(arg.Allowed))
	}
	return text, true
}

func (a *Args) Number(arg *schema.Arg, at hcl.Range, v cty.Value) (any, bool) {
	n, err := convert.Convert(v, cty.Number)
	if err != nil || n.IsNull() || n.AsBigFloat().IsInf() { // the string "Inf" is converted to an infinite number
		return a.WrongType(arg, at, v, "a number")
	}
	f, _ := n.AsBigFloat().Float64()
	return f, a.inBounds(arg, at, n, big.NewFloat(f), math.MaxFloat64)
}

func (a *Args) Integer(arg *schema.Arg, at hcl.Range, v cty.Value) (any, bool) {
	n, err := convert.Convert(v, cty.Number)
	if err != nil || n.IsNull() {
		return a.WrongType(arg, at, v, "a whole number")
	}
	whole := rounded(n)
	if !whole.IsInt() {
		return a.Wrong(at, "", "Wrong type", "%s must be a whole number; this is %s.", arg.Name, Display(n))
	}
	i, _ := whole.Int64()
	return int(i), a.inBounds(arg, at, n, whole, 1<<53)
}

// inBounds reports whether a number n, rounded to f, is between the bounds of an argument, and between -limit and limit.
func (a *Args) inBounds(arg *schema.Arg, at hcl.Range, n cty.Value, f *big.Float, limit float64) bool {
	least, most := -limit, limit
	if arg.Min != nil {
		least = *arg.Min
	}
	if arg.Max != nil {
		most = *arg.Max
	}
	switch {
	case f.Cmp(big.NewFloat(least)) < 0:
		a.Wrong(at, "", "Value out of range", "%s must be at least %s; this is %s.", arg.Name, PlainNumber(least), Display(n))
	case f.Cmp(big.NewFloat(most)) > 0:
		a.Wrong(at, "", "Value out of range", "%s must be at most %s; this is %s.", arg.Name, PlainNumber(most), Display(n))
	default:
		return true
	}
	return false
}

func PlainNumber(f float64) string { return Display(cty.NumberFloatVal(f)) }

// written returns a value as it is written in a file: texts with quotes, numbers without.
func written(v cty.Value) string {
	if v.Type() == cty.String {
		return strconv.Quote(v.AsString())
	}
	return Display(v)
}

func (a *Args) Duration(arg *schema.Arg, at hcl.Range, v cty.Value) (any, bool) {
	d, ok := quantity(a, arg, at, v, "duration", `"1.5s" or "200ms"`, "0s", schema.ParseDuration)
	if ok && d < arg.Least && d > 0 {
		return a.Wrong(at, "", "Value out of range", "%s must be at least %s.", arg.Name, arg.Least)
	}
	return d, ok
}

func (a *Args) size(arg *schema.Arg, at hcl.Range, v cty.Value) (any, bool) {
	return quantity(a, arg, at, v, "size", `"4GiB" or "512MB"`, "0B", schema.ParseSize)
}

// quantity reads a text with a number and a unit.
func quantity[T ~int64](
	a *Args, arg *schema.Arg, at hcl.Range, v cty.Value, what, like, zero string, parse func(string) (T, error),
) (T, bool) {
	s, err := convert.Convert(v, cty.String)
	if err != nil || s.IsNull() || v.Type() == cty.Bool {
		a.WrongType(arg, at, v, "a "+what+", like "+like)
		return 0, false
	}
	q, err := parse(s.AsString())
	if err != nil {
		a.Wrong(at, schema.Suggestion(err), "Not a "+what, "%s is %s, which is not a %s: %s.", arg.Name, written(v), what, err)
		return 0, false
	}
	if arg.Positive && q == 0 {
		a.Wrong(at, "", "Value out of range", "The value of %s must be above %s.", arg.Name, zero)
		return 0, false
	}
	return q, true
}

// list converts each element of a list. The error marks the wrong element if the list is written element by element.
func list[T any](
	a *Args, arg *schema.Arg, expr hcl.Expression, v cty.Value,
	element func(*schema.Arg, hcl.Range, cty.Value) (any, bool),
) (any, bool) {
	if !IsList(v) {
		return a.WrongType(arg, expr.Range(), v, "a "+string(arg.Type))
	}
	v = intoElements(v)
	values, good := make([]T, 0, v.LengthInt()), true
	ranges := ElementRanges(expr, v.LengthInt())
	for it := v.ElementIterator(); it.Next(); {
		_, e := it.Element()
		value, ok := element(arg, ranges[0], e)
		if ok {
			values = append(values, value.(T))
		}
		good = good && ok
		ranges = ranges[1:]
	}
	if good && len(values) == 0 && !arg.MayBeEmpty {
		return a.Wrong(expr.Range(), "", "Empty list", "%s must have at least one element.", arg.Name)
	}
	return values, good
}

// ElementRanges returns the place of each of n elements. If the list is not written element by element, all have the
// place of the list.
func ElementRanges(expr hcl.Expression, n int) []hcl.Range {
	ranges := make([]hcl.Range, n)
	exprs, diags := hcl.ExprList(expr)
	for i := range ranges {
		ranges[i] = expr.Range()
		if !diags.HasErrors() && len(exprs) == n {
			ranges[i] = exprs[i].Range()
		}
	}
	return ranges
}

// Each calls `value` for each entry of a map, in the order of keys, until it returns false.
func (a *Args) Each(
	arg *schema.Arg, expr hcl.Expression, v cty.Value, wanted string,
	value func(key string, one *schema.Arg, at hcl.Range, v cty.Value) bool,
) bool {
	if v.IsMarked() {
		a.Wrong(expr.Range(), "", sensitiveSummary,
			"Only the values of %s may be sensitive; the map as a whole depends on a sensitive value.", arg.Name)
		return false
	}
	if !IsMap(v) {
		a.WrongType(arg, expr.Range(), v, wanted)
		return false
	}
	_, valueAt := PairRanges(expr)
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		key := k.AsString()
		if !value(key, &schema.Arg{Name: fmt.Sprintf("%s[%q]", arg.Name, key)}, valueAt(key), e) {
			return false
		}
	}
	return true
}

func (a *Args) stringMap(arg *schema.Arg, expr hcl.Expression, v cty.Value) (any, bool) {
	var settings []schema.Setting
	ok := a.Each(arg, expr, v, "a map of strings", func(key string, one *schema.Arg, at hcl.Range, v cty.Value) bool {
		s, ok := a.text(one, at, v)
		if ok {
			settings = append(settings, schema.Setting{Name: key, Value: s.(string)})
		}
		return ok
	})
	return settings, ok
}

func (a *Args) reference(arg *schema.Arg, at hcl.Range, v cty.Value, kind string) (any, bool) {
	if !a.e.Refers(v, kind) {
		suggestion := ""
		if v.Type() == cty.String && !v.IsNull() && hclsyntax.ValidIdentifier(strings.TrimPrefix(v.AsString(), kind+".")) {
			suggestion = kind + "." + strings.TrimPrefix(v.AsString(), kind+".")
		}
		return a.Wrong(at, suggestion, "Wrong type", "%s must be a reference to a %s, like %s.<name>; this is %s.",
			arg.Name, kind, kind, Describe(v))
	}
	return Reference{Name: Display(v), At: at}, true
}

// Ranges returns the places where the file sets arguments, by name.
func (a *Args) Ranges() map[string]experiments.Range {
	at := make(map[string]experiments.Range, len(a.set))
	for name, rng := range a.set {
		at[name] = RangeOf(rng)
	}
	return at
}

// share reads a fraction: 0.05, or "5%".
func (a *Args) share(arg *schema.Arg, at hcl.Range, v cty.Value) (any, bool) {
	if v.Type() != cty.String || v.IsNull() {
		return a.Number(arg, at, v)
	}
	text, percent := strings.CutSuffix(strings.TrimSpace(v.AsString()), "%")
	n, err := cty.ParseNumberVal(strings.TrimSpace(text))
	if err != nil || !percent {
		return a.Wrong(at, "", "Wrong type",
			"%s must be a number like 0.05, or a percentage like \"5%%\"; this is %s.", arg.Name, Describe(v))
	}
	return a.Number(arg, at, n.Divide(cty.NumberIntVal(100)))
}

// JobName is an entry of a map from names to jobs.
type JobName struct {
	Key string
	Job string
}

// jobMap reads a map from names to jobs.
func (a *Args) jobMap(arg *schema.Arg, expr hcl.Expression, v cty.Value) (any, bool) {
	var entries []JobName
	ok := a.Each(arg, expr, v, "a map of references to jobs", func(key string, one *schema.Arg, _ hcl.Range, v cty.Value) bool {
		ref, ok := a.reference(one, expr.Range(), v, "job")
		if ok {
			entries = append(entries, JobName{key, ref.(Reference).Name})
		}
		return ok
	})
	return entries, ok
}

// baseline reads the baseline of comparisons: a reference to a block, or a map from axes to values.
func (a *Args) baseline(arg *schema.Arg, at hcl.Range, v cty.Value) (any, bool) {
	kinds := arg.Type.ReferenceKinds()
	for _, kind := range kinds {
		if a.e.Refers(v, kind) {
			return []schema.Setting{{Name: kind, Value: Display(v)}}, true
		}
	}
	t := v.Type()
	if !IsMap(v) {
		suggestion := ""
		if t == cty.String && !v.IsNull() && hclsyntax.ValidIdentifier(v.AsString()) {
			suggestion = "policy." + v.AsString()
		}
		return a.Wrong(at, suggestion, "Wrong type", "%s must be a reference to a policy, a hardware or a workload, or "+
			"values by "+
			"axis, like { quantum = \"1s\" }; this is %s.", arg.Name, Describe(v))
	}
	var settings []schema.Setting
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element() // in the order of keys
		name := k.AsString()
		if slices.Contains(kinds, name) && e.Type() != cty.String && !a.e.Refers(e, name) {
			return a.Wrong(at, "", "Wrong type", "%s must be a reference to a %s, like %s.<name>; this is %s.", name, name, name,
				Describe(e))
		}
		settings = append(settings, schema.Setting{Name: name, Value: Display(e)})
	}
	if len(settings) == 0 {
		return a.Wrong(at, "", "Empty baseline", "%s needs at least one axis with a value.", arg.Name)
	}
	return settings, true
}
