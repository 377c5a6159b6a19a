package decode

import (
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/stages/experiment"
)

// alternativeArgs are the arguments of an alternative block.
//
// Other resources on which the job can run instead. The policy chooses the alternative with which the job
// starts (`placement`, or the order `allox`); the job keeps it until it ends. The program is the same, and
// learns its resources from the job contract (`TFEXP_NUM_GPUS`, `CUDA_VISIBLE_DEVICES`, and with `flags` also
// `--cpu --numThreads N` or `--gpu --numGPUs N`). Alternatives for which the hardware never has room are left
// out there. A job with alternatives cannot be malleable, and needs the allocation `strict`.
//
//	job "either" {
//	  command = ["train"]
//	  epochs  = 100
//	  threads = 4
//	  runtime { epoch = "8s" }
//	  alternative "gpu" {
//	    gpus = 1
//	    runtime {
//	      epoch    = "1s"
//	      gpu_rate = { K80 = 1, V100 = 4.2 }
//	    }
//	  }
//	}
type alternativeArgs struct {
	// The cores that the alternative requests, written as for the job.
	//
	//	threads = 2
	Threads experiment.Threads `arg:"threads" type:"threads" default:"1" min:"1" max:"threads"`
	// The GPUs that the alternative requests.
	//
	//	gpus = 1
	GPUs int `arg:"gpus" default:"0" min:"0" max:"threads"`
	// The type of GPU that the job needs, as in the argument `gpu` of nodes.
	//
	// Default: any.
	//
	//	gpu = "V100"
	GPU string `arg:"gpu"`
	// The memory that the alternative requests.
	//
	// Default: the job's.
	//
	//	memory = "2GiB"
	Memory *int64 `arg:"memory"`
}

func alternativeBlock() *schema.Block {
	b := schema.BlockFor[alternativeArgs](schema.Block{
		Name: "alternative", Label: "name; the job's own request is called `cpu`, or `gpu` if it includes GPUs", Unique: true,
	})
	schema.Find(b.Args, "threads").Keys = threadKeys()[:3]
	return b
}

// alternatives decodes the alternative blocks of a job.
func (d *Decoder) alternatives(n *eval.Node, e *eval.Env, a *eval.Args, j *experiment.Job) {
	checkGPUType(a, j, n.First("runtime"))
	for _, an := range n.All("alternative") {
		var v alternativeArgs
		aa := d.Decode(an, e, &v)
		other := *j
		other.Alternative, other.Form, other.Range, other.At = an.Label, an.Label, eval.RangeOf(an.Header), aa.Ranges()
		other.Threads = v.Threads
		if aa.Lacks("threads") {
			other.Threads = experiment.Threads{Request: 1, Inter: 1, Intra: 1, Range: eval.RangeOf(an.Header)}
		}
		other.GPUs, other.GPU = v.GPUs, v.GPU
		other.Memory = schema.Or(v.Memory, other.Memory)
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

// checkAlternative reports mistakes in an alternative of the job j; rt is its runtime block.
func (d *Decoder) checkAlternative(a *eval.Args, rt *eval.Node, j, other *experiment.Job) {
	if other.Alternative == j.AlternativeName() {
		a.Fail(a.Node.LabelAt, "Duplicate name",
			"The job %q calls its own request %q; give this alternative another name.", j.Name,
			other.Alternative)
	}
	if nodes := max(j.Nodes, 1); other.Threads.Request%nodes != 0 || other.GPUs%nodes != 0 {
		a.Fail(a.Node.Header, "Contradicting arguments",
			"%s and %s cannot be divided evenly over the job's %d nodes.",
			schema.Plural(other.Threads.Request, "thread"), schema.Plural(other.GPUs, "GPU"), nodes)
	}
	if rt == nil && other.Runtime != nil && other.GPUs > 0 && j.GPUs == 0 && len(other.Runtime.GPURates) == 0 {
		a.Fail(a.Node.Header, "Alternative without a run time",
			"The runtime block of the job %q has no run time with GPUs: give this alternative a runtime "+
				"block, or that of the job a gpu_rate.", j.Name)
	}
	checkGPUType(a, other, rt)
}

// checkGPUType reports arguments about types of GPU if no GPU is requested. gpu_rate is allowed, since it may be for
// an alternative of the job.
func checkGPUType(a *eval.Args, j *experiment.Job, rt *eval.Node) {
	if j.GPUs > 0 || !a.OK {
		return
	}
	a.Unread("{} is the type of the requested GPUs, but gpus is 0.", "gpu")
	if rt != nil && (j.Alternative != "" || len(a.Node.All("alternative")) == 0) {
		for _, name := range []string{"gpu_rate", "beside"} {
			if attr := rt.Attr(name); attr != nil {
				a.Fail(attr.Range, "Unused argument", "%s is for jobs with GPUs, but gpus is 0.", name)
			}
		}
	}
}
