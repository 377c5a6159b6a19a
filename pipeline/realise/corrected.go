package realise

import (
	"math"
	"slices"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/pipeline/realise/drawn"
	"github.com/tfexp/tfexp/pipeline/realise/program"
	"github.com/tfexp/tfexp/pipeline/realise/sampling"
	"github.com/tfexp/tfexp/results/record"
)

// Corrects reports whether the estimates of a cell's jobs are corrected by runs of them in earlier real cells.
func (c *Cell) Corrects() bool {
	return c.x.spec.Estimate.Correct != experiments.CorrectNone && c.Ref.Real() && len(c.corrected()) > 0
}

// corrected are the jobs of a real cell whose estimates are corrected: those that were sampled, and are not ended by
// something else than their work.
func (c *Cell) corrected() []*experiments.Job {
	return slices.DeleteFunc(jobsOf(c.point), func(j *experiments.Job) bool {
		_, known := c.x.estimateOf(j)
		return !known || j.TargetLoss > 0 || j.Budget != nil || !c.x.sampled(c.Hardware, j) || len(alternativesOn(c.Hardware, j)) > 0
	})
}

// Learn has the estimates of later cells learn from this one, which ran for real: longer has for each of its jobs, by
// number, how many times as long it took as the samples say that it takes there; 0 of one that does not show it. Cells
// are to be learned in the order in which they ran.
func (c *Cell) Learn(longer []float64) error {
	r, err := c.realise()
	if err != nil {
		return err
	}
	c.x.learning.Lock()
	defer c.x.learning.Unlock()
	var cell []estimator.Ran
	for _, j := range c.corrected() {
		var logs []float64
		for n, k := range r.Block {
			if k >= 0 && r.Blocks[k] == j && n < len(longer) && longer[n] > 0 {
				logs = append(logs, math.Log(longer[n]))
			}
		}
		est, _ := c.x.estimateOf(j)
		before := est.Predict(program.Length(j), c.x.spec.Estimate.Level).LogSD(c.x.spec.Estimate.Level)
		cell = append(cell, estimator.Ran{Job: c.x.formAddress(j), Before: before, Longer: logs})
	}
	c.corrections().Learn(cell)
	return nil
}

// corrections are those on the cell's hardware; learning is held.
func (c *Cell) corrections() *estimator.Corrections {
	k := c.x.corrections[c.Hardware.Name]
	if k == nil {
		k = new(estimator.Corrections)
		c.x.corrections[c.Hardware.Name] = k
	}
	return k
}

// Estimated are the estimates of the cell's jobs that are in force now.
func (c *Cell) Estimated() []record.Estimated {
	c.x.learning.Lock()
	defer c.x.learning.Unlock()
	level := c.x.spec.Estimate.Level
	var all []record.Estimated
	for _, j := range c.corrected() {
		est, _ := c.x.estimateOf(j)
		p := est.Predict(program.Length(j), level)
		e := record.Estimated{Job: j.Name, Threads: j.Threads.Request, GPUs: j.GPUs,
			Predicted: p.Seconds, Low: p.Low, High: p.High, Factor: 1}
		if k := c.corrections().Next(c.x.formAddress(j), p.LogSD(level), level); k.Runs > 0 {
			e.Factor, e.Runs = k.Factor, k.Runs
			e.Predicted, e.Low, e.High = k.Factor*p.Seconds, k.Low*p.Seconds, k.High*p.Seconds
		}
		all = append(all, e)
	}
	return all
}

// longer is how many times as long as by its samples alone a job is predicted to take.
func longer(estimated []record.Estimated, j *experiments.Job) float64 {
	for _, e := range estimated {
		if e.Job == j.Name && e.Threads == j.Threads.Request && e.GPUs == j.GPUs && e.Factor > 0 {
			return e.Factor
		}
	}
	return 1
}

// forPolicies are the estimates by which a policy decides, if the file says that these are corrected.
func (c *Cell) forPolicies(estimated []record.Estimated) []record.Estimated {
	if c.x.spec.Estimate.Correct != experiments.CorrectPolicies {
		return nil
	}
	return estimated
}

// correct has the simulated jobs of a real cell take as long as by the estimates that were in force when it began.
func correct(r drawn.Workload, work []simulated.Scaling, estimated []record.Estimated) {
	for n := range work {
		if k := r.Block[n]; k >= 0 {
			sampling.Longer(&work[n], longer(estimated, r.Blocks[k]))
		}
	}
}
