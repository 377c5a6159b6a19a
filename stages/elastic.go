package stages

import (
	"errors"
	"math"
	"time"

	"github.com/tfexp/tfexp/estimator/training"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
)

// ErrElastic is returned when a cell with elastic jobs is to be written down for another process.
var ErrElastic = errors.New("a cell with elastic jobs is simulated within tfexp alone")

// Elastic is how a job trains that can go on with any number of GPUs.
type Elastic struct {
	Program *training.Program
	// Batch is what its user asked for; 0 leaves it to the goodput.
	Batch int
	// MostGPUs bounds what it can use; 0 for what its batch allows.
	MostGPUs int
	// Tick is what epochs end on multiples of; 0 for anything.
	Tick time.Duration
}

// Begin returns a run of the job at its beginning, which is also a scheduler.Training.
func (e *Elastic) Begin() simulated.Course {
	return &ElasticRun{spec: e, run: training.NewRun(e.Program, e.Batch)}
}

// ElasticRun is a run of an elastic job.
type ElasticRun struct {
	spec *Elastic
	run  *training.Run
}

// Hold implements simulated.Course.
func (t *ElasticRun) Hold(g scheduler.Grant) {
	var nodes []int
	if g.Layout != nil {
		for _, p := range g.Layout.Parts {
			nodes = append(nodes, p.GPUs.Count())
		}
	} else {
		nodes = []int{g.GPUs.Count()}
	}
	t.run.Place(nodes)
}

// Left implements simulated.Course.
func (t *ElasticRun) Left() time.Duration {
	s := t.run.Left()
	if tick := t.spec.Tick.Seconds(); tick > 0 {
		s = math.RoundToEven(s/tick) * tick
	}
	return time.Duration(math.Round(s * 1e9))
}

// Remaining implements simulated.Course.
func (t *ElasticRun) Remaining() time.Duration { return time.Duration(t.run.Remaining() * 1e9) }

// Advance implements simulated.Course.
func (t *ElasticRun) Advance(d time.Duration) { t.run.Advance(d.Seconds()) }

// Next implements simulated.Course.
func (t *ElasticRun) Next() bool {
	t.run.NextEpoch()
	return !t.run.Done()
}

// Goodput implements scheduler.Training.
func (t *ElasticRun) Goodput(nodes, gpus int) float64 { return t.run.Goodput(nodes, gpus) }

// MostGPUs implements scheduler.Training.
func (t *ElasticRun) MostGPUs() int { return t.run.MostGPUs() }

// Limit implements scheduler.Training.
func (t *ElasticRun) Limit() int {
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
func (t *ElasticRun) StepTime(gpus, perNode int) float64 {
	return t.run.StepTime(training.Filled(gpus, perNode))
}

// Steps implements scheduler.Training.
func (t *ElasticRun) Steps() float64 { return t.run.Steps() }
