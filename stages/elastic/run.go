package elastic

import (
	"math"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages/elastic/goodput"
)

// Course is how a job trains in a cell, with any number of GPUs.
type Course struct {
	Program *goodput.MeasuredProgram
	// Batch is the batch size that its user asked for; 0 leaves it to the goodput.
	Batch int
	// MostGPUs bounds the GPUs that it can use; 0 for the bound of its batch size.
	MostGPUs int
	// Rates are how many times as fast as on the GPUs that were measured a gradient is on each
	// type; nil where all are alike. Cluster then has the types of the nodes.
	Rates   map[string]float64
	Cluster scheduler.Cluster
	// Epochs end on multiples of Tick; 0 for any instant.
	Tick time.Duration
	// Round is the length of the policy's rounds, which start at its multiples; 0 for none.
	Round time.Duration
}

// Begin returns a run of the job at its beginning, which is also a scheduler.Training.
func (e *Course) Begin() simulated.Course {
	return &run{spec: e, run: goodput.NewMeasuredRun(e.Program, e.Batch)}
}

// run is a run of an elastic job.
type run struct {
	spec *Course
	run  *goodput.MeasuredRun
}

// Hold implements simulated.Course.
func (t *run) Hold(g scheduler.Grant) {
	var nodes []int
	if g.Layout != nil {
		for _, p := range g.Layout.Parts {
			nodes = append(nodes, p.GPUs.Count())
		}
	} else {
		nodes = []int{g.GPUs.Count()}
	}
	t.run.Place(nodes, t.speed(&g))
}

// speed is the speed of the slowest of the granted GPUs.
func (t *run) speed(g *scheduler.Grant) float64 {
	if t.spec.Rates == nil {
		return 1
	}
	slowest := math.Inf(1)
	for _, p := range g.Parts(t.spec.Cluster) {
		slowest = min(slowest, t.spec.Rates[t.spec.Cluster.Nodes[p.Node].GPU])
	}
	return slowest
}

// Left implements simulated.Course. Where an end is rounded back onto the start of a round, the epoch has not ended
// when the policy decides about that round: it ends a nanosecond later, and the job holds its GPUs through the round.
func (t *run) Left(at time.Duration) time.Duration {
	s := t.run.Left()
	tick := t.spec.Tick
	if tick == 0 {
		return time.Duration(math.Round(s * 1e9))
	}
	ticks := math.RoundToEven(s / tick.Seconds())
	end := at.Truncate(tick) + time.Duration(ticks)*tick
	if t.spec.Round > 0 && end%t.spec.Round == 0 && ticks*tick.Seconds() < s {
		end++
	}
	return max(end-at, 0)
}

// Remaining implements simulated.Course: as if it took its first batch on one GPU.
func (t *run) Remaining(passed time.Duration) time.Duration {
	return time.Duration(t.run.Remaining(passed.Seconds()) * 1e9)
}

// Advance implements simulated.Course.
func (t *run) Advance(d time.Duration) { t.run.Advance(d.Seconds()) }

// Next implements simulated.Course.
func (t *run) Next() bool {
	t.run.NextEpoch()
	return !t.run.Done()
}

// Goodput implements scheduler.Training.
func (t *run) Goodput(gpu string, nodes, gpus int) float64 {
	rate := 1.0
	if gpu != "" && t.spec.Rates != nil {
		rate = t.spec.Rates[gpu]
	}
	return t.run.Goodput(nodes, gpus, rate)
}

// MostGPUs implements scheduler.Training.
func (t *run) MostGPUs() int { return t.run.MostGPUs() }

// Limit implements scheduler.Training.
func (t *run) Limit() int {
	l := &t.spec.Program.Limits
	most := l.Most / l.Least
	if t.spec.Batch > 0 {
		most = t.spec.Batch / l.Least
	}
	if t.spec.MostGPUs > 0 {
		most = min(most, t.spec.MostGPUs)
	}
	return max(most, 1)
}

// StepTime implements scheduler.Training. A job that may choose its batch is taken to keep the first.
func (t *run) StepTime(gpus, perNode int) float64 {
	return t.run.StepTime(goodput.FilledNodes(gpus, perNode))
}

// Steps implements scheduler.Training.
func (t *run) Steps() float64 { return t.run.Steps() }
