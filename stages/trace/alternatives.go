package trace

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/stages/experiment"
)

// amongText returns a key that is equal for jobs of a trace that can share a block: jobs of one class with equal
// alternatives.
func amongText(j *scheduler.Job, all []workload.Alternative) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %d", j.Class, j.Nodes)
	for _, a := range all {
		fmt.Fprintf(&b, ";%q %d %d %d %q", a.Name, a.Threads, a.GPUs, a.Memory, a.GPU)
	}
	return b.String()
}

// blockAmong returns the block of jobs whose alternatives are in a trace, with the request of each alternative. Their
// program comes from the job block that represents them, if there is one. Alternatives of that block represent the
// trace's alternatives of the same names.
func blockAmong(t *experiment.Trace, j *scheduler.Job, block *experiment.Job, all []workload.Alternative) *experiment.Job {
	as := func(of *experiment.Job, a workload.Alternative) *experiment.Job {
		one := experiment.Job{Name: j.Class, Range: t.Range, Steps: 1,
			Threads: experiment.Threads{Request: a.Threads, Inter: 1, Intra: a.Threads},
			Runtime: &experiment.Runtime{Epoch: workload.Span{Mean: time.Second}, Whole: true, Parallel: 1},
		}
		if of != nil {
			one = *of.WithThreads(a.Threads)
		}
		one.Alternatives, one.Malleable, one.Alternative = nil, false, ""
		one.Nodes, one.GPUs, one.GPU, one.Memory = max(j.Nodes, one.Nodes), a.GPUs, a.GPU, a.Memory
		if one.AlternativeName() != a.Name {
			one.Alternative = a.Name
		}
		one.Form = fmt.Sprintf("%s %dt %dg", a.Name, a.Threads, a.GPUs)
		return &one
	}
	own := as(block, all[0])
	for _, a := range all[1:] {
		of := block
		if block != nil {
			if i := slices.IndexFunc(block.Alternatives, func(b *experiment.Job) bool { return b.Alternative == a.Name }); i >= 0 {
				of = block.Alternatives[i]
			}
		}
		other := as(of, a)
		other.Alternative = a.Name
		own.Alternatives = append(own.Alternatives, other)
	}
	return own
}
