package trace

import (
	"fmt"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
	"github.com/tfexp/tfexp/stages/language/datafile"
	"path/filepath"
	"slices"
	"strings"
)

// capacity checks the jobs of traces against the hardware of their cells. A job that does not fit is an error at its
// line. With --lenient, it is removed from all cells, so that they have the same jobs.
func capacity(d *language.Decoder, s *experiment.Spec) {
	c := language.NewChecker(d.Reporter, s, d.Host)
	type meeting struct {
		t       *experiment.Trace
		h       *experiment.Hardware
		divides bool
	}
	seen := map[meeting]bool{}
	large := map[*experiment.Trace]map[int]bool{}
	var traces []*experiment.Trace
	for _, cell := range s.Cells {
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
		f := &traceCapacity{Checker: c, files: d.Finder, t: t, h: h, policy: cell.Policy, large: large[t]}
		f.jobs()
		f.resizes()
	}
	for _, t := range traces {
		if n := len(large[t]); n > 0 && s.Lenient {
			leaveOut(t, large[t])
			if len(t.Jobs) == 0 {
				c.Fail(t.Range, "Trace without jobs", "All of its jobs are larger than the hardware.")
			}
		}
		if t.LeftOut = leftOut(t); t.LeftOut != "" {
			c.Add(experiments.WarningAt(t.Range, "Incomplete file", "%s.", t.LeftOut))
		}
	}
}

// traceCapacity checks the jobs of one trace on one hardware.
type traceCapacity struct {
	*language.Checker
	files  language.Finder
	t      *experiment.Trace
	h      *experiment.Hardware
	policy *experiment.Policy
	large  map[int]bool // jobs without room; the check adds to it
	count  int          // number of errors
}

// atLine reports an error at a line of the trace, unless there were too many errors.
func (f *traceCapacity) atLine(line int32, summary, detail string) {
	if f.count++; f.count <= textfile.MaxErrors {
		datafile.LineError(f.files, language.Input{Path: f.t.File, Shown: f.t.Shown}, int(line), summary, detail)
	}
}

// oversizedJobs are jobs of a trace for which the hardware never has room, for the same reason.
type oversizedJobs struct {
	*language.CapacityProblem
	first, jobs int
}

// sentence names the jobs that are too large, and suggests a remedy.
func (g oversizedJobs) sentence(f *traceCapacity) string {
	j := &f.t.Jobs[g.first]
	who := fmt.Sprintf("job %q %s.", j.Name, g.Reason)
	if g.jobs == 1 {
		who = "The " + who
	} else if g.Argument == unmeasured {
		return fmt.Sprintf("%d jobs cannot run, the first on line %d: the %s\nAdd these to the table, give the hardware a "+
			"type of GPU that it has, or leave such jobs out with --lenient.", g.jobs, f.t.Lines[g.first], who)
	} else {
		who = fmt.Sprintf("%d jobs ask for too much, the first on line %d: the %s", g.jobs, f.t.Lines[g.first], who)
	}
	divide := "divide jobs over nodes"
	if r := j.Demand(); !f.policy.Divides() && j.Divisible() {
		if r.Divided = true; language.CapacityProblemOf(r, f.h) == nil {
			divide = fmt.Sprintf("divide jobs over nodes (nodes = \"any\" in the policy %q)", f.policy.Name)
		}
	}
	if g.jobs == 1 && divide == "divide jobs over nodes" {
		return who
	}
	return fmt.Sprintf("%s\nGive the hardware larger nodes, %s, or leave such jobs out with --lenient.", who, divide)
}

func (f *traceCapacity) jobs() {
	var groups []oversizedJobs
	known := map[cluster.Demand]*language.CapacityProblem{}
	lacksGPUs := f.h.ForEngine().HasGPUs() && !f.h.Capabilities().GPUs
	lacksMemory := slices.Contains(f.h.Lacks, "memory")
	chosen := f.fitSomehow()
	for i := range f.t.Jobs {
		j, line := &f.t.Jobs[i], f.t.Lines[i]
		if k := f.t.Block[i]; k >= 0 && chosen[k] {
			continue
		}
		r := j.Demand()
		r.Divided = f.policy.Divides() && j.Divisible()
		m, ok := known[r]
		if !ok {
			m = language.CapacityProblemOf(r, f.h)
			known[r] = m
		}
		if m == nil {
			m = f.unmeasured(i)
		}
		if m != nil {
			f.large[i] = true
			if k := slices.IndexFunc(groups, func(g oversizedJobs) bool { return g.Summary == m.Summary }); k >= 0 {
				groups[k].jobs++
			} else {
				groups = append(groups, oversizedJobs{CapacityProblem: m, first: i, jobs: 1})
			}
		}
		if j.GPUs > 0 && lacksGPUs {
			summary, detail := language.Lacking(f.h, "gpus", language.NeedsGPUs(j.Name))
			f.atLine(line, summary, detail)
		}
		if j.Memory > 0 && lacksMemory {
			summary, detail := language.Lacking(f.h, "memory", language.NeedsMemory(j.Name))
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
			f.atLine(f.t.Lines[g.first], g.Summary, g.sentence(f))
		}
	}
}

// fitSomehow reports, for each job block, whether the hardware has room for at least one alternative of its jobs.
func (f *traceCapacity) fitSomehow() []bool {
	fit := make([]bool, len(f.t.Blocks))
	for k, b := range f.t.Blocks {
		fit[k] = b.Chosen && slices.ContainsFunc(b.WithAlternatives(), func(a *experiment.Job) bool {
			return a.On(f.h) || f.policy.Divides() && a.Reaches(f.h)
		})
	}
	return fit
}

// unmeasured marks the problem of a job whose speed is known only on other GPU types.
const unmeasured = "gpu_rate"

// unmeasured returns this problem. It returns nil if the job's speed does not depend on the GPU type, or is known on a
// type with room for it.
func (f *traceCapacity) unmeasured(job int) *language.CapacityProblem {
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
	return &language.CapacityProblem{
		Argument: unmeasured, Summary: fmt.Sprintf("No throughput on the hardware %q", f.h.Name),
		Reason: fmt.Sprintf("wants %s, and the throughput of %q with so many is known on %s alone",
			schema.Plural(f.t.Jobs[job].GPUs, "GPU"), block.Name, strings.Join(known, ", ")),
	}
}

func (f *traceCapacity) resizes() {
	can := f.h.Capabilities().Resize
	for i, z := range f.t.Resizes {
		j, line := &f.t.Jobs[z.Job], f.t.ResizeLines[i]
		r := j.Demand()
		r.Threads = z.Threads
		m := language.CapacityProblemOf(r, f.h)
		switch {
		case m == nil && !can && j.Malleable:
			summary, detail := language.Lacking(f.h, "resize", fmt.Sprintf("The trace resizes the job %q", j.Name))
			f.atLine(line, summary, detail)
		case m != nil && f.Spec.Lenient:
			f.large[z.Job] = true
		case m != nil:
			f.atLine(line, m.Summary, fmt.Sprintf("The resize of the job %q %s.", j.Name, m.Reason))
		}
	}
}

// leftOut describes the lines that were skipped with --lenient; empty if none was.
func leftOut(t *experiment.Trace) string {
	var parts []string
	if len(t.Skipped) > 0 {
		parts = append(parts, datafile.Malformed(t.Skipped))
	}
	if t.TooLarge > 0 {
		parts = append(parts, fmt.Sprintf("%s larger than the hardware, first line %d", schema.Plural(t.TooLarge, "job"),
			t.LargeLine))
	}
	if parts == nil {
		return ""
	}
	return fmt.Sprintf("%s has %s, left out", filepath.Base(t.File), strings.Join(parts, " and "))
}

// leaveOut removes jobs, given by number, from a trace.
func leaveOut(t *experiment.Trace, jobs map[int]bool) {
	for i, line := range t.Lines {
		if jobs[i] && (t.LargeLine == 0 || int(line) < t.LargeLine) {
			t.LargeLine = int(line)
		}
	}
	kept := t.Keep(func(i int) bool { return !jobs[i] })
	i := -1
	t.Block = slices.DeleteFunc(t.Block, func(int32) bool { i++; return jobs[i] })
	t.Trace = kept
	t.TooLarge += len(jobs)
}
