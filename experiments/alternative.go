package experiments

import (
	"fmt"
	"math"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
)

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
	checkGPUType(a, j, n.first("runtime"))
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
	if j.Placed() && j.Malleable && a.ok {
		a.fail(a.at("malleable"), "Contradicting arguments", "A job with alternatives, or for a type of GPU, keeps what it starts with; it cannot be malleable.")
	}
}

// checkAlternative reports what is wrong with one way in which a job can run.
func (d *decoder) checkAlternative(a *args, rt *node, j, other *Job) {
	if other.Alternative == j.AlternativeName() {
		a.fail(a.n.labelAt, "Duplicate name", "The request of the job %q itself has the name %q; give this alternative another one.", j.Name, other.Alternative)
	}
	if nodes := max(j.Nodes, 1); other.Threads.Request%nodes != 0 || other.GPUs%nodes != 0 {
		a.fail(a.n.header, "Contradicting arguments", "%s and %s cannot be divided evenly over the job's %d nodes.", plural(other.Threads.Request, "thread"), plural(other.GPUs, "GPU"), nodes)
	}
	if rt == nil && other.Runtime != nil && other.GPUs > 0 && j.GPUs == 0 && len(other.Runtime.GPURates) == 0 {
		a.fail(a.n.header, "Alternative without a run time", "The runtime of the job %q does not tell how long it takes with GPUs: give this alternative a runtime block, or the job's a gpu_rate.", j.Name)
	}
	checkGPUType(a, other, rt)
}

// checkGPUType reports types of GPU that a way without GPUs asks for. A job's rates
// may be those of its alternatives.
func checkGPUType(a *args, j *Job, rt *node) {
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

// checkPlacement reports contradictions in how a policy places jobs.
func checkPlacement(a *args, p *Policy) {
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
func gpuOf(a *args, m scheduler.Node) string {
	if get[string](a, "gpu") != "" && m.GPUs == 0 && a.ok {
		a.fail(a.at("gpu"), "Argument that nothing reads", "gpu is the type of the GPUs, and %s has none: add gpus.", a.n.title())
	}
	return get[string](a, "gpu")
}
