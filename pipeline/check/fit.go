package check

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// misfit is why a hardware never has room for a request.
type misfit struct {
	argument string // of the job block: threads, gpus or memory; nodes for the rest
	summary  string
	reason   string // ends a sentence that begins with who asks
}

// room returns why the hardware never has room for a request, or nil. All
// requests (a job, an alternative of it, a job of a trace, a resize) are
// checked here, and reported in these words.
func room(r cluster.Demand, h *experiment.Hardware) *misfit {
	if r.FitsOn(h.Cluster) {
		return nil
	}
	if r.Nodes > 1 || r.GPU != "" || r.Divided {
		return &misfit{
			argument: "nodes", summary: fmt.Sprintf("More than the hardware %q has", h.Name),
			reason: fmt.Sprintf("asks for %s, which the hardware %q never has", r, h.Name),
		}
	}
	var threads, gpus int
	var memory int64
	for _, n := range h.Cluster.Nodes {
		threads, gpus, memory = max(threads, n.Threads), max(gpus, n.GPUs), max(memory, n.Memory)
		if n.Memory == 0 { // not accounted for
			memory = max(memory, r.Memory)
		}
	}
	where := fmt.Sprintf("the hardware %q", h.Name)
	if len(h.Cluster.Nodes) > 1 {
		where = "the largest node of " + where
	}
	short := func(argument, noun, asked, has string) *misfit {
		return &misfit{
			argument: argument, summary: fmt.Sprintf("More %s than the hardware %q has", noun, h.Name),
			reason: fmt.Sprintf("asks for %s, but %s has %s", asked, where, has),
		}
	}
	switch {
	case r.Threads > threads:
		return short("threads", "threads", schema.Plural(r.Threads, "thread"), fmt.Sprint(threads))
	case r.GPUs > gpus:
		return short("gpus", "GPUs", schema.Plural(r.GPUs, "GPU"), fmt.Sprint(gpus))
	case r.Memory > memory:
		return short("memory", "memory", schema.FormatSize(r.Memory), schema.FormatSize(memory))
	}
	return &misfit{
		argument: "nodes", summary: fmt.Sprintf("No node of the hardware %q has room", h.Name),
		reason: fmt.Sprintf("asks for %s, and no node of the hardware %q has all of that", r, h.Name),
	}
}

// fits checks that a free hardware has room for a job: for its own request, or
// for one of its alternatives, on one node or, where the policy divides jobs, on any.
func (c *Checker) fits(j *experiment.Job, h *experiment.Hardware, divides bool) {
	divides = divides && j.Divisible()
	if j.Placed() {
		c.fitsSomehow(j, h, divides)
		return
	}
	if j.RunsAsSeveralPrograms() { // the feature that it is of checks them
		return
	}
	asks := j.Demand()
	asks.Divided = divides
	if m := room(asks, h); m != nil {
		who := fmt.Sprintf("The job %q", j.Name)
		at := language.Place(j.At, m.argument, j.Range)
		switch {
		case m.argument == "threads":
			c.Fail(j.Threads.Range, m.summary, "%s %s.", who, m.reason)
		case m.argument == "gpus" && slices.Contains(c.jobOnEngine(j, h, j.GPUs), "gpus"): // its engine knows why
		default:
			c.Fail(at, m.summary, "%s %s.", who, m.reason)
		}
		if m.argument == "gpus" {
			return // that the engine lacks them as well helps nobody
		}
	}
	if j.GPUs > 0 && !h.Capabilities().GPUs {
		c.Lacks(language.Place(j.At, "gpus", j.Range), h, "gpus", needsGPUs(j.Name))
	}
	if j.Memory > 0 && slices.Contains(h.Lacks, "memory") {
		c.Lacks(language.Place(j.At, "memory", j.Range), h, "memory", needsMemory(j.Name))
	}
}

func needsGPUs(job string) string { return fmt.Sprintf("The job %q requests GPUs", job) }

func needsMemory(job string) string { return fmt.Sprintf("The job %q requests memory", job) }

// fitsSomehow checks that a hardware has room for a job with alternatives in at
// least one of them, and that the job has a rate for all GPUs that it can get.
func (c *Checker) fitsSomehow(j *experiment.Job, h *experiment.Hardware, divides bool) {
	asks := make([]string, 0, 1+len(j.Alternatives))
	some := false
	for _, a := range j.WithAlternatives() {
		some = some || a.On(h) || divides && a.Reaches(h)
		asks = append(asks, a.Demand().String())
	}
	if !some {
		c.Fail(language.Place(j.At, "gpu", j.Range), fmt.Sprintf("More than the hardware %q has", h.Name),
			"The job %q asks for %s, which the hardware %q never has.", j.Name, strings.Join(asks, ", or "), h.Name)
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

// resizes checks a workload's own resize requests.
func (c *Checker) resizes(w *experiment.Workload, h *experiment.Hardware) {
	for _, u := range w.Resizes {
		if !h.Capabilities().Resize {
			c.Lacks(u.Range, h, "resize", fmt.Sprintf("The workload %q resizes the job %q", w.Name, u.Job))
			continue
		}
		if m := room(w.Resized(u), h); m != nil {
			c.Fail(u.Range, m.summary, "The resize of the job %q %s.", u.Job, m.reason)
		}
	}
}

// Lines reports errors at lines of the files that traces are read from.
type Lines interface {
	AtLine(t *experiment.Trace, line int, summary, detail string)
}

// Traces checks the jobs of traces against the hardware of their cells. A job
// that does not fit is an error at its line; of a lenient spec it is left out
// of all cells, so that they have the same jobs.
func (c *Checker) Traces(lines Lines) {
	type meeting struct {
		t       *experiment.Trace
		h       *experiment.Hardware
		divides bool
	}
	seen := map[meeting]bool{}
	large := map[*experiment.Trace]map[int]bool{}
	var traces []*experiment.Trace
	for _, cell := range c.Spec.Cells {
		for _, s := range cell.Workload.Submits {
			c.leftOut(s.LeftOut, s.Range)
		}
		t, h := cell.Workload.Trace, cell.Hardware
		m := meeting{t, h, cell.Policy.Divides()}
		if t == nil || seen[m] {
			continue
		}
		seen[m] = true
		if large[t] == nil {
			large[t] = map[int]bool{}
			traces = append(traces, t)
		}
		f := &traceFit{Checker: c, lines: lines, t: t, h: h, divides: m.divides, large: large[t]}
		f.jobs()
		f.resizes()
	}
	for _, t := range traces {
		if n := len(large[t]); n > 0 && c.Spec.Lenient {
			t.LeaveOut(large[t])
			if len(t.Jobs) == 0 {
				c.Fail(t.Range, "Trace without jobs", "All of its jobs are larger than the hardware.")
			}
		}
		c.leftOut(t.LeftOut(), t.Range)
	}
}

// leftOut warns of parts that were left out of a lenient spec, if any.
func (c *Checker) leftOut(text string, at experiments.Range) {
	if text != "" {
		c.Add(experiments.WarningAt(at, "Incomplete file", "%s.", text))
	}
}

// traceFit checks the jobs of one trace on one hardware.
type traceFit struct {
	*Checker
	lines   Lines
	t       *experiment.Trace
	h       *experiment.Hardware
	divides bool         // the policy divides jobs over nodes
	large   map[int]bool // the jobs for which there is no room, to which it adds
	count   int          // of errors
}

// atLine reports an error at a line of the trace, unless there have been too many.
func (f *traceFit) atLine(line int32, summary, detail string) {
	if f.count++; f.count <= workload.MaxErrors {
		f.lines.AtLine(f.t, int(line), summary, detail)
	}
}

// oversized are jobs of a trace for which the hardware never has room, for one reason.
type oversized struct {
	*misfit
	first, jobs int
}

// sentence names the jobs that are too large, and suggests a remedy.
func (g oversized) sentence(t *experiment.Trace) string {
	who := fmt.Sprintf("job %q %s.", t.Jobs[g.first].Name, g.reason)
	if g.jobs == 1 {
		return "The " + who
	}
	if g.argument == unmeasured {
		return fmt.Sprintf("%d jobs cannot run, the first on line %d: the %s\nAdd these to the table, give the hardware a "+
			"type of GPU that it has, or leave such jobs out with --lenient.", g.jobs, t.Lines[g.first], who)
	}
	return fmt.Sprintf("%d jobs ask for too much, the first on line %d: the %s\nGive the hardware larger nodes, "+
		"divide jobs over nodes, or leave such jobs out with --lenient.", g.jobs, t.Lines[g.first], who)
}

func (f *traceFit) jobs() {
	var groups []oversized
	known := map[cluster.Demand]*misfit{}
	lacksGPUs := f.h.ForEngine().HasGPUs() && !f.h.Capabilities().GPUs
	lacksMemory := slices.Contains(f.h.Lacks, "memory")
	chosen := f.fitSomehow()
	for i := range f.t.Jobs {
		j, line := &f.t.Jobs[i], f.t.Lines[i]
		if k := f.t.Block[i]; k >= 0 && chosen[k] {
			continue
		}
		r := j.Demand()
		r.Divided = f.divides && j.Divisible()
		m, ok := known[r]
		if !ok {
			m = room(r, f.h)
			known[r] = m
		}
		if m == nil {
			m = f.unmeasured(i)
		}
		if m != nil {
			f.large[i] = true
			if k := slices.IndexFunc(groups, func(g oversized) bool { return g.summary == m.summary }); k >= 0 {
				groups[k].jobs++
			} else {
				groups = append(groups, oversized{misfit: m, first: i, jobs: 1})
			}
		}
		if j.GPUs > 0 && lacksGPUs {
			summary, detail := language.Lacking(f.h, "gpus", needsGPUs(j.Name))
			f.atLine(line, summary, detail)
		}
		if j.Memory > 0 && lacksMemory {
			summary, detail := language.Lacking(f.h, "memory", needsMemory(j.Name))
			f.atLine(line, summary, detail)
		}
		if f.h.Real() && f.t.Block[i] < 0 {
			f.atLine(line, "Job without a block", fmt.Sprintf(
				"The hardware %q runs programs, but no job block says what %q runs: name one in jobs = { %q = job.<name> }.",
				f.h.Name, j.Name, j.Class))
		}
	}
	for _, g := range groups {
		if !f.Spec.Lenient {
			f.atLine(f.t.Lines[g.first], g.summary, g.sentence(f.t))
		}
	}
}

// fitSomehow reports, by block, whether the hardware has room for at least one alternative of its jobs.
func (f *traceFit) fitSomehow() []bool {
	fit := make([]bool, len(f.t.Blocks))
	for k, b := range f.t.Blocks {
		fit[k] = b.Chosen && slices.ContainsFunc(b.WithAlternatives(), func(a *experiment.Job) bool {
			return a.On(f.h) || f.divides && a.Reaches(f.h)
		})
	}
	return fit
}

// unmeasured is the argument of the misfit of a job whose speed is known on other types of GPU alone.
const unmeasured = "gpu_rate"

// unmeasured returns that misfit, or nil for a job that is faster on some types of GPU than on others and has a rate on
// one on which there is room for it.
func (f *traceFit) unmeasured(job int) *misfit {
	k := f.t.Block[job]
	if k < 0 || f.h.Real() || f.t.Jobs[job].GPUs == 0 {
		return nil
	}
	block := f.t.Blocks[k].Job
	if block.Runtime == nil || len(block.Runtime.GPURates) == 0 {
		return nil
	}
	var known []string
	for _, rate := range block.Runtime.GPURates {
		typed := *block
		if typed.GPU = rate.Type; typed.Reaches(f.h) {
			return nil
		}
		known = append(known, rate.Type)
	}
	return &misfit{
		argument: unmeasured, summary: fmt.Sprintf("No throughput on the hardware %q", f.h.Name),
		reason: fmt.Sprintf("wants %s, and the throughput of %q with so many is known on %s alone",
			schema.Plural(f.t.Jobs[job].GPUs, "GPU"), block.Name, strings.Join(known, ", ")),
	}
}

func (f *traceFit) resizes() {
	can := f.h.Capabilities().Resize
	for i, z := range f.t.Resizes {
		j, line := &f.t.Jobs[z.Job], f.t.ResizeLines[i]
		r := j.Demand()
		r.Threads = z.Threads
		m := room(r, f.h)
		switch {
		case m == nil && !can && j.Malleable:
			summary, detail := language.Lacking(f.h, "resize", fmt.Sprintf("The trace resizes the job %q", j.Name))
			f.atLine(line, summary, detail)
		case m != nil && f.Spec.Lenient:
			f.large[z.Job] = true
		case m != nil:
			f.atLine(line, m.summary, fmt.Sprintf("The resize of the job %q %s.", j.Name, m.reason))
		}
	}
}

// late refuses submissions that go on for longer than times in nanoseconds can say.
func (c *Checker) late(w *experiment.Workload) {
	for _, s := range w.Submits {
		last := float64(s.Arrivals.Start) + float64(s.Arrivals.Mean)*float64(s.Count)
		if last >= math.MaxInt64 {
			c.Fail(s.Range, "Arrivals out of range",
				"The last of %d jobs would arrive %.0f years after the start; the most is 292.",
				s.Count, last/float64(365*24*time.Hour))
		}
	}
}
