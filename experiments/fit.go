package experiments

import (
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/experiments/units"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// request is what a job asks of a cluster.
type request struct {
	threads, gpus, nodes int
	memory               int64
}

func requestOf(j *scheduler.Job) request {
	return request{threads: j.Threads, gpus: j.GPUs, nodes: max(j.Nodes, 1), memory: j.Memory}
}

// on tells whether a free cluster holds the request: its share fits on as many
// nodes as it wants.
func (r request) on(c scheduler.Cluster) bool {
	if r.threads%r.nodes != 0 || r.gpus%r.nodes != 0 {
		return false
	}
	n := int64(r.nodes)
	threads, gpus, memory := r.threads/r.nodes, r.gpus/r.nodes, (r.memory+n-1)/n
	found := 0
	for _, m := range c.Nodes {
		if m.Threads >= threads && m.GPUs >= gpus && (m.Memory == 0 || m.Memory >= memory) {
			if found++; found == r.nodes {
				return true
			}
		}
	}
	return false
}

func (r request) String() string {
	s := plural(r.threads, "thread")
	if r.gpus > 0 {
		s += ", " + plural(r.gpus, "GPU")
	}
	if r.memory > 0 {
		s += ", " + units.FormatSize(r.memory)
	}
	if r.nodes > 1 {
		s += fmt.Sprintf(", over %d nodes", r.nodes)
	}
	return s
}

// fitTraces checks the jobs of traces against the hardware of their cells. A
// job that does not fit is an error at its line; a lenient decoder leaves it
// out of all cells, so that they have the same jobs.
func (d *decoder) fitTraces(cells []Cell) {
	type meeting struct {
		t *Trace
		h *Hardware
	}
	seen := map[meeting]bool{}
	large := map[*Trace]map[int]bool{}
	var traces []*Trace
	for _, c := range cells {
		for _, s := range c.Workload.Submits {
			d.leftOut(s.LeftOut, s.Range)
		}
		t, h := c.Workload.Trace, c.Hardware
		if t == nil || seen[meeting{t, h}] {
			continue
		}
		seen[meeting{t, h}] = true
		if large[t] == nil {
			large[t] = map[int]bool{}
			traces = append(traces, t)
		}
		d.fitTrace(t, h, large[t])
	}
	for _, t := range traces {
		if n := len(large[t]); n > 0 && d.lenient {
			t.leaveOut(large[t])
			if len(t.Jobs) == 0 {
				d.add(Diagnostic{Severity: SeverityError, Summary: "Trace without jobs", Detail: "Each of its jobs is larger than the hardware.", Range: t.Range})
			}
		}
		d.leftOut(t.LeftOut(), t.Range)
	}
}

// leftOut warns of what a lenient decoder left out, if anything.
func (d *decoder) leftOut(text string, at Range) {
	if text != "" {
		d.add(Diagnostic{Severity: SeverityWarning, Summary: "Incomplete file", Detail: text + ".", Range: at})
	}
}

// fitTrace adds to large the jobs that the hardware does not hold.
func (d *decoder) fitTrace(t *Trace, h *Hardware, large map[int]bool) {
	fits := map[request]bool{}
	lacksGPUs, lacksMemory := slices.Contains(h.Lacks, "gpus"), slices.Contains(h.Lacks, "memory")
	told := 0
	report := func(line int32, summary, detail string, values ...any) {
		if told++; told <= workload.MaxErrors {
			d.atLine(d.shown[t].source, int(line), summary, fmt.Sprintf(detail, values...))
		}
	}
	for i := range t.Jobs {
		j := &t.Jobs[i]
		r := requestOf(j)
		ok, known := fits[r]
		if !known {
			ok = r.on(h.Cluster)
			fits[r] = ok
		}
		if !ok {
			large[i] = true
			if !d.lenient {
				report(t.Lines[i], fmt.Sprintf("More than the hardware %q has", h.Name), "The job %q asks for %s, which the hardware %q never has.", j.Name, r, h.Name)
			}
		}
		if j.GPUs > 0 && lacksGPUs || j.Memory > 0 && lacksMemory {
			report(t.Lines[i], fmt.Sprintf("The engine of %q lacks what the job needs", h.Name), "The job %q asks for %s, but the hardware %q says that its engine lacks %s.", j.Name, r, h.Name, oneOf(h.Lacks))
		}
		if h.Real() && t.Kind[i] < 0 {
			report(t.Lines[i], "Job without a block", "The hardware %q runs programs, but no job block says what %q runs: name one in jobs = { %q = job.<name> }.", h.Name, j.Name, j.Class)
		}
	}
	resizes := h.Capabilities().Resize
	for i, z := range t.Resizes {
		r := requestOf(&t.Jobs[z.Job])
		r.threads = z.Threads
		switch {
		case r.on(h.Cluster):
			if !resizes && t.Jobs[z.Job].Malleable {
				report(t.ResizeLines[i], fmt.Sprintf("The engine of %q lacks \"resize\"", h.Name), "The trace resizes the job %q.", t.Jobs[z.Job].Name)
			}
		case d.lenient:
			large[z.Job] = true
		default:
			report(t.ResizeLines[i], fmt.Sprintf("More than the hardware %q has", h.Name), "The update of %q asks for %s, which the hardware %q never has.", t.Jobs[z.Job].Name, r, h.Name)
		}
	}
}

// leaveOut removes jobs by their number.
func (t *Trace) leaveOut(jobs map[int]bool) {
	kept := t.Keep(func(i int) bool { return !jobs[i] })
	i := -1
	t.Kind = slices.DeleteFunc(t.Kind, func(int32) bool { i++; return jobs[i] })
	t.Trace = kept
	t.TooLarge += len(jobs)
}
