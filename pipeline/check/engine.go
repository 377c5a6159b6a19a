package check

import (
	"errors"
	"io/fs"
	"os"
	"slices"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// onEngine reports the mistakes that the engine of a hardware finds in the hardware block.
func (c *Checker) onEngine(h *experiment.Hardware) {
	if check := h.Kind().Check; check != nil {
		c.problems(h.At, h.Range, check(h.ForEngine(), c.host()))
	}
}

// records reports a workload with more jobs than there are recorded runs, on an engine that replays each recorded run
// once.
func (c *Checker) records(w *experiment.Workload, h *experiment.Hardware) {
	if !h.Kind().Recorded || h.Settings == nil || !c.First("records", w, h) {
		return
	}
	jobs := w.Jobs()
	have, need := h.Kind().Records(h.ForEngine()), jobs*c.Spec.Replicates
	if have < need {
		c.Fail(h.Range, "Too few recorded runs",
			"The hardware %q has %s, but %s of the workload %q in %s need %d: a run is replayed once. Set replicates to at "+
				"most %d.", h.Name, schema.Plural(have, "recorded run"), schema.Plural(jobs, "job"), w.Name,
			schema.Plural(c.Spec.Replicates, "replicate"), need, have/max(jobs, 1))
	}
}

// jobOnEngine reports the mistakes that the engine of a hardware finds in a job. It returns the names of the
// arguments with mistakes.
func (c *Checker) jobOnEngine(j *experiment.Job, h *experiment.Hardware, gpus int) []string {
	check := h.Kind().CheckJob
	if check == nil {
		return nil
	}
	problems := check(h.ForEngine(), &engine.Job{
		Name: j.Name, Threads: j.Threads.Request, GPUs: gpus, Nodes: j.Nodes, Memory: j.Memory, Container: j.Container,
		Roles: j.RunsAsSeveralPrograms(),
	}, c.host())
	c.problems(j.At, j.Range, problems)
	return schema.Each(problems, func(p engine.Problem) string { return p.Arg })
}

// problems reports problems with the arguments of a block.
func (c *Checker) problems(at map[string]experiments.Range, block experiments.Range, problems []engine.Problem) {
	for _, p := range problems {
		c.Add(experiments.Diagnostic{
			Severity: experiments.SeverityError, Summary: p.Summary, Detail: p.Detail,
			Range: language.Place(at, p.Arg, block), Unavailable: p.Unavailable,
		})
	}
}

// host returns the facts about this machine that engines get.
func (c *Checker) host() engine.Host {
	f := c.Host
	return engine.Host{Threads: f.Threads, MemoryBytes: f.MemoryBytes, GPUs: f.GPUs, GPUType: f.GPUType, NoGPUs: f.NoGPUs}
}

// programs checks the jobs of a workload whose programs run outside of containers, also if only for samples.
func (c *Checker) programs(w *experiment.Workload, h *experiment.Hardware) {
	if h.Kind().Contained {
		return
	}
	for _, s := range w.Submits {
		c.onHardware(s.Job, h, s.Job.Runtime == nil)
	}
	if w.Trace == nil {
		return
	}
	for _, k := range w.Trace.Blocks {
		c.onHardware(k.Job, h, !k.Timed && k.Runtime == nil)
	}
}

// onHardware checks a job that runs on a hardware outside of containers; sampled means that it only takes samples for
// it.
func (c *Checker) onHardware(j *experiment.Job, h *experiment.Hardware, sampled bool) {
	if (h.Real() || sampled) && c.First(j) {
		c.paths(j)
	}
	if h.Real() && c.First("program", j, h) {
		c.jobOnEngine(j, h, 0) // jobCapacity checks the GPUs
	}
}

// paths checks that the files that a job's program needs exist. If the program
// itself is missing, the job fails, like any other job that cannot start.
func (c *Checker) paths(j *experiment.Job) {
	if at, ok := j.At["dir"]; ok {
		switch info, err := os.Stat(j.Dir); {
		case err != nil:
			c.Fail(at, "Missing folder", "The folder %s cannot be used: %s.", j.Dir, cause(err))
		case !info.IsDir():
			c.Fail(at, "Missing folder", "%s is not a folder.", j.Dir)
		}
	}
	c.inputs(j)
}

// cause returns the cause of an error of the file system, without the operation and the path.
func cause(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// contained checks a job whose hardware runs jobs in containers.
func (c *Checker) contained(j *experiment.Job, h *experiment.Hardware) {
	if j.Container == nil {
		c.Fail(j.Range, "Job without an image",
			"On the hardware %q jobs run in containers, and the job %q names no image for them.", h.Name, j.Name)
		return
	}
	c.jobOnEngine(j, h, 0) // jobCapacity checks the GPUs
	if at, ok := j.At["dir"]; ok && !c.outsideContainers(j) {
		c.Fail(at, "Unused argument",
			"dir is a folder of this machine, and the job %q runs in containers only; workdir is the folder in "+
				"the container.", j.Name)
	}
}

// outsideContainers reports whether a job runs outside of a container in some cell.
func (c *Checker) outsideContainers(j *experiment.Job) bool {
	for _, cell := range c.Spec.Cells {
		if cell.Hardware.Kind().Contained {
			continue
		}
		isJob := func(s experiment.Submit) bool { return s.Job.Name == j.Name }
		if cell.Workload.Trace != nil || slices.ContainsFunc(cell.Workload.Submits, isJob) {
			return true
		}
	}
	return false
}

// inContainers checks the jobs of a workload on hardware whose jobs run in containers.
func (c *Checker) inContainers(w *experiment.Workload, h *experiment.Hardware) {
	for _, j := range w.JobBlocks() {
		if c.First("container", j, h) {
			c.contained(j, h)
		}
	}
	for _, s := range w.Submits {
		c.inputs(s.Job)
	}
}

// inputs checks that changes in the input files of a job can be noticed.
func (c *Checker) inputs(j *experiment.Job) {
	for _, f := range j.Files {
		// Each file has its own summary, because messages of one line with the same summary are reported once.
		switch err := experiment.Untrackable(f); {
		case err == nil:
		case errors.As(err, new(*fs.PathError)):
			c.Fail(j.At["files"], "Missing file "+f, "The file %s cannot be read: %s.", f, cause(err))
		default:
			c.Fail(j.At["files"], "File that cannot be tracked: "+f, "A change in %s could not be noticed: %s.", f, err)
		}
	}
}
