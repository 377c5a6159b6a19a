package experiments

import (
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/experiments/language"
	"github.com/tfexp/tfexp/experiments/units"
	"github.com/tfexp/tfexp/scheduler"
)

// Capabilities returns what the hardware's engine can do.
func (h *Hardware) Capabilities() scheduler.Capabilities {
	can := func(what string) bool { return !slices.Contains(h.Lacks, what) }
	c := scheduler.Capabilities{Pause: can("pause"), Resize: can("resize"), Memory: can("memory"), GPUs: can("gpus")}
	if h.Engine == "process" {
		// Memory is a matter of admission there; nothing limits a process.
		c.Memory = false
	}
	if h.Real() {
		c.GPUs = slices.ContainsFunc(h.Cluster.Nodes, func(n scheduler.Node) bool { return n.GPUs > 0 })
	}
	return c
}

// checker looks at what only whole cells show.
type checker struct {
	spec  *Spec
	facts HostFacts
	list  Diagnostics
	seen  map[any]bool
	heard map[string]bool
}

// Check reports what is wrong with the cells of the matrix: requests beyond
// the hardware, and policies that need what an engine cannot do. Each is
// reported once, at its line. Load includes it.
func (s *Spec) Check(host HostFacts) Diagnostics {
	c := &checker{spec: s, facts: host, seen: map[any]bool{}, heard: map[string]bool{}}
	type pair struct{ a, b any }
	type triple struct{ a, b, c any }
	for _, cell := range s.Cells {
		w, h, p := cell.Workload, cell.Hardware, cell.Policy
		if c.first(h) {
			c.host(h, host)
		}
		if h.Engine == "docker" {
			c.inContainers(w, h)
		}
		if c.first(pair{w, h}) {
			for _, submit := range w.Submits {
				if c.first(pair{submit.Job, h}) {
					c.fits(submit.Job, h)
				}
			}
			c.resizes(w, h)
		}
		c.programs(w, h)
		if c.first(pair{p, h}) {
			c.pauses(p, h)
			if at, ok := p.At["estimates"]; ok && h.Real() && p.Estimates == "oracle" {
				c.errorf(at, "Estimates that nobody has", "On the hardware %q jobs really run, and their run times are not known beforehand; \"oracle\" is for the engine \"simulated\".", h.Name)
			}
		}
		if c.first(triple{w, h, p}) {
			c.malleable(w, h, p)
			c.choosing(w, p)
		}
	}
	c.list.sort()
	return c.list
}

// first says whether something is looked at for the first time.
func (c *checker) first(what any) bool {
	if c.seen[what] {
		return false
	}
	c.seen[what] = true
	return true
}

// errorf reports an error; the same sentence about the same place once.
func (c *checker) errorf(at Range, summary, detail string, args ...any) {
	c.add(Diagnostic{Severity: SeverityError, Summary: summary, Detail: fmt.Sprintf(detail, args...), Range: at})
}

func (c *checker) add(d Diagnostic) {
	if key := fmt.Sprint(d); !c.heard[key] {
		c.heard[key] = true
		c.list = append(c.list, d)
	}
}

// either returns the first range that the file has.
func either(at Range, ok bool, otherwise Range) Range {
	if ok {
		return at
	}
	return otherwise
}

// host checks a real machine against what is there.
func (c *checker) host(h *Hardware, host HostFacts) {
	if h.Engine != "process" {
		return
	}
	n := h.Cluster.Nodes[0]
	if host.Threads > 0 && n.Threads > host.Threads {
		c.errorf(h.ThreadsRange, "More threads than the machine has", "The hardware %q has %s, but this machine has %d, and the engine \"process\" binds jobs to real ones.", h.Name, plural(n.Threads, "thread"), host.Threads)
	}
	if at, ok := h.At["memory"]; ok && host.MemoryBytes > 0 && n.Memory > host.MemoryBytes {
		c.errorf(at, "More memory than the machine has", "The hardware %q has %s, but this machine has %s.", h.Name, units.FormatSize(n.Memory), units.FormatSize(host.MemoryBytes))
	}
	if at, ok := h.At["gpus"]; ok && n.GPUs > host.GPUs {
		c.noGPUs(at, fmt.Sprintf("The hardware %q has %s", h.Name, plural(n.GPUs, "GPU")))
	}
}

// noGPUs reports that this machine has not got the GPUs that are asked for.
func (c *checker) noGPUs(at Range, need string) {
	has := fmt.Sprintf("this machine has %d that tfexp may use", c.facts.GPUs)
	if c.facts.GPUs == 0 {
		has = "this machine has none"
		if c.facts.NoGPUs != "" {
			has += " (" + c.facts.NoGPUs + ")"
		}
	}
	c.add(Diagnostic{
		Severity: SeverityError, Summary: "More GPUs than the machine has", Range: at, Unavailable: true,
		Detail: fmt.Sprintf("%s, but %s. Run it where there are as many, or on hardware whose engine is \"simulated\"; \"tfexp doctor\" says more.", need, has),
	})
}

// programs checks the jobs whose programs run on a hardware, be it for samples.
func (c *checker) programs(w *Workload, h *Hardware) {
	for _, s := range w.Submits {
		if (h.Engine == "process" || h.Engine == "simulated" && s.Job.Runtime == nil) && c.first(s.Job) {
			c.paths(s.Job)
		}
	}
	if w.Trace == nil {
		return
	}
	for _, k := range w.Trace.Kinds {
		if (h.Engine == "process" || h.Engine == "simulated" && !k.Timed && k.Runtime == nil) && c.first(k.Job) {
			c.paths(k.Job)
		}
	}
}

// fits checks that some node can hold the job. A request is named in the
// summary, because one job can be too large in several ways and on several
// hardware.
func (c *checker) fits(j *Job, h *Hardware) {
	if c.ways(j, h) {
		return
	}
	if j.Nodes > 1 {
		if r := requestOf(&scheduler.Job{Threads: j.Threads.Request, GPUs: j.GPUs, Memory: j.Memory, Nodes: j.Nodes}); !r.on(h.Cluster) {
			at, ok := j.At["nodes"]
			c.errorf(either(at, ok, j.Range), fmt.Sprintf("More than the hardware %q has", h.Name), "The job %q asks for %s, which the hardware %q never has.", j.Name, r, h.Name)
		}
		return
	}
	var threads, gpus int
	var memory int64
	together := false
	for _, n := range h.Cluster.Nodes {
		threads, gpus = max(threads, n.Threads), max(gpus, n.GPUs)
		room := n.Memory == 0 || n.Memory >= j.Memory
		if n.Memory == 0 {
			memory = max(memory, j.Memory)
		}
		memory = max(memory, n.Memory)
		together = together || (n.Threads >= j.Threads.Request && n.GPUs >= j.GPUs && room)
	}
	where := fmt.Sprintf("the hardware %q", h.Name)
	if len(h.Cluster.Nodes) > 1 {
		where = fmt.Sprintf("the largest node of the hardware %q", h.Name)
	}
	gpusAt, ok := j.At["gpus"]
	gpusAt = either(gpusAt, ok, j.Range)
	memoryAt, ok := j.At["memory"]
	memoryAt = either(memoryAt, ok, j.Range)
	switch {
	case together:
	case j.Threads.Request > threads:
		c.errorf(j.Threads.Range, fmt.Sprintf("More threads than the hardware %q has", h.Name), "The job %q asks for %s, but %s has %d.", j.Name, plural(j.Threads.Request, "thread"), where, threads)
	case j.GPUs > gpus && h.Engine == "process" && gpus == c.facts.GPUs:
		c.noGPUs(gpusAt, fmt.Sprintf("The job %q asks for %s", j.Name, plural(j.GPUs, "GPU")))
	case j.GPUs > gpus:
		c.errorf(gpusAt, fmt.Sprintf("More GPUs than the hardware %q has", h.Name), "The job %q asks for %s, but %s has %d.", j.Name, plural(j.GPUs, "GPU"), where, gpus)
	case j.Memory > memory:
		c.errorf(memoryAt, fmt.Sprintf("More memory than the hardware %q has", h.Name), "The job %q asks for %s, but %s has %s.", j.Name, units.FormatSize(j.Memory), where, units.FormatSize(memory))
	default:
		c.errorf(j.Range, fmt.Sprintf("No node of the hardware %q holds the job", h.Name), "Each request of the job %q fits on some node, but no node has room for all of them.", j.Name)
	}
	if j.GPUs > 0 && j.GPUs <= gpus && slices.Contains(h.Lacks, "gpus") {
		c.lacks(gpusAt, h, "gpus", fmt.Sprintf("The job %q needs GPUs", j.Name))
	}
	if j.Memory > 0 && slices.Contains(h.Lacks, "memory") {
		c.lacks(memoryAt, h, "memory", fmt.Sprintf("The job %q needs memory to be accounted for", j.Name))
	}
}

// lacks reports that an engine cannot do what is needed.
func (c *checker) lacks(at Range, h *Hardware, capability, need string) {
	c.errorf(at, fmt.Sprintf("The engine of %q lacks %q", h.Name, capability), "%s, but the hardware %q says that its engine lacks %q.", need, h.Name, capability)
}

// pauses checks that the engine can pause where the policy needs it.
func (c *checker) pauses(p *Policy, h *Hardware) {
	if h.Capabilities().Pause {
		return
	}
	switch order := string(p.Order); {
	case slices.Contains(language.PauseOrders, order):
		at, ok := p.At["order"]
		c.lacks(either(at, ok, p.Range), h, "pause", fmt.Sprintf("The order %q pauses jobs", order))
	case p.Preemption == scheduler.PausePreemption:
		at, ok := p.At["preemption"]
		c.lacks(either(at, ok, p.Range), h, "pause", "Preemption pauses jobs")
	}
}

// malleable checks that the engine can resize where the policy does.
func (c *checker) malleable(w *Workload, h *Hardware, p *Policy) {
	if h.Capabilities().Resize || (p.Allocation != scheduler.MaxProp && p.Allocation != scheduler.AlwaysAttend) {
		return
	}
	name := ""
	if t := w.Trace; t != nil {
		if i := slices.IndexFunc(t.Jobs, func(j scheduler.Job) bool { return j.Malleable }); i >= 0 {
			name = t.Jobs[i].Name
		}
	}
	for _, s := range w.Submits {
		if s.Job.Malleable && name == "" {
			name = s.Job.Name
		}
	}
	if name != "" {
		at, ok := p.At["allocation"]
		c.lacks(either(at, ok, p.Range), h, "resize", fmt.Sprintf("The allocation %q resizes malleable jobs such as %q", p.Allocation, name))
	}
}

// resizes checks a workload's own resize requests.
func (c *checker) resizes(w *Workload, h *Hardware) {
	most := 0
	for _, n := range h.Cluster.Nodes {
		most = max(most, n.Threads)
	}
	for _, u := range w.Resizes {
		switch {
		case !h.Capabilities().Resize:
			c.lacks(u.Range, h, "resize", fmt.Sprintf("The workload %q resizes the job %q", w.Name, u.Job))
		case u.Threads > most:
			c.errorf(u.Range, fmt.Sprintf("More threads than the hardware %q has", h.Name), "The resize asks for %s, but the largest node has %d.", plural(u.Threads, "thread"), most)
		}
	}
}
