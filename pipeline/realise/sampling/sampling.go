// Package sampling says how jobs of the language are sampled, and what their samples say of an engine and of the
// machine.
package sampling

import (
	"cmp"
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// BlockName names the form of a job block that a job is.
func BlockName(j *experiments.Job) string {
	if j.Form == "" {
		return j.Name
	}
	return j.Name + "-" + j.Form
}

// Pick is the time-writer line that the language's word stands for.
func Pick(word string) contract.Pick {
	switch word {
	case "first":
		return contract.First
	case "longest":
		return contract.Longest
	}
	return contract.Last
}

// FewerParts is the number of threads of a job with as few parts as it goes on with, on hardware whose nodes can be
// lost; none where it has always all of them.
func FewerParts(h *experiments.Hardware, j *experiments.Job) []int {
	if fewest := WithFewest(j); h.Terms != nil && h.Real() && fewest.Threads < j.Threads.Request {
		return []int{fewest.Threads}
	}
	return nil
}

// WithFewest is a job as the scheduler sees it when it has lost all parts that it goes on without.
func WithFewest(j *experiments.Job) scheduler.Job {
	counts := make([]int, len(j.Roles))
	for i, r := range j.Roles {
		if counts[i] = r.Count; r.Elastic && !r.Vital {
			counts[i] = max(r.Min, 1)
		}
	}
	return j.Template().WithParts(counts)
}

// OtherThreads are the numbers of threads, beside its request, on which a job of a cell is to be sampled for a speed-up
// curve: those that the file says; or else, where it may come to run on another number, the fewest and the most that it
// may hold. The fewest is what the file says, or half of the request: a sample on one thread of many would take as long
// as the job. None are more than the machine has.
func OtherThreads(p experiments.Profile, c experiments.Cell, j *experiments.Job, machine int) []int {
	request := j.Threads.Request
	counts := slices.Clone(p.Threads)
	if len(j.Roles) > 0 {
		return FewerParts(c.Hardware, j)
	}
	if len(counts) == 0 {
		partial := c.Policy.Partial() || c.Policy.DividesCores(c.Hardware)
		resized := len(c.Workload.Resizes) > 0 || c.Workload.Trace != nil && len(c.Workload.Trace.Resizes) > 0
		if !partial && !resized {
			return nil
		}
		least := j.Threads.Min
		if least == 0 {
			least = max(1, request/2)
		}
		counts = []int{least, max(request, j.Threads.Max)}
	}
	return slices.DeleteFunc(counts, func(n int) bool {
		return n == request || n > machine || n%max(j.Nodes, 1) != 0
	})
}

// Lengths are the lengths of a job's samples: those that the file lists,
// or multiples of the part of the job that the file asks for (at least one
// unit); never more than the job.
func Lengths(total int, profile experiments.Profile) []int {
	if len(profile.Lengths) > 0 {
		lengths := slices.Clone(profile.Lengths)
		for i := range lengths {
			lengths[i] = min(total, lengths[i])
		}
		return slices.Compact(lengths)
	}
	shortest := max(1, int(float64(total)*profile.Fraction+0.5))
	lengths := make([]int, profile.Samples)
	for i := range lengths {
		lengths[i] = min(total, shortest*(i+1))
	}
	return lengths
}

// longestSample is how long a sample may take where the file does not say.
const longestSample = 10 * time.Minute

// Limit is how long a sample of a job may take.
func Limit(p experiments.Profile, j *experiments.Job) time.Duration {
	if p.Limit == 0 && j.Budget != nil {
		return *j.Budget
	}
	return cmp.Or(p.Limit, longestSample)
}

// mostCopies is how many copies of a job are sampled side by side.
const mostCopies = 8

// Copies is how many copies of a job are sampled side by side for a hardware, of as many cores of a node as they
// share; 0 if the job cannot run beside another there, or how it does so is not measured. The machine has so many
// threads.
func Copies(p experiments.Profile, h *experiments.Hardware, j *experiments.Job, threads int) (copies, cores int) {
	kind := h.Kind()
	if p.Alone || !h.Real() || !kind.Descendants && !kind.Contained ||
		len(j.Roles) > 0 || j.GPUs > 0 || len(h.Cluster.Nodes) == 0 || h.Terms != nil {
		return 0, 0
	}
	cores = min(h.Cluster.Nodes[0].Threads, threads)
	if copies = min(cores/max(j.Threads.Request, 1), mostCopies); copies < 2 {
		return 0, 0
	}
	return copies, cores
}
