package eval

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// rates reads a map of numbers above zero.
func (a *Args) rates(arg *schema.Arg, expr hcl.Expression, v cty.Value) (any, bool) {
	if t := v.Type(); v.IsNull() || !t.IsObjectType() && !t.IsMapType() || t.Equals(refType) {
		return a.wrongType(arg, expr.Range(), v, "a map of numbers")
	}
	_, valueAt := pairRanges(expr)
	var rates []experiments.GPURate
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element() // in the order of the keys
		at := valueAt(k.AsString())
		one := schema.Arg{Name: fmt.Sprintf("%s[%q]", arg.Name, k.AsString())}
		rate, ok := a.Number(&one, at, e)
		if !ok {
			return nil, false
		}
		if r := rate.(float64); !(r > 0) || math.IsInf(r, 1) {
			return a.Wrong(at, "", "Value out of range", "%s must be above 0; this is %s.", one.Name, Display(e))
		}
		rates = append(rates, experiments.GPURate{Type: k.AsString(), Rate: rate.(float64)})
	}
	if len(rates) == 0 {
		return a.Wrong(expr.Range(), "", "Empty map", "%s must have at least one type of GPU.", arg.Name)
	}
	return rates, true
}

// KeyRanges returns where the keys of an object are written, as far as it is
// written out.
func KeyRanges(expr hcl.Expression) map[string]hcl.Range {
	at := map[string]hcl.Range{}
	pairs, _ := hcl.ExprMap(expr)
	for _, p := range pairs {
		if word := hcl.ExprAsKeyword(p.Key); word != "" {
			at[word] = p.Key.Range()
		} else if k, diags := p.Key.Value(nil); !diags.HasErrors() && k.Type() == cty.String && k.IsKnown() && !k.IsNull() {
			at[k.AsString()] = p.Key.Range()
		}
	}
	return at
}

// ThreadTime is a run time on a number of threads.
type ThreadTime struct {
	Threads int
	Time    time.Duration
}

// byThreads reads a map from numbers of threads, ascending. It returns false
// when a key or a value is wrong, which is reported.
func (a *Args) byThreads(
	arg *schema.Arg, expr hcl.Expression, v cty.Value, wanted string,
	value func(threads int, arg *schema.Arg, at hcl.Range, v cty.Value) bool,
) bool {
	at := expr.Range()
	if t := v.Type(); v.IsNull() || !t.IsObjectType() && !t.IsMapType() || t.Equals(refType) {
		a.wrongType(arg, at, v, wanted)
		return false
	}
	keyAt, valueAt := pairRanges(expr)
	type pair struct {
		threads int
		key     string
		value   cty.Value
	}
	var pairs []pair
	good := true
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		key := k.AsString()
		n, err := strconv.Atoi(key)
		if err != nil || n < 1 || n > schema.MaxThreads {
			a.Wrong(keyAt(key), "", "Not a number of threads",
				"The keys of %s are numbers of threads, at least 1; this is %q.", arg.Name, key)
			good = false
			continue
		}
		pairs = append(pairs, pair{n, key, e})
	}
	if good && len(pairs) == 0 {
		a.Wrong(at, "", "Empty table", "%s must have at least one number of threads.", arg.Name)
		return false
	}
	slices.SortFunc(pairs, func(x, y pair) int { return x.threads - y.threads })
	for i, p := range pairs {
		if i > 0 && p.threads == pairs[i-1].threads { // "1" and "01"
			a.Wrong(keyAt(p.key), "", "Duplicate key", "%s has %s twice.", arg.Name, schema.Plural(p.threads, "thread"))
			good = false
		}
		one := *arg
		one.Name = arg.Name + "[" + p.key + "]"
		good = value(p.threads, &one, valueAt(p.key), p.value) && good
	}
	return good
}

// threadTimes reads a table of run times.
func (a *Args) threadTimes(arg *schema.Arg, expr hcl.Expression, v cty.Value) (any, bool) {
	var times []ThreadTime
	const wanted = `a map from threads to durations, like { 1 = "100s", 2 = "55s" }`
	ok := a.byThreads(arg, expr, v, wanted, func(threads int, one *schema.Arg, at hcl.Range, v cty.Value) bool {
		d, ok := a.Duration(one, at, v)
		if ok {
			times = append(times, ThreadTime{threads, d.(time.Duration)})
		}
		return ok
	})
	return times, ok
}

// speedUp reads a curve: a law, or a table, in which one thread has the speed 1.
func (a *Args) speedUp(arg *schema.Arg, expr hcl.Expression, v cty.Value) (any, bool) {
	if m, ok := modelOf(v, "amdahl", "usl"); ok {
		if m.Name == "amdahl" {
			return workload.Amdahl(m.Numbers[0]), true
		}
		return workload.SpeedUp{Sigma: m.Numbers[0], Kappa: m.Numbers[1]}, true
	}
	curve := workload.SpeedUp{Points: []workload.SpeedPoint{{Threads: 1, Speed: 1}}}
	const wanted = "amdahl(…), usl(…) or a map from threads to numbers, like { 1 = 1, 2 = 1.8 }"
	ok := a.byThreads(arg, expr, v, wanted, func(threads int, one *schema.Arg, at hcl.Range, v cty.Value) bool {
		f, ok := a.Number(one, at, v)
		if !ok {
			return false
		}
		speed := f.(float64)
		switch {
		case !(speed > 0) || math.IsInf(speed, 0):
			a.Wrong(at, "", "Value out of range", "%s must be above 0; this is %s.", one.Name, plainNumber(speed))
			return false
		case threads == 1 && speed != 1:
			a.Wrong(at, "", "Value out of range",
				"%s is the speed on one thread, which is 1 by definition; this is %s.", one.Name,
				plainNumber(speed))
			return false
		case threads > 1:
			curve.Points = append(curve.Points, workload.SpeedPoint{Threads: threads, Speed: speed})
		}
		return true
	})
	return curve, ok
}

// pairRanges tells where the keys and the values of an object are written: in
// their own places, or all in the place of the object.
func pairRanges(expr hcl.Expression) (keyAt, valueAt func(key string) hcl.Range) {
	keys, values := map[string]hcl.Range{}, map[string]hcl.Range{}
	pairs, _ := hcl.ExprMap(expr) // without pairs where it is not written out
	for _, p := range pairs {
		name := hcl.ExprAsKeyword(p.Key)
		if name == "" {
			k, diags := p.Key.Value(nil)
			if diags.HasErrors() || !k.IsKnown() || k.IsNull() {
				continue
			}
			if k, err := convert.Convert(k, cty.String); err == nil {
				name = k.AsString()
			}
		}
		keys[name], values[name] = p.Key.Range(), p.Value.Range()
	}
	place := func(places map[string]hcl.Range) func(string) hcl.Range {
		return func(key string) hcl.Range {
			if at, ok := places[key]; ok {
				return at
			}
			return expr.Range()
		}
	}
	return place(keys), place(values)
}

// Neighbours returns an argument that says which part of its speed a job keeps beside others.
func Neighbours(a *Args, name string) []experiments.Neighbour {
	var list []experiments.Neighbour
	for _, k := range Get[[]experiments.GPURate](a, name) {
		if k.Rate > 1 {
			a.Fail(a.At(name), "Job that is faster beside another",
				"Beside %q the job keeps a part of its speed, from 0 to 1; %g is more.", k.Type, k.Rate)
		}
		list = append(list, experiments.Neighbour{Class: k.Type, Keep: k.Rate})
	}
	return list
}
