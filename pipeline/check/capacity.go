package check

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// jobCapacity checks that an empty hardware has room for a job's request, or for one of its alternatives. The job
// must fit on one node, or on several if the policy divides jobs over nodes.
func (c *Checker) jobCapacity(j *experiment.Job, h *experiment.Hardware, divides bool) {
	divides = divides && j.Divisible()
	if j.Placed() {
		c.alternativesCapacity(j, h, divides)
		return
	}
	if j.RunsAsSeveralPrograms() { // the feature of such jobs checks their capacity
		return
	}
	asks := j.Demand()
	asks.Divided = divides
	if m := language.CapacityProblemOf(asks, h); m != nil {
		who := fmt.Sprintf("The job %q", j.Name)
		at := language.Place(j.At, m.Argument, j.Range)
		switch {
		case m.Argument == "threads":
			c.Fail(j.Threads.Range, m.Summary, "%s %s.", who, m.Reason)
		case m.Argument == "gpus" && slices.Contains(c.jobOnEngine(j, h, j.GPUs), "gpus"): // the engine has reported the GPUs
		default:
			c.Fail(at, m.Summary, "%s %s.", who, m.Reason)
		}
		if m.Argument == "gpus" {
			return // one message for one mistake
		}
	}
	if j.GPUs > 0 && !h.Capabilities().GPUs {
		c.Lacks(language.Place(j.At, "gpus", j.Range), h, "gpus", language.NeedsGPUs(j.Name))
	}
	if j.Memory > 0 && slices.Contains(h.Lacks, "memory") {
		c.Lacks(language.Place(j.At, "memory", j.Range), h, "memory", language.NeedsMemory(j.Name))
	}
}

// alternativesCapacity checks that a hardware has room for a job with alternatives, with at least one of them. It
// also checks that the job has a rate for each type of GPU that it can get.
func (c *Checker) alternativesCapacity(j *experiment.Job, h *experiment.Hardware, divides bool) {
	asks := make([]string, 0, 1+len(j.Alternatives))
	some := false
	for _, a := range j.WithAlternatives() {
		some = some || a.On(h) || divides && a.Reaches(h)
		asks = append(asks, a.Demand().String())
	}
	if !some {
		c.Fail(language.Place(j.At, "gpu", j.Range), fmt.Sprintf("Too large for the hardware %q", h.Name),
			"The job %q requests %s, which the hardware %q never has.", j.Name, strings.Join(asks, ", or "), h.Name)
		return
	}
	for _, a := range j.WithAlternatives() {
		if a.GPUs == 0 || a.Runtime == nil || h.Real() || !a.On(h) {
			continue
		}
		for _, gpu := range h.GPUTypes() {
			if _, ok := a.Runtime.RateOn(gpu); !ok && (a.GPU == "" || a.GPU == gpu) {
				c.Fail(a.Range, fmt.Sprintf("No rate on the GPUs of the hardware %q", h.Name),
					"The gpu_rate of the job %q has no rate for the type %q, which the hardware %q has.", j.Name, gpu, h.Name)
			}
		}
	}
}

// resizes checks the resize requests of a workload block.
func (c *Checker) resizes(w *experiment.Workload, h *experiment.Hardware) {
	for _, u := range w.Resizes {
		if !h.Capabilities().Resize {
			c.Lacks(u.Range, h, "resize", fmt.Sprintf("The workload %q resizes the job %q", w.Name, u.Job))
			continue
		}
		if m := language.CapacityProblemOf(w.Resized(u), h); m != nil {
			c.Fail(u.Range, m.Summary, "The resize of the job %q %s.", u.Job, m.Reason)
		}
	}
}

// submissionEnd reports submissions that last longer than a time.Duration can hold (292 years).
func (c *Checker) submissionEnd(w *experiment.Workload) {
	for _, s := range w.Submits {
		last := float64(s.Arrivals.Start) + float64(s.Arrivals.Mean)*float64(s.Count)
		if last >= math.MaxInt64 {
			c.Fail(s.Range, "Arrivals out of range",
				"The last of %d jobs would arrive %.0f years after the start; the limit is 292 years.",
				s.Count, last/float64(365*24*time.Hour))
		}
	}
}
