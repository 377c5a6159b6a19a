package experiments

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
)

// GPURate says how many times faster than its run time tells a job is on a
// type of GPU.
type GPURate struct {
	Type string
	Rate float64
}

// RateOn returns how fast the job is on a type of GPU; false when the file does
// not say. Where it says nothing of types, all have the rate 1.
func (r *Runtime) RateOn(gpu string) (float64, bool) {
	if len(r.GPURates) == 0 {
		return 1, true
	}
	for _, g := range r.GPURates {
		if g.Type == gpu {
			return g.Rate, true
		}
	}
	return 0, false
}

// Way returns the name of the way in which the job runs: that of an
// alternative, or "cpu" or "gpu" for the job's own request.
func (j *Job) Way() string {
	switch {
	case j.Alternative != "":
		return j.Alternative
	case j.GPUs > 0:
		return "gpu"
	}
	return "cpu"
}

// Ways returns the job itself and its alternatives.
func (j *Job) Ways() []*Job { return append([]*Job{j}, j.Alternatives...) }

// placed tells whether the scheduler places the job by more than its request: it
// has several ways to run, or the type of the GPU matters.
func (j *Job) placed() bool {
	return len(j.Alternatives) > 0 || j.GPU != "" || j.Runtime != nil && len(j.Runtime.GPURates) > 0
}

// On tells whether a free cluster of the hardware has room for the job's own
// request, and its engine can do what it needs.
func (j *Job) On(h *Hardware) bool {
	if j.GPUs > 0 && slices.Contains(h.Lacks, "gpus") {
		return false
	}
	cluster := h.Cluster
	if j.GPU != "" {
		cluster.Nodes = slices.DeleteFunc(slices.Clone(cluster.Nodes), func(n scheduler.Node) bool { return n.GPU != j.GPU })
	}
	return requestOf(&scheduler.Job{Threads: j.Threads.Request, GPUs: j.GPUs, Memory: j.Memory, Nodes: j.Nodes}).on(cluster)
}

// GPUTypes returns the types of the hardware's GPUs, in the order of its nodes;
// an empty one stands for GPUs without a type.
func (h *Hardware) GPUTypes() []string {
	var types []string
	for _, n := range h.Cluster.Nodes {
		if n.GPUs > 0 && !slices.Contains(types, n.GPU) {
			types = append(types, n.GPU)
		}
	}
	return types
}

// rates reads a map of numbers above zero.
func (a *args) rates(arg *schema.Arg, expr hcl.Expression, v cty.Value) (any, bool) {
	if t := v.Type(); v.IsNull() || !t.IsObjectType() && !t.IsMapType() || t.Equals(refType) {
		return a.wrongType(arg, expr.Range(), v, "a map of numbers")
	}
	_, valueAt := pairRanges(expr)
	var rates []GPURate
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element() // in the order of the keys
		at := valueAt(k.AsString())
		one := schema.Arg{Name: fmt.Sprintf("%s[%q]", arg.Name, k.AsString())}
		rate, ok := a.number(&one, at, e)
		if !ok {
			return nil, false
		}
		if r := rate.(float64); !(r > 0) || math.IsInf(r, 1) {
			return a.wrong(at, "", "Value out of range", "%s must be above 0; this is %s.", one.Name, display(e))
		}
		rates = append(rates, GPURate{k.AsString(), rate.(float64)})
	}
	if len(rates) == 0 {
		return a.wrong(expr.Range(), "", "Empty map", "%s must have at least one type of GPU.", arg.Name)
	}
	return rates, true
}

// alternatives decodes the other ways in which a job can run.
func (d *decoder) alternatives(n *node, e *env, a *args, j *Job) {
	a.gpuType(j, n.first("runtime"))
	for _, an := range n.all("alternative") {
		aa := d.evalArgs(an, e)
		other := *j
		other.Alternative, other.Variant, other.Range, other.At = an.label, an.label, rangeOf(an.header), aa.ranges()
		other.Threads = get[Threads](aa, "threads")
		if aa.lacks("threads") {
			other.Threads = Threads{Request: 1, Inter: 1, Intra: 1, Range: rangeOf(an.header)}
		}
		other.GPUs, other.GPU = get[int](aa, "gpus"), get[string](aa, "gpu")
		if aa.isSet("memory") {
			other.Memory = get[int64](aa, "memory")
		}
		rt := an.first("runtime")
		if rt != nil {
			var ok bool
			other.Runtime, ok = d.runtime(rt, e)
			aa.ok = aa.ok && ok
		}
		if aa.ok && a.ok {
			d.checkAlternative(aa, rt, j, &other)
		}
		a.ok = a.ok && aa.ok
		j.Alternatives = append(j.Alternatives, &other)
	}
	if j.placed() && j.Malleable && a.ok {
		a.fail(a.at("malleable"), "Contradicting arguments", "A job with alternatives, or for a type of GPU, keeps what it starts with; it cannot be malleable.")
	}
}

// checkAlternative reports what is wrong with one way in which a job can run.
func (d *decoder) checkAlternative(a *args, rt *node, j, other *Job) {
	if other.Alternative == j.Way() {
		a.fail(a.n.labelAt, "Duplicate name", "The request of the job %q itself has the name %q; give this alternative another one.", j.Name, other.Alternative)
	}
	if nodes := max(j.Nodes, 1); other.Threads.Request%nodes != 0 || other.GPUs%nodes != 0 {
		a.fail(a.n.header, "Contradicting arguments", "%s and %s cannot be divided evenly over the job's %d nodes.", plural(other.Threads.Request, "thread"), plural(other.GPUs, "GPU"), nodes)
	}
	if rt == nil && other.Runtime != nil && other.GPUs > 0 && j.GPUs == 0 && len(other.Runtime.GPURates) == 0 {
		a.fail(a.n.header, "Alternative without a run time", "The runtime of the job %q does not tell how long it takes with GPUs: give this alternative a runtime block, or the job's a gpu_rate.", j.Name)
	}
	a.gpuType(other, rt)
}

// gpuType reports types of GPU that a way without GPUs asks for. A job's rates
// may be those of its alternatives.
func (a *args) gpuType(j *Job, rt *node) {
	if j.GPUs > 0 || !a.ok {
		return
	}
	if a.isSet("gpu") {
		a.fail(a.at("gpu"), "Argument that nothing reads", "gpu is the type of the GPUs that are asked for, and gpus is 0.")
	}
	if rt != nil && (j.Alternative != "" || len(a.n.all("alternative")) == 0) {
		if attr := rt.attr("gpu_rate"); attr != nil {
			a.fail(attr.Range, "Argument that nothing reads", "gpu_rate is for jobs with GPUs, and gpus is 0.")
		}
	}
}

// ways checks that a hardware has room for a job with several ways to run in
// at least one of them, and that it tells how fast it is on all GPUs that it
// can get there. It returns false for a job with one way, and any GPU.
func (c *checker) ways(j *Job, h *Hardware) bool {
	if !j.placed() {
		return false
	}
	var asks []string
	some := false
	for _, w := range j.Ways() {
		some = some || w.On(h)
		asks = append(asks, w.asks())
	}
	if !some {
		at, ok := j.At["gpu"]
		c.errorf(either(at, ok, j.Range), fmt.Sprintf("More than the hardware %q has", h.Name), "The job %q asks for %s, which the hardware %q never has.", j.Name, strings.Join(asks, ", or "), h.Name)
		return true
	}
	for _, w := range j.Ways() {
		if w.GPUs == 0 || w.Runtime == nil || h.Engine != "simulated" || !w.On(h) {
			continue
		}
		for _, gpu := range h.GPUTypes() {
			if _, ok := w.Runtime.RateOn(gpu); !ok && (w.GPU == "" || w.GPU == gpu) {
				c.errorf(w.Range, fmt.Sprintf("No rate on the GPUs of the hardware %q", h.Name), "The gpu_rate of the job %q has no rate for the type %q, which the hardware %q has.", j.Name, gpu, h.Name)
			}
		}
	}
	return true
}

// asks says what a job asks for in one way.
func (j *Job) asks() string {
	s := requestOf(&scheduler.Job{Threads: j.Threads.Request, GPUs: j.GPUs, Memory: j.Memory, Nodes: j.Nodes}).String()
	if j.GPU != "" {
		s += " of the type " + j.GPU
	}
	return s
}

// choosing checks that a policy can run a workload's jobs with alternatives.
func (c *checker) choosing(w *Workload, p *Policy) {
	if t := w.Trace; t != nil {
		for _, k := range t.Kinds {
			if len(k.Alternatives) > 0 {
				c.errorf(t.Range, "Trace of jobs with alternatives", "The jobs of a trace have the request that its file tells; the job %q, which has alternatives, cannot stand for them.", k.Name)
			}
		}
	}
	for _, s := range w.Submits {
		if s.Job.placed() && p.Allocation != scheduler.Strict {
			at, ok := p.At["allocation"]
			c.errorf(either(at, ok, p.Range), "Allocation of jobs with alternatives", "The job %q has alternatives, or asks for a type of GPU: it is given a whole request, which is the allocation \"strict\", not %q.", s.Job.Name, p.Allocation)
		}
	}
	for _, u := range w.Resizes {
		for _, s := range w.Submits {
			if s.Job.placed() && strings.HasPrefix(u.Job, s.Job.Name+"-") {
				c.errorf(u.Range, "Resize of a job with alternatives", "The job %q has alternatives, or asks for a type of GPU: it keeps the request that it starts with.", s.Job.Name)
			}
		}
	}
}

// placement reports contradictions in how a policy places jobs.
func (a *args) placement(p *Policy) {
	if p.Placement == scheduler.EarliestFinish && p.Order != scheduler.AlloX {
		if a.isSet("backfill") && p.Backfill != scheduler.Conservative {
			a.fail(a.at("backfill"), "Contradicting arguments", "The placement \"earliest_finish\" plans all waiting jobs, which implies backfill = \"conservative\".")
		}
		p.Backfill = scheduler.Conservative
		if a.isSet("allocation") && p.Allocation != scheduler.Strict {
			a.fail(a.at("allocation"), "Contradicting arguments", "The placement \"earliest_finish\" wants the allocation \"strict\".")
		}
	}
	if p.Order != scheduler.AlloX {
		if a.isSet("alpha") {
			a.fail(a.at("alpha"), "Argument that nothing reads", "alpha is read only by the order \"allox\".")
		}
		p.Alpha = 0
		return
	}
	for _, own := range []struct {
		name string
		set  bool
	}{
		{"backfill", p.Backfill != scheduler.NoBackfill}, {"allocation", p.Allocation != scheduler.Strict},
		{"preemption", p.Preemption != scheduler.NoPreemption}, {"placement", p.Placement != scheduler.PlaceFirst},
	} {
		if a.isSet(own.name) && own.set {
			a.fail(a.at(own.name), "Contradicting arguments", "The order \"allox\" decides by itself what starts, and where: %s has no place beside it.", own.name)
		}
	}
}

// gpuOf returns the type of a machine's GPUs.
func (a *args) gpuOf(m scheduler.Node) string {
	if get[string](a, "gpu") != "" && m.GPUs == 0 && a.ok {
		a.fail(a.at("gpu"), "Argument that nothing reads", "gpu is the type of the GPUs, and %s has none: add gpus.", a.n.title())
	}
	return get[string](a, "gpu")
}
