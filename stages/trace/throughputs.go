package trace

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
	"github.com/tfexp/tfexp/scheduler/workload/throughput"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language/datafile"
)

// readSpeeds reads the table of the argument throughputs. It gives jobs without a job block the run time at one step
// per second, which device rates later divide.
func (d decoder) readSpeeds(t *rawTrace, a *eval.Args, v *traceArgs) bool {
	if !a.IsSet("throughputs") {
		return true
	}
	from := d.Find(v.Throughputs)
	digest, err := datafile.ReadFile(from, func(text io.Reader) (err error) {
		t.speeds, err = throughput.Read(from.Shown, text)
		return err
	})
	switch {
	case len(datafile.LineErrors(err)) > 0:
		datafile.FileErrors(d.Finder, from, a.At("throughputs"), err)
		return false
	case err != nil:
		d.Errorf(a.At("throughputs"), "Unreadable table of throughputs", "%s: %v.", from.Shown, err)
		return false
	}
	t.Digest += " " + digest
	t.Trace.Trace.RunTimes = slices.Clone(t.RunTimes)
	if t.RunTimes == nil {
		t.Trace.Trace.RunTimes = slices.Repeat([]time.Duration{-1}, len(t.Jobs))
	}
	missing := 0
	for i := range t.Jobs {
		j := &t.Jobs[i]
		if t.block[i] >= 0 {
			continue
		}
		if problem := speedProblem(t.speeds, j); problem != "" {
			if missing++; missing <= textfile.MaxErrors {
				datafile.LineError(d.Finder, t.Input, int(t.Lines[i]), "Job without a throughput", problem)
			}
			continue
		}
		run, err := textfile.Units(j.Units()*v.RuntimeScale, time.Second)
		if err != nil {
			datafile.LineError(d.Finder, t.Input, int(t.Lines[i]), "Job that is too long", err.Error())
			missing++
			continue
		}
		t.RunTimes[i] = run
	}
	return missing == 0
}

// speedProblem returns why a table has no run time for a job; empty if it has one.
func speedProblem(t *throughput.Table, j *scheduler.Job) string {
	if j.Units() <= 0 {
		return fmt.Sprintf("The trace has no number of steps for %q, so a table of throughputs cannot give its run time.", j.Name)
	}
	if len(ratesOf(t, j)) > 0 {
		return ""
	}
	if !slices.Contains(t.Jobs(), j.Class) {
		near := ""
		if name := schema.Nearest(j.Class, t.Jobs()); name != "" {
			near = fmt.Sprintf(" Did you mean %q?", name)
		}
		return fmt.Sprintf("The table of throughputs does not have the job type %q.%s", j.Class, near)
	}
	return fmt.Sprintf("The table of throughputs has the job type %q, but not with %d workers on any of %s.", j.Class,
		workers(j), strings.Join(t.Devices(), ", "))
}

func workers(j *scheduler.Job) int { return max(j.GPUs, 1) }

// ratesOf returns the speed of a job on the device types for which the table has all its phases.
func ratesOf(t *throughput.Table, j *scheduler.Job) []experiment.GPURate {
	var rates []experiment.GPURate
	phases := phasesOf(t, j)
	for _, device := range t.Devices() {
		seconds, rate := 0.0, 0.0
		for _, p := range phases {
			rate, _ = t.Speed(throughput.Key{Job: p.Class, Device: device, Workers: workers(j)})
			if p.Steps > 0 {
				seconds += p.Steps / rate // +Inf if the job cannot run there
			}
		}
		if len(phases) > 1 {
			rate = j.Units() / seconds
		}
		if rate > 0 {
			rates = append(rates, experiment.GPURate{Type: device, Rate: rate})
		}
	}
	return rates
}

// phasesOf returns the phases of a job: one for each batch size. A batch size is used only if the table has it for all
// devices that have the first one.
func phasesOf(t *throughput.Table, j *scheduler.Job) []throughput.BatchPhase {
	if j.BatchRule() == "" {
		return []throughput.BatchPhase{{Class: j.Class, Steps: j.Units()}}
	}
	return throughput.BatchPhases(j.BatchRule(), j.Class, workers(j), j.Units(), func(class string) bool {
		return !slices.ContainsFunc(t.Devices(), func(device string) bool {
			k := throughput.Key{Job: j.Class, Device: device, Workers: workers(j)}
			_, first := t.Speed(k)
			k.Job = class
			_, other := t.Speed(k)
			return first && !other
		})
	})
}

// measuredBlock returns the block of jobs of a trace that a table of throughputs describes.
func measuredBlock(speeds *throughput.Table, t *experiment.Trace, j *scheduler.Job) *experiment.Job {
	return &experiment.Job{
		Name: j.Class, Range: t.Range, GPUs: j.GPUs, Form: fmt.Sprintf("%dt", j.Threads),
		Threads: experiment.Threads{Request: j.Threads, Min: j.Threads, Inter: 1, Intra: j.Threads}, Steps: 1,
		Runtime: &experiment.Runtime{
			Epoch: workload.Span{Mean: time.Second}, Whole: true, Parallel: 1, GPURates: ratesOf(speeds, j),
			Neighbours: neighboursIn(speeds, j.Class, workers(j)),
		},
	}
}

// neighboursIn returns the neighbors of a job in a table, with the fraction of its speed that it keeps next to each,
// by device type.
func neighboursIn(t *throughput.Table, job string, workers int) []experiment.Neighbour {
	var list []experiment.Neighbour
	for _, device := range t.Devices() {
		k := throughput.Key{Job: job, Device: device, Workers: workers}
		for _, class := range t.Jobs() {
			if keep := t.Kept(k, class); keep > 0 {
				list = append(list, experiment.Neighbour{Class: class, GPU: device, Keep: keep})
			}
		}
	}
	return list
}
