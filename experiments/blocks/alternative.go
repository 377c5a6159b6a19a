package blocks

import (
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/words"
)

// alternatives decodes the alternatives of a job.
func (d *Decoder) alternatives(n *eval.Node, e *eval.Env, a *eval.Args, j *experiments.Job) {
	checkGPUType(a, j, n.First("runtime"))
	for _, an := range n.All("alternative") {
		aa := d.EvalArgs(an, e)
		other := *j
		other.Alternative, other.Form, other.Range, other.At = an.Label, an.Label, eval.RangeOf(an.Header), aa.Ranges()
		other.Threads = eval.Get[experiments.Threads](aa, "threads")
		if aa.Lacks("threads") {
			other.Threads = experiments.Threads{Request: 1, Inter: 1, Intra: 1, Range: eval.RangeOf(an.Header)}
		}
		other.GPUs, other.GPU = eval.Get[int](aa, "gpus"), eval.Get[string](aa, "gpu")
		if aa.IsSet("memory") {
			other.Memory = eval.Get[int64](aa, "memory")
		}
		rt := an.First("runtime")
		if rt != nil {
			var ok bool
			other.Runtime, ok = d.runtime(rt, e, &other)
			aa.OK = aa.OK && ok
		}
		if aa.OK && a.OK {
			d.checkAlternative(aa, rt, j, &other)
		}
		a.OK = a.OK && aa.OK
		j.Alternatives = append(j.Alternatives, &other)
	}
	if j.Placed() && j.Malleable && a.OK {
		a.Fail(a.At("malleable"), "Contradicting arguments",
			"A job with alternatives, or with a type of GPU, keeps its request until it ends; it cannot be malleable.")
	}
}

// checkAlternative reports what is wrong with an alternative of a job.
func (d *Decoder) checkAlternative(a *eval.Args, rt *eval.Node, j, other *experiments.Job) {
	if other.Alternative == j.AlternativeName() {
		a.Fail(a.Node.LabelAt, "Duplicate name",
			"The job %q calls its own request %q; give this alternative another name.", j.Name,
			other.Alternative)
	}
	if nodes := max(j.Nodes, 1); other.Threads.Request%nodes != 0 || other.GPUs%nodes != 0 {
		a.Fail(a.Node.Header, "Contradicting arguments",
			"%s and %s cannot be divided evenly over the job's %d nodes.",
			words.Plural(other.Threads.Request, "thread"), words.Plural(other.GPUs, "GPU"), nodes)
	}
	if rt == nil && other.Runtime != nil && other.GPUs > 0 && j.GPUs == 0 && len(other.Runtime.GPURates) == 0 {
		a.Fail(a.Node.Header, "Alternative without a run time",
			"The runtime block of the job %q has no run time with GPUs: give this alternative a runtime "+
				"block, or that of the job a gpu_rate.", j.Name)
	}
	checkGPUType(a, other, rt)
}

// checkGPUType reports types of GPU where no GPU is requested. A job's rates
// may be those of its alternatives.
func checkGPUType(a *eval.Args, j *experiments.Job, rt *eval.Node) {
	if j.GPUs > 0 || !a.OK {
		return
	}
	if a.IsSet("gpu") {
		a.Fail(a.At("gpu"), "Argument that nothing reads",
			"gpu is the type of the requested GPUs, but gpus is 0.")
	}
	if rt != nil && (j.Alternative != "" || len(a.Node.All("alternative")) == 0) {
		for _, name := range []string{"gpu_rate", "beside"} {
			if attr := rt.Attr(name); attr != nil {
				a.Fail(attr.Range, "Argument that nothing reads", "%s is for jobs with GPUs, but gpus is 0.", name)
			}
		}
	}
}
