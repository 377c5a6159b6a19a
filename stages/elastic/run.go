package elastic

import (
	"math"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages/elastic/goodput"
)

// Course describes how a job trains in a cell, with any number of GPUs.
type Course struct {
	Program *goodput.MeasuredProgram
	// Batch is the batch size chosen by the user; 0 means that the job chooses it by goodput.
	Batch int
	// MostGPUs is the greatest number of GPUs that the job can use; 0 means that only its batch size limits the number.
	MostGPUs int
	// Rates are the speeds of gradients by type of GPU, relative to the measured GPUs; nil if all types are equal.
	// Cluster then has the types of the nodes.
	Rates   map[string]float64
	Cluster scheduler.Cluster
	// Tick rounds the ends of epochs to its multiples; 0 means no rounding.
	Tick time.Duration
	// Round is the length of the policy's rounds, which begin at its multiples; 0 means no rounds.
	Round time.Duration
}

// Begin returns a new run of the job. The result also implements scheduler.Training.
func (e *Course) Begin() simulated.Course {
	return &run{spec: e, run: goodput.NewMeasuredRun(e.Program, e.Batch)}
}

// run is a simulated run of an elastic job.
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

// speed returns the speed of the slowest granted GPU, relative to the measured ones.
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

// Left implements simulated.Course. If an epoch's end is rounded down to the start of a round, it ends a nanosecond
// later. The policy then decides about that round before the epoch ends, so the job holds its GPUs through the round.
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

// Remaining implements simulated.Course. The work is in seconds on one GPU with the first batch size.
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

// StepTime implements scheduler.Training. It assumes the first batch size for a job that can choose its batch size.
func (t *run) StepTime(gpus, perNode int) float64 {
	return t.run.StepTime(goodput.FilledNodes(gpus, perNode))
}

// Steps implements scheduler.Training.
func (t *run) Steps() float64 { return t.run.Steps() }
