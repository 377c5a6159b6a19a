package instantiate

import (
	"crypto/sha256"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Key returns the description of everything that the cell's records depend on.
func (c *Cell) Key() (*store.Key, error) {
	x := c.x
	jobs, err := c.Digest()
	if err != nil {
		return nil, err
	}
	k := store.NewKey(stages.Writer(stages.Cells))
	k.Addf("cell", "%s %s %s", c.Workload.Name, c.Hardware.Name, c.Policy.Name)
	for _, a := range c.Axes {
		k.Add("axis."+a.Name, a.Value)
	}
	experiment.EachPart(c.Parts, func(p stages.KeyPart) { k.AddAll(p.KeyLines("")) })
	x.remembered(k, linesOf{c.Policy}, func(k *store.Key) { x.policyLines(k, c.Policy) })
	x.remembered(k, linesOf{c.Hardware}, func(k *store.Key) { hardwareLines(k, c.Hardware) })
	if p, ok := c.supply().(stages.KeyPart); ok {
		k.AddAll(p.KeyLines("hardware."))
	}
	x.remembered(k, overheadLinesOf{c.Workload, c.Hardware}, c.overheadLines)
	if c.Hardware.Real() {
		x.hostLines(k)
	}
	x.remembered(k, linesOf{c.Workload}, func(k *store.Key) { workloadLines(k, c.Workload) })
	x.remembered(k, jobLinesOf{c.Workload, c.Hardware}, c.jobLines)
	neighborLines(k, c.Policy, blocks(c.point))
	c.estimateLines(k)
	k.Addf("records", "%s", x.Spec.Records)
	k.Given("until", x.Spec.Until)
	k.Addf("replicate", "%d", c.Ref.Replicate)
	k.Addf("experiment.seed", "%d", x.Spec.Seed)
	k.Addf("seed", "%d", c.Ref.Seed)
	k.Add("workload.jobs", jobs)
	return k, nil
}

// remembered adds lines to k. It computes them once per id, which is a block, or a workload on a hardware.
func (x *Experiment) remembered(k *store.Key, id any, add func(*store.Key)) {
	k.Append(once(&x.known, id, func() []string {
		var own store.Key
		add(&own)
		return own.Lines()
	}))
}

type (
	linesOf    struct{ block any }
	jobLinesOf struct {
		workload *experiment.Workload
		hardware *experiment.Hardware
	}
	overheadLinesOf jobLinesOf
)

// jobLines adds the key lines of the cell's jobs without repetitions: forms of a job block have most lines in common.
func (c *Cell) jobLines(k *store.Key) {
	var all store.Key
	for _, j := range blocks(c.point) {
		alternativeLines(&all, c.Hardware, j)
	}
	for _, j := range jobsOf(c.point) {
		c.x.describe(&all, j)
		if !c.Hardware.Real() {
			c.x.runtimeLines(&all, c.Hardware, j)
		}
	}
	added := map[string]bool{}
	k.Append(slices.DeleteFunc(all.Lines(), func(line string) bool {
		before := added[line]
		added[line] = true
		return before
	}))
}

// overheadLines adds the key lines of a simulated machine's overheads.
func (c *Cell) overheadLines(k *store.Key) {
	if c.Hardware.Real() {
		return
	}
	if o := c.Hardware.Overheads; o != nil {
		k.Add("hardware.overheads", o.String())
	} else if slices.ContainsFunc(jobsOf(c.point), func(j *experiment.Job) bool { return c.x.sampled(c.Hardware, j) }) {
		k.Add("hardware.overheads", "measured") // with samples, which have their own key lines
	} else {
		k.Add("hardware.overheads", simulated.Overheads{}.String())
	}
}

// runtimeLines adds the key lines that say where a simulated job's run time comes from.
func (x *Experiment) runtimeLines(k *store.Key, h *experiment.Hardware, j *experiment.Job) {
	if x.sampled(h, j) {
		k.Add("job."+j.Name+".runtime", "fitted "+x.estimateLine(j))
	} else if j.Open() {
		k.Add("job."+j.Name+".runtime", "its budget")
	} else if j.Runtime == nil {
		k.Add("job."+j.Name+".runtime", "as its run was recorded")
	} else {
		k.Add("job."+j.Name+".runtime", runtimeText(j))
	}
	experiment.EachPart(j.Parts, func(p stages.RuntimeKeyPart) { k.AddAll(p.RuntimeLines("job." + j.Name + ".")) })
}

// estimateLines adds the key lines of the estimates that a policy uses. A policy without estimates gets none.
func (c *Cell) estimateLines(k *store.Key) {
	if !c.Policy.EstimatesOn(c.Hardware) {
		return
	}
	k.Add("policy.estimates", c.Policy.Estimates)
	k.Given("policy.sigma", c.Policy.Sigma)
	if c.Policy.Source().Asked {
		return
	}
	for _, j := range jobsOf(c.point) {
		if c.x.sampled(c.Hardware, j) {
			k.Add("job."+j.Name+".estimate", c.x.estimateLine(j))
		}
	}
	if c.x.Spec.Estimate.Correct == experiment.CorrectPolicies && c.Hardware.Real() && c.x.decidesByEstimates(c.point) {
		k.Add("estimates", "corrected by runs in earlier cells") // the corrections themselves are not in keys
	}
}

// jobsOf returns the job blocks that a cell depends on, without repetitions, in order. A simulated job whose run time
// is in a trace does not depend on its program.
func jobsOf(c experiment.Cell) []*experiment.Job {
	var jobs []*experiment.Job
	if t := c.Workload.Trace; t != nil {
		for _, k := range t.Blocks {
			if !k.Timed || c.Hardware.Real() {
				jobs = append(jobs, on(c.Hardware, k.Job)...)
			}
		}
	}
	seen := map[*experiment.Job]bool{}
	for _, j := range jobs {
		seen[j] = true
	}
	for _, s := range c.Workload.Submits {
		if !seen[s.Job] {
			seen[s.Job] = true
			jobs = append(jobs, on(c.Hardware, s.Job)...)
		}
	}
	return jobs
}

// policyLines adds the key lines of a policy: its settings, and the files of its program.
func (x *Experiment) policyLines(k *store.Key, p *experiment.Policy) {
	k.AddAll(p.KeyLines())
	program := p.Program()
	for _, f := range inputs(x.base, program.Command, program.Files) {
		k.Addf("policy.file."+filepath.Base(f), "%s %s", x.relative(f), x.digest(f))
	}
}

// hardwareLines adds the key lines of a hardware: its engine and its nodes.
func hardwareLines(k *store.Key, h *experiment.Hardware) {
	k.Add("hardware.engine", h.Engine)
	for i, n := range h.Cluster.Nodes {
		text := fmt.Sprintf("threads %d, gpus %d, memory %d", n.Threads, n.GPUs, n.Memory)
		if n.GPU != "" {
			text += ", gpu " + n.GPU
		}
		if n.Rack != "" {
			text += ", rack " + n.Rack
		}
		k.Add(fmt.Sprintf("hardware.node.%d", i), text)
	}
	if h.Suspends {
		k.Add("hardware.pause", engine.Checkpointed)
	}
	experiment.EachPart(h.Parts, func(p stages.KeyPart) { k.AddAll(p.KeyLines("hardware.")) })
	settingsLines(k, h)
	if !h.Real() {
		k.Add("hardware.noise", strconv.FormatFloat(h.Noise, 'g', -1, 64))
		if h.Contention != nil {
			k.Add("hardware.contention", contentionText(h.Contention))
		}
	}
}

// workloadLines adds the key lines of a workload as the file describes it; the hash of its drawn jobs is separate.
func workloadLines(k *store.Key, w *experiment.Workload) {
	if t := w.Trace; t != nil {
		k.Addf("workload.trace", "%s, %s, sha256:%s", filepath.Base(t.File), t.Format, t.Digest)
		for _, s := range t.Settings {
			k.Add("workload.trace."+s.Name, s.Value)
		}
		if text := t.LeftOut; text != "" {
			k.Add("workload.trace.lenient", text)
		}
		for _, job := range t.Blocks {
			if r := job.Runtime; r != nil && job.Timed {
				k.Add("workload.trace.parallel."+job.Name, speedUpText(r))
			}
		}
	}
	for i, s := range w.Submits {
		line := fmt.Sprintf("%d × %s, %s", s.Count, s.Job.Name, arrivalText(s.Arrivals))
		if s.Priority > 0 {
			line += fmt.Sprintf(", priority %d", s.Priority)
		}
		if s.Deadline > 0 {
			line += ", deadline " + s.Deadline.String()
		}
		if s.Budget != nil {
			line += ", budget " + s.Budget.String()
		}
		if s.User != "" {
			line += ", user " + s.User
		}
		k.Add(fmt.Sprintf("workload.submit.%d", i+1), line)
	}
	for i, r := range w.Resizes {
		k.Addf(fmt.Sprintf("workload.resize.%d", i+1), "%s to %d threads at %s", r.Job, r.Threads, r.At)
	}
}

// maxInstants is the largest number of arrival times that a key lists. All arrivals are in the hash of the jobs as
// well.
const maxInstants = 32

// arrivalText describes for a key how the jobs of a submit block arrive.
func arrivalText(a workload.Arrivals) string {
	var s string
	switch a.Kind {
	case workload.At:
		if n := len(a.Times); n > maxInstants {
			return fmt.Sprintf("at %d instants from %s to %s", n, slices.Min(a.Times), slices.Max(a.Times))
		}
		times := schema.Each(a.Times, func(t time.Duration) string { return t.String() })
		return "at " + strings.Join(times, ", ")
	case workload.Every:
		s = "every " + a.Mean.String()
	case workload.Exponential:
		s = "exponential gaps of mean " + a.Mean.String()
	case workload.Normal:
		s = fmt.Sprintf("normal gaps of mean %s, sd %s", a.Mean, a.SD)
	}
	if a.Start > 0 {
		s += " from " + a.Start.String()
	}
	return s
}

// neighborLines adds, for a policy with GPU sharing, the key lines of the speeds that jobs keep while they share
// GPUs.
func neighborLines(k *store.Key, p *experiment.Policy, jobs []*experiment.Job) {
	if !p.Packs() {
		return
	}
	for _, j := range jobs {
		if j.Runtime == nil {
			continue
		}
		for _, n := range j.Runtime.Neighbours {
			k.Addf(strings.ReplaceAll("job."+j.Name+".beside."+n.Class+"."+n.GPU, " ", "_"), "%g", n.Keep)
		}
	}
}

// contentionText describes the contention of a machine, for keys.
func contentionText(c *experiment.Contention) string {
	s := fmt.Sprintf("serial %g, capacity %g, sharpness %g", c.Law.Serial, c.Law.Capacity, c.Law.Sharpness)
	if c.Threads > 0 {
		s += ", on " + schema.Plural(c.Threads, "core")
	}
	return s
}

// speedUpText describes how a job speeds up, for keys.
func speedUpText(rt *experiment.Runtime) string {
	if rt.SpeedUp != nil {
		return "speed-up " + rt.SpeedUp.String()
	}
	return fmt.Sprintf("parallel %g", rt.Parallel)
}

// runtimeText describes a job's run time in the file, for keys.
func runtimeText(j *experiment.Job) string {
	text := timesText(j.Runtime)
	if a := j.Runtime.Accuracy; a != nil {
		text += fmt.Sprintf(", accuracy %g at its end", *a)
	}
	if l := j.Runtime.Loss; l != nil {
		text += fmt.Sprintf(", loss %g at its end", *l)
	}
	if end, ok := experiment.PartOf[experiment.EndPart](j.Parts); ok {
		text += ", done " + end.When()
	}
	if len(j.Runtime.Losses) > 0 {
		sum := sha256.Sum256(fmt.Append(nil, j.Runtime.Losses))
		text += fmt.Sprintf(" of sha256:%x", sum[:8])
	}
	return text
}

func timesText(rt *experiment.Runtime) string {
	if part, ok := experiment.PartOf[stages.TimesPart](rt.Parts); ok {
		return fmt.Sprintf("startup %s, %s", rt.Startup, part.Times())
	}
	if rt.Threads == 0 {
		return fmt.Sprintf("startup %s, epoch %s, %s", rt.Startup, rt.Epoch, speedUpText(rt))
	}
	times := make([]string, len(rt.SpeedUp.Points))
	for i, p := range rt.SpeedUp.Points {
		times[i] = fmt.Sprintf("%d = %s", p.Threads, time.Duration(math.Round(1/p.Speed*1e9)))
	}
	per := "epoch"
	if rt.Whole {
		per = "job"
	}
	return fmt.Sprintf("startup %s, by threads {%s} per %s", rt.Startup, strings.Join(times, ", "), per)
}

// RanForReal reports whether the cell of a key ran on a real engine.
func RanForReal(key *store.Key) bool {
	for label, value := range key.Values() {
		if label == "hardware.engine" {
			kind := engine.Find(value)
			return kind != nil && kind.Real
		}
	}
	return false
}

// PastHost returns the fingerprint of the machine in a key, in the form of HostPrint.
func PastHost(key *store.Key) string {
	var k store.Key
	for label, value := range key.Values() {
		if strings.HasPrefix(label, "host.") {
			k.Add(label, value)
		}
	}
	return k.Hash()[:12]
}

// PastJob returns a job from a key: its program with all settings, and its length. The result does not contain the
// block's name or the resources that the job held.
func PastJob(key *store.Key, block string) (name string, length int) {
	var k store.Key
	for label, value := range key.Values() {
		label, ok := strings.CutPrefix(label, "job."+block+".")
		if !ok {
			continue
		}
		switch label {
		case "threads", "malleable", "limit", "gpus", "memory", "nodes", "estimate", "runtime":
			continue
		case "epochs", "steps":
			k.Add("unit", label)
			length, _ = strconv.Atoi(value)
			continue
		}
		k.Add(label, value)
	}
	return k.Hash(), length
}

// identityOf identifies a job of the plan in the same form as PastJob.
func (x *Experiment) identityOf(j *experiment.Job) (name string) {
	var k store.Key
	x.describe(&k, j)
	name, _ = PastJob(&k, j.Name)
	return name
}
