package decode

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Types of arguments about jobs and their machines, in addition to the types of package schema.
var (
	_ = eval.Register(schema.Gap, gap)
	_ = eval.Register(schema.Threads, threads)
	_ = eval.Register(schema.ThreadTimes, threadTimes)
	_ = eval.Register(schema.Rates, rates)
	_ = eval.Register(schema.SpeedUp, speedUp)
)

// rates reads a map from types of GPU to numbers above 0.
func rates(a *eval.Args, arg *schema.Arg, expr hcl.Expression, v cty.Value) (any, bool) {
	var rates []experiment.GPURate
	if !a.Each(arg, expr, v, "a map of numbers", func(key string, one *schema.Arg, at hcl.Range, v cty.Value) bool {
		rate, ok := a.Number(one, at, v)
		if !ok {
			return false
		}
		r := rate.(float64)
		if !(r > 0) || math.IsInf(r, 1) {
			a.Wrong(at, "", "Value out of range", "The value of %s must be above 0; it is %s.", one.Name, eval.Display(v))
			return false
		}
		rates = append(rates, experiment.GPURate{Type: key, Rate: r})
		return true
	}) {
		return nil, false
	}
	if len(rates) == 0 {
		return a.Wrong(expr.Range(), "", "Empty map", "%s must have at least one type of GPU.", arg.Name)
	}
	return rates, true
}

// byThreads reads a map from numbers of threads to values, and visits its entries in ascending order of threads. It
// reports wrong keys and values, and then returns false.
func byThreads(a *eval.Args, arg *schema.Arg, expr hcl.Expression, v cty.Value, wanted string,
	value func(threads int, arg *schema.Arg, at hcl.Range, v cty.Value) bool,
) bool {
	at := expr.Range()
	if !eval.IsMap(v) {
		a.WrongType(arg, at, v, wanted)
		return false
	}
	keyAt, valueAt := eval.PairRanges(expr)
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
		if i > 0 && p.threads == pairs[i-1].threads { // such as the keys "1" and "01"
			a.Wrong(keyAt(p.key), "", "Duplicate key", "%s has %s twice.", arg.Name, schema.Plural(p.threads, "thread"))
			good = false
		}
		one := *arg
		one.Name = arg.Name + "[" + p.key + "]"
		good = value(p.threads, &one, valueAt(p.key), p.value) && good
	}
	return good
}

// threadTimes reads a table of run times by number of threads.
func threadTimes(a *eval.Args, arg *schema.Arg, expr hcl.Expression, v cty.Value) (any, bool) {
	var times []experiment.ThreadTime
	const wanted = `a map from threads to durations, like { 1 = "100s", 2 = "55s" }`
	ok := byThreads(a, arg, expr, v, wanted, func(threads int, one *schema.Arg, at hcl.Range, v cty.Value) bool {
		d, ok := a.Duration(one, at, v)
		if ok {
			times = append(times, experiment.ThreadTime{Threads: threads, Time: d.(time.Duration)})
		}
		return ok
	})
	return times, ok
}

// speedUp reads a speed-up curve: a formula such as amdahl(…), or a table. Its value for one thread must be 1.
func speedUp(a *eval.Args, arg *schema.Arg, expr hcl.Expression, v cty.Value) (any, bool) {
	if m, ok := eval.ModelOf(v, "amdahl", "usl"); ok {
		if m.Name == "amdahl" {
			return workload.Amdahl(m.Numbers[0]), true
		}
		return workload.SpeedUp{Sigma: m.Numbers[0], Kappa: m.Numbers[1]}, true
	}
	curve := workload.SpeedUp{Points: []workload.SpeedPoint{{Threads: 1, Speed: 1}}}
	const wanted = "amdahl(…), usl(…) or a map from threads to numbers, like { 1 = 1, 2 = 1.8 }"
	ok := byThreads(a, arg, expr, v, wanted, func(threads int, one *schema.Arg, at hcl.Range, v cty.Value) bool {
		f, ok := a.Number(one, at, v)
		if !ok {
			return false
		}
		speed := f.(float64)
		switch {
		case !(speed > 0) || math.IsInf(speed, 0):
			a.Wrong(at, "", "Value out of range", "The value of %s must be above 0; it is %s.", one.Name, eval.PlainNumber(speed))
			return false
		case threads == 1 && speed != 1:
			a.Wrong(at, "", "Value out of range",
				"%s is the speed on one thread, which is 1 by definition; this is %s.", one.Name,
				eval.PlainNumber(speed))
			return false
		case threads > 1:
			curve.Points = append(curve.Points, workload.SpeedPoint{Threads: threads, Speed: speed})
		}
		return true
	})
	return curve, ok
}

// neighbors returns an argument that maps each other job to the fraction of its speed that a job keeps while the two
// share its GPUs.
func neighbors(a *eval.Args, name string) []experiment.Neighbour {
	var list []experiment.Neighbour
	for _, k := range eval.Get[[]experiment.GPURate](a, name) {
		if k.Rate > 1 {
			a.Fail(a.At(name), "Job that is faster with a neighbor",
				"While it shares GPUs with %q the job keeps a part of its speed, from 0 to 1; this is %g.", k.Type, k.Rate)
		}
		list = append(list, experiment.Neighbour{Class: k.Type, Keep: k.Rate})
	}
	return list
}

// gap reads the time between arrivals, a duration or a distribution.
func gap(a *eval.Args, arg *schema.Arg, expr hcl.Expression, v cty.Value) (any, bool) {
	if m, ok := eval.ModelOf(v, "exponential", "normal"); ok {
		g := workload.Arrivals{Kind: workload.ArrivalKind(m.Name), Mean: m.Spans[0]}
		if len(m.Spans) > 1 {
			g.SD = m.Spans[1]
		}
		return g, true
	}
	d, ok := a.Duration(arg, expr.Range(), v)
	if !ok {
		return nil, false
	}
	return workload.Arrivals{Kind: workload.Every, Mean: d.(time.Duration)}, true
}

// threads reads a request for threads: a number, or an object with keys such as request, min and max.
func threads(a *eval.Args, arg *schema.Arg, expr hcl.Expression, v cty.Value) (any, bool) {
	at := expr.Range()
	t := experiment.Threads{Range: eval.RangeOf(at)}
	if !eval.IsMap(v) {
		n, ok := a.Integer(arg, at, v)
		if !ok {
			return nil, false
		}
		t.Request, t.Inter, t.Intra = n.(int), 1, n.(int)
		return t, true
	}
	keyAt, valueAt := eval.PairRanges(expr)
	good := true
	got := map[string]int{}
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		name := k.AsString()
		key := schema.Find(arg.Keys, name)
		if key == nil {
			names := schema.Names(arg.Keys)
			a.Wrong(keyAt(name), schema.Nearest(name, names), "Unknown key", "%s has no key %q; it has %s.",
				arg.Name, name, strings.Join(names, ", "))
			good = false
			continue
		}
		if e.IsNull() {
			continue
		}
		n, ok := a.Integer(key, valueAt(name), e)
		if ok {
			got[name] = n.(int)
		}
		good = good && ok
	}
	if !good {
		return nil, false
	}
	_, hasInter := got["inter"]
	_, hasIntra := got["intra"]
	_, hasRequest := got["request"]
	switch {
	case hasRequest && (hasInter || hasIntra):
		return a.Wrong(at, "", "Contradicting keys", "threads accepts either request, or inter and intra.")
	case hasRequest:
		t.Request, t.Inter, t.Intra = got["request"], 1, got["request"]
	case hasInter && hasIntra:
		t.Request, t.Inter, t.Intra = got["inter"]+got["intra"], got["inter"], got["intra"]
	default:
		return a.Wrong(at, "", "Missing key", "threads needs either request, or both inter and intra.")
	}
	t.Min, t.Max = got["min"], got["max"]
	if t.Min > t.Request || (t.Max > 0 && t.Max < t.Request) {
		return a.Wrong(at, "", "Value out of range", "The request of %d threads must be from min to max.", t.Request)
	}
	return t, true
}
