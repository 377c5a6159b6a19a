// Package describe puts blocks of an experiment into words: the lines of keys that
// say what results depend on, and the summaries of plan.json.
package describe

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/pipeline/realise/program"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// PolicyLines are the key lines of a policy.
func PolicyLines(p *experiments.Policy) []string {
	var k store.Key
	for _, l := range p.KeyLines() {
		k.Add(l.Label, l.Value)
	}
	return k.Lines()
}

// HardwareLines are the key lines of a machine: its engine and its nodes.
func HardwareLines(h *experiments.Hardware) []string {
	var k store.Key
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
	k.Append(serverLines(h))
	k.Append(program.SettingsLines(h))
	if !h.Real() {
		k.Add("hardware.noise", strconv.FormatFloat(h.Noise, 'g', -1, 64))
		if h.Contention != nil {
			k.Add("hardware.contention", contentionText(h.Contention))
		}
	}
	return k.Lines()
}

// WorkloadLines are the key lines of a workload as it is written; the jobs
// that it came to are hashed beside them.
func WorkloadLines(w *experiments.Workload) []string {
	var k store.Key
	if t := w.Trace; t != nil {
		k.Addf("workload.trace", "%s, %s, sha256:%s", filepath.Base(t.File), t.Format, t.Digest)
		for _, s := range t.Settings {
			k.Add("workload.trace."+s.Name, s.Value)
		}
		if text := t.LeftOut(); text != "" {
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
	return k.Lines()
}

// maxInstants bounds the instants that are listed; the key has the digest of
// all arrivals besides.
const maxInstants = 32

// arrivalText says in words how the jobs of a submit block arrive.
func arrivalText(a workload.Arrivals) string {
	var s string
	switch a.Kind {
	case workload.At:
		if n := len(a.Times); n > maxInstants {
			return fmt.Sprintf("at %d instants from %s to %s", n, slices.Min(a.Times), slices.Max(a.Times))
		}
		times := make([]string, len(a.Times))
		for i, t := range a.Times {
			times[i] = t.String()
		}
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
