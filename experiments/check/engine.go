package check

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/units"
	"github.com/tfexp/tfexp/experiments/words"
)

// host checks a real machine against what is there.
func (c *Checker) host(h *experiments.Hardware) {
	if h.Engine != "process" {
		return
	}
	n := h.Cluster.Nodes[0]
	if c.facts.Threads > 0 && n.Threads > c.facts.Threads {
		c.fail(h.ThreadsRange, "More threads than the machine has", "The hardware %q has %s, but this machine has %d, and the engine \"process\" binds jobs to real ones.", h.Name, words.Plural(n.Threads, "thread"), c.facts.Threads)
	}
	if at, ok := h.At["memory"]; ok && c.facts.MemoryBytes > 0 && n.Memory > c.facts.MemoryBytes {
		c.fail(at, "More memory than the machine has", "The hardware %q has %s, but this machine has %s.", h.Name, units.FormatSize(n.Memory), units.FormatSize(c.facts.MemoryBytes))
	}
	if at, ok := h.At["gpus"]; ok && n.GPUs > c.facts.GPUs {
		c.noGPUs(at, fmt.Sprintf("The hardware %q has %s", h.Name, words.Plural(n.GPUs, "GPU")))
	}
}

// noGPUs reports that this machine has not got the GPUs that are asked for.
func (c *Checker) noGPUs(at experiments.Range, need string) {
	has := fmt.Sprintf("this machine has %d that tfexp may use", c.facts.GPUs)
	if c.facts.GPUs == 0 {
		has = "this machine has none"
		if c.facts.NoGPUs != "" {
			has += " (" + c.facts.NoGPUs + ")"
		}
	}
	c.Add(experiments.Diagnostic{
		Severity: experiments.SeverityError, Summary: "More GPUs than the machine has", Range: at, Unavailable: true,
		Detail: fmt.Sprintf("%s, but %s. Run it where there are as many, or on hardware whose engine is \"simulated\"; \"tfexp doctor\" says more.", need, has),
	})
}

// programs checks the jobs whose programs run on a hardware, be it for samples.
func (c *Checker) programs(w *experiments.Workload, h *experiments.Hardware) {
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

// paths checks that what a job's program needs is there. A program that is
// missing itself is a job that fails, like any other that cannot start.
func (c *Checker) paths(j *experiments.Job) {
	if at, ok := j.At["dir"]; ok {
		switch info, err := os.Stat(j.Dir); {
		case err != nil:
			c.fail(at, "Missing folder", "The folder %s cannot be used: %s.", j.Dir, cause(err))
		case !info.IsDir():
			c.fail(at, "Missing folder", "%s is not a folder.", j.Dir)
		}
	}
	for _, f := range j.Files {
		if _, err := os.Stat(f); err != nil {
			// One summary each, or several files of a line would be one message.
			c.fail(j.At["files"], "Missing file "+f, "The file %s cannot be read: %s.", f, cause(err))
		}
	}
}

// cause is an error of the file system without the path that it names.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// contained checks a job that runs in containers on a hardware.
func (c *Checker) contained(j *experiments.Job, h *experiments.Hardware) {
	if j.Container == nil {
		c.fail(j.Range, "Job without an image", "On the hardware %q jobs run in containers, and the job %q names no image for them.", h.Name, j.Name)
		return
	}
	if j.Memory > 0 && j.Memory < minContainerMemory {
		c.fail(j.At["memory"], "Too little memory for a container", "memory is the limit of the container on the hardware %q, and Docker accepts none below %s; this is %s.",
			h.Name, units.FormatSize(minContainerMemory), units.FormatSize(j.Memory))
	}
	if j.Nodes > 1 {
		c.fail(place(j.At, "nodes", j.Range), "A container runs on one node", "The job %q asks for %d nodes, but on the hardware %q a job is one container.", j.Name, j.Nodes, h.Name)
	}
	// A daemon of another machine mounts what is there.
	local := !slices.ContainsFunc(h.Docker.Hosts, func(host string) bool { return strings.HasPrefix(host, "tcp://") })
	for _, m := range j.Container.Mounts {
		if !local {
			break
		}
		if _, err := os.Stat(m.Source); err != nil {
			// One summary each, or several mounts of a line would be one message.
			c.fail(j.At["mounts"], "Missing mount "+m.Source, "The folder %s cannot be mounted: %s.", m.Source, cause(err))
		}
	}
	if at, ok := j.At["dir"]; ok && !c.onProcesses(j) {
		c.fail(at, "Argument that nothing reads", "dir is a folder of this machine, and the job %q runs in containers only; workdir is the folder in the container.", j.Name)
	}
}

// onProcesses tells whether some cell runs a job without a container.
func (c *Checker) onProcesses(j *experiments.Job) bool {
	for _, cell := range c.spec.Cells {
		if cell.Hardware.Engine == "docker" {
			continue
		}
		if slices.ContainsFunc(cell.Workload.Submits, func(s experiments.Submit) bool { return s.Job.Name == j.Name }) || cell.Workload.Trace != nil {
			return true
		}
	}
	return false
}

// inContainers checks the jobs of a workload on hardware of the engine docker.
func (c *Checker) inContainers(w *experiments.Workload, h *experiments.Hardware) {
	type pair struct {
		job *experiments.Job
		on  *experiments.Hardware
		as  string
	}
	for _, s := range w.Submits {
		if c.first(pair{s.Job, h, "container"}) {
			c.contained(s.Job, h)
		}
	}
	if w.Trace != nil {
		for _, k := range w.Trace.Kinds {
			if c.first(pair{k.Job, h, "container"}) {
				c.contained(k.Job, h)
			}
		}
	}
	for _, s := range w.Submits {
		c.inputs(s.Job)
	}
}

// inputs checks the files that a job declares.
func (c *Checker) inputs(j *experiments.Job) {
	for _, f := range j.Files {
		if _, err := os.Stat(filepath.Clean(f)); err != nil {
			c.fail(j.At["files"], "Missing file "+f, "The file %s cannot be read: %s.", f, cause(err))
		}
	}
}

const minContainerMemory = 6 << 20
