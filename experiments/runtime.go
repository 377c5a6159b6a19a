package experiments

import (
	"cmp"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// speedUpType is what the functions amdahl and usl return.
var speedUpType = cty.Capsule("speed-up", reflect.TypeFor[workload.SpeedUp]())

var amdahlFunction = lawFunction(func(p []float64) workload.SpeedUp { return workload.Amdahl(p[0]) }, "parallel")

var uslFunction = lawFunction(func(p []float64) workload.SpeedUp { return workload.SpeedUp{Sigma: p[0], Kappa: p[1]} }, "sigma", "kappa")

// lawFunction makes a speed-up from parameters between 0 and 1.
func lawFunction(law func([]float64) workload.SpeedUp, params ...string) function.Function {
	spec := &function.Spec{Type: function.StaticReturnType(speedUpType)}
	for _, p := range params {
		spec.Params = append(spec.Params, function.Parameter{Name: p, Type: cty.Number})
	}
	spec.Impl = func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		numbers := make([]float64, len(args))
		for i, arg := range args {
			numbers[i], _ = arg.AsBigFloat().Float64()
			if numbers[i] < 0 || numbers[i] > 1 {
				return cty.NilVal, function.NewArgErrorf(i, "%s must be from 0 to 1", params[i])
			}
		}
		s := law(numbers)
		return cty.CapsuleVal(speedUpType, &s), nil
	}
	return function.New(spec)
}

// threadTime is a run time on a number of threads.
type threadTime struct {
	threads int
	time    time.Duration
}

// runtime decodes a runtime block.
func (d *decoder) runtime(n *node, e *env) (*Runtime, bool) {
	a := d.evalArgs(n, e)
	table := "table"
	if a.isSet("file") {
		table = "file"
	}
	if !a.isSet(table) {
		for _, name := range []string{"threads_column", "time_column", "where", "per"} {
			if a.isSet(name) && a.lacks("table") && a.lacks("file") {
				a.fail(a.at(name), "Argument that nothing reads", "%s belongs to a table of run times, but there is neither table nor file.", name)
			}
		}
		return d.runtimeLaw(a)
	}
	perEpoch := get[string](a, "per") == "epoch"
	for _, other := range []string{"epoch", "parallel", "speedup", "table"} {
		if a.isSet(other) && other != table {
			a.fail(a.at(other), "Contradicting arguments", "%s and %s both say how the run time depends on threads.", other, table)
		}
	}
	if a.isSet("startup") && !perEpoch {
		a.fail(a.at("startup"), "Contradicting arguments", "The run times of the %s are those of the whole job, start-up included; with per = \"epoch\" they are those of an epoch, and startup is added.", table)
	}
	times := get[[]threadTime](a, "table")
	if table == "file" {
		if a.ok {
			times = d.timesFile(a)
		}
	} else {
		for _, name := range []string{"threads_column", "time_column", "where"} {
			if a.isSet(name) {
				a.fail(a.at(name), "Argument that nothing reads", "%s belongs to file, which is not set.", name)
			}
		}
	}
	if !a.ok || len(times) == 0 {
		return nil, false
	}
	curve := &workload.SpeedUp{}
	for _, t := range times {
		curve.Points = append(curve.Points, workload.SpeedPoint{Threads: t.threads, Speed: 1 / t.time.Seconds()})
	}
	return &Runtime{
		Startup: get[time.Duration](a, "startup"), Parallel: 1, SpeedUp: curve, Threads: times[0].threads, Whole: !perEpoch,
		Epoch: workload.Span{Kind: workload.Every, Mean: times[0].time}, GPURates: get[[]GPURate](a, "gpu_rate"),
	}, true
}

// runtimeLaw decodes a run time that is given by formula.
func (d *decoder) runtimeLaw(a *args) (*Runtime, bool) {
	if a.lacks("epoch") && a.lacks("table") && a.lacks("file") && !a.n.broken {
		a.fail(a.n.header, "Missing argument", "%s needs epoch, table or file.", a.n.title())
	}
	if a.isSet("speedup") && a.isSet("parallel") {
		a.fail(a.at("parallel"), "Contradicting arguments", "parallel and speedup both say how epochs speed up; parallel = 0.9 is speedup = amdahl(0.9).")
	}
	epoch := get[workload.Arrivals](a, "epoch")
	r := &Runtime{
		Startup: get[time.Duration](a, "startup"), Parallel: get[float64](a, "parallel"),
		Epoch: workload.Span{Kind: epoch.Kind, Mean: epoch.Mean, SD: epoch.SD}, GPURates: get[[]GPURate](a, "gpu_rate"),
	}
	if s, ok := a.values["speedup"].(workload.SpeedUp); ok {
		r.SpeedUp = &s
	}
	return r, a.ok
}

// timesFile reads a table of run times: the mean of the rows of each number
// of threads.
func (d *decoder) timesFile(a *args) []threadTime {
	from, at := d.source(get[string](a, "file")), a.n.attr("file").Expr.Range()
	var where []workload.Column
	for _, w := range get[[]Setting](a, "where") {
		where = append(where, workload.Column{Name: w.Name, Text: w.Value})
	}
	var rows [][]float64
	_, err := readAll(from, func(text io.Reader) (err error) {
		rows, err = workload.ReadColumns(from.shown, text, []string{get[string](a, "threads_column"), get[string](a, "time_column")}, where)
		return err
	})
	switch {
	case err != nil:
		a.ok = false
		d.traceErrors(from, at, err)
		return nil
	case len(rows) == 0:
		a.fail(at, "Table without rows", "There is no row in %s that counts.", from.shown)
		return nil
	}
	slices.SortStableFunc(rows, func(x, y []float64) int { return cmp.Compare(x[0], y[0]) })
	var times []threadTime
	for len(rows) > 0 {
		threads, sum, n := rows[0][0], 0.0, 0
		for n < len(rows) && rows[n][0] == threads {
			sum += rows[n][1]
			n++
		}
		if threads != math.Trunc(threads) || threads > schema.MaxThreads || sum/float64(n) > maxSeconds {
			a.fail(at, "Value out of range", "%s has %v seconds on %v threads: threads are a whole number up to %d, and times at most %v s.", from.shown, sum/float64(n), threads, schema.MaxThreads, maxSeconds)
			return nil
		}
		times = append(times, threadTime{int(threads), max(time.Duration(math.Round(sum/float64(n)*1e9)), 1)})
		rows = rows[n:]
	}
	return times
}

// maxSeconds keeps run times, and sums of many of them, within 64 bits of
// nanoseconds.
const maxSeconds = 1e8

// byThreads reads a map from numbers of threads, ascending. It returns false
// when a key or a value is wrong, which is reported.
func (a *args) byThreads(arg *schema.Arg, expr hcl.Expression, v cty.Value, wanted string, value func(threads int, arg *schema.Arg, at hcl.Range, v cty.Value) bool) bool {
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
			a.wrong(keyAt(key), "", "Not a number of threads", "The keys of %s are numbers of threads from 1 on; this is %q.", arg.Name, key)
			good = false
			continue
		}
		if !e.IsNull() {
			pairs = append(pairs, pair{n, key, e})
		}
	}
	if good && len(pairs) == 0 {
		a.wrong(at, "", "Empty table", "%s must have at least one number of threads.", arg.Name)
		return false
	}
	slices.SortFunc(pairs, func(x, y pair) int { return x.threads - y.threads })
	for i, p := range pairs {
		if i > 0 && p.threads == pairs[i-1].threads { // "1" and "01"
			a.wrong(keyAt(p.key), "", "Duplicate key", "%s has %s twice.", arg.Name, plural(p.threads, "thread"))
			good = false
		}
		one := *arg
		one.Name = arg.Name + "[" + p.key + "]"
		good = value(p.threads, &one, valueAt(p.key), p.value) && good
	}
	return good
}

// threadTimes reads a table of run times.
func (a *args) threadTimes(arg *schema.Arg, expr hcl.Expression, v cty.Value) (any, bool) {
	var times []threadTime
	ok := a.byThreads(arg, expr, v, `a map from threads to durations, like { 1 = "100s", 2 = "55s" }`, func(threads int, one *schema.Arg, at hcl.Range, v cty.Value) bool {
		d, ok := a.duration(one, at, v)
		if ok {
			times = append(times, threadTime{threads, d.(time.Duration)})
		}
		return ok
	})
	return times, ok
}

// speedUp reads a curve: a law, or a table, in which one thread has the speed 1.
func (a *args) speedUp(arg *schema.Arg, expr hcl.Expression, v cty.Value) (any, bool) {
	if v.Type().Equals(speedUpType) && !v.IsNull() {
		return *v.EncapsulatedValue().(*workload.SpeedUp), true
	}
	curve := workload.SpeedUp{Points: []workload.SpeedPoint{{Threads: 1, Speed: 1}}}
	ok := a.byThreads(arg, expr, v, "amdahl(…), usl(…) or a map from threads to numbers, like { 1 = 1, 2 = 1.8 }", func(threads int, one *schema.Arg, at hcl.Range, v cty.Value) bool {
		f, ok := a.number(one, at, v)
		if !ok {
			return false
		}
		speed := f.(float64)
		switch {
		case !(speed > 0) || math.IsInf(speed, 0):
			a.wrong(at, "", "Value out of range", "%s must be above 0; this is %s.", one.Name, plainNumber(speed))
			return false
		case threads == 1 && speed != 1:
			a.wrong(at, "", "Value out of range", "%s is the speed on one thread in multiples of itself, which is 1; this is %s.", one.Name, plainNumber(speed))
			return false
		case threads > 1:
			curve.Points = append(curve.Points, workload.SpeedPoint{Threads: threads, Speed: speed})
		}
		return true
	})
	return curve, ok
}
