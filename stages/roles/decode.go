package roles

import (
	"embed"
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// roleArgs are the arguments of a role block.
//
// The parts of a job whose program runs several times, as parameter servers and workers do. The parts are
// started together, on one node or on several, and given their role, their number and the addresses of all
// (`TFEXP_ROLE`, `TFEXP_TASK`, `TFEXP_CLUSTER`, `TF_CONFIG`). The job ends when its chief does, or worker 0
// where there is no chief; then the other parts are ended. Built-in programs have the roles `ps`, `worker` and
// `chief`. `threads` and `gpus` of the job are the sums over its parts.
//
//	job "cluster" {
//	  builtin "cnn" {}
//	  epochs = 10
//	  role "worker" {
//	    count   = 2
//	    elastic = true
//	  }
//	  role "ps" {
//	    count   = 1
//	    threads = 0
//	  }
//	}
type roleArgs struct {
	// How many parts of this role the job has.
	//
	//	count = 4
	Count int `arg:"count,required" min:"1" max:"nodes"`
	// The cores of each part. A part with 0 is on the node of the job's first part that has some, and shares the
	// cores of the job there.
	//
	//	threads = 2
	Threads int `arg:"threads" default:"1" min:"0" max:"threads"`
	// The GPUs of each part.
	//
	//	gpus = 1
	GPUs int `arg:"gpus" default:"0" min:"0" max:"threads"`
	// The type of GPU on the node of each part.
	//
	// Default: any type.
	//
	//	gpu = "V100"
	GPU string `arg:"gpu"`
	// Whether the job continues when a part of this role fails or loses its node. It does not go on without the part
	// that ends it. A part that was lost starts again as soon as there is room for it that no waiting job can use; one
	// that failed does not, until the job restarts or another number of parts is asked for.
	//
	//	elastic = true
	Elastic bool `arg:"elastic" default:"false"`
	// Whether the loss of a part ends the attempt of the job, even if the role is elastic. The loss of the part that
	// ends the job always does, and the loss of any part of a role that is not elastic.
	//
	//	vital = true
	Vital bool `arg:"vital" default:"false"`
	// The fewest parts of an elastic role with which the job continues.
	//
	// Default: 1.
	//
	//	min = 2
	Min int `arg:"min" min:"1" max:"nodes"`
	// The most parts of an elastic role that the job can have while it runs.
	//
	// Default: `count`.
	//
	//	max = 8
	Max int `arg:"max" min:"1" max:"nodes"`
}

//go:embed decode.go
var source embed.FS

var _ = schema.Document("roles", source)

func init() {
	language.Extend("roles", language.Job, language.Extension[experiment.Job]{
		Blocks: func() []*schema.Block {
			return []*schema.Block{schema.BlockFor[roleArgs](schema.Block{
				Name: "role", Label: "`worker`, `ps`, `chief`, or another name that the program knows", Unique: true,
			})}
		},
		DecodeFirst: decode,
	})
}

// decode decodes the roles of a job. The job's request is the sum over its parts.
func decode(d *language.Decoder, a language.Block, j *experiment.Job) {
	n := a.Node
	blocks := n.All("role")
	if len(blocks) == 0 {
		return
	}
	parts := &Roles{}
	_, own := experiment.PartOf[stages.OwnProgram](j.Parts)
	j.Parts = append(j.Parts, parts)
	a.Excludes("A job with role blocks has the resources of its parts, and keeps them: {} is not for it.",
		"threads", "gpus", "gpu", "memory", "nodes", "malleable")
	if other := n.First("alternative"); other != nil {
		a.Fail(other.Header, "Contradicting blocks", "A job with role blocks has no alternatives.")
	}
	threads, gpus := 0, 0
	for _, rn := range blocks {
		var v roleArgs
		ra := d.Decode(rn, a.Env, &v)
		r := scheduler.Role{
			Name: rn.Label, Count: v.Count, Threads: v.Threads, GPUs: v.GPUs, GPU: v.GPU, Elastic: v.Elastic, Vital: v.Vital,
			Min: v.Min, Max: v.Max,
		}
		if !r.Elastic && !ra.IsWrong("elastic") {
			ra.Unread("{} is for elastic roles.", "min", "max")
		}
		switch {
		case !r.Elastic:
		case ra.IsSet("max") && r.Max < r.Count && ra.OK:
			ra.Fail(ra.At("max"), "Value out of range", "max is %d, but the role %q has %s.", r.Max, r.Name,
				schema.Plural(r.Count, "part"))
		case r.Min > r.Count && ra.OK:
			ra.Fail(ra.At("min"), "Value out of range", "min is %d, but the role %q has %s.", r.Min, r.Name,
				schema.Plural(r.Count, "part"))
		default:
			r.Min = max(r.Min, 1)
		}
		if r.GPU != "" && r.GPUs == 0 {
			ra.Unread(fmt.Sprintf("The parts of the role %q have no GPUs: set gpus.", r.Name), "gpu")
		}
		if known := []string{contract.RoleServer, contract.RoleWorker, contract.RoleChief}; own &&
			!slices.Contains(known, r.Name) {
			ra.Fail(rn.LabelAt, "Role that the program ignores", "The built-in programs have no role %q, but %s.", r.Name,
				schema.AllOf(known))
		}
		a.OK = a.OK && ra.OK
		parts.List = append(parts.List, r)
		threads, gpus = threads+r.Count*r.Threads, gpus+r.Count*r.GPUs
	}
	if !a.OK {
		return
	}
	switch workers := parts.count(contract.RoleWorker) + parts.count(contract.RoleChief); {
	case threads == 0:
		a.Fail(n.Header, "Job without threads", "No part of %s has a thread: set threads in one of its "+
			"roles.", n.Title())
	case threads > schema.MaxThreads:
		a.Fail(n.Header, "Value out of range", "The parts of %s have %d threads together, but at most %d are "+
			"allowed.", n.Title(), threads,
			schema.MaxThreads)
	case own && workers == 0:
		a.Fail(n.Header, "Job without a worker", "No part of %s trains: add a role \"worker\".", n.Title())
	case own && workers > 1 && parts.count(contract.RoleServer) == 0:
		a.Fail(n.Header, "Workers without a parameter server", "%s has %d workers, which need a role \"ps\".", n.Title(),
			workers)
	}
	j.Threads = experiment.Threads{Request: threads, Inter: 1, Intra: threads, Range: eval.RangeOf(n.Header)}
	j.GPUs = gpus
}

// count returns the number of parts of a role.
func (p *Roles) count(name string) int {
	for _, r := range p.List {
		if r.Name == name {
			return r.Count
		}
	}
	return 0
}
