// Package elastic is the feature of jobs that can continue with any number of GPUs and another batch size: the block
// `elastic` of runtime blocks, and the orders that set the GPUs of such jobs in rounds (package policies).
package elastic

import (
	"math"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages/elastic/goodput"
	"github.com/tfexp/tfexp/stages/elastic/policies"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Elastic describes how a job trains with any number of GPUs and other batch sizes. It is a part of the job's run time.
type Elastic struct {
	Program *goodput.MeasuredProgram
	// Source is a line that identifies the program and its measurements, for keys.
	Source string
	// Batch is the batch size of the job, unless the policy chooses it; 0 means the batch size of the trace.
	Batch int
	// MostGPUs is the greatest number of GPUs that the job can use; 0 means that only its batch size limits the number.
	MostGPUs int
	// Resolution rounds the ends of epochs to its multiples; 0 means no rounding.
	Resolution time.Duration
	// Rates are the speeds of gradients by type of GPU, relative to the measured GPUs; nil if all types are equal.
	Rates map[string]float64 `json:",omitempty"`
	Range experiments.Range
}

// of returns the elastic part of a job; nil if the job is nil or not elastic.
func of(j *experiment.Job) *Elastic {
	if j == nil || j.Runtime == nil {
		return nil
	}
	e, _ := experiment.PartOf[*Elastic](j.Runtime.Parts)
	return e
}

// Request implements experiment.RequestPart.
func (e *Elastic) Request(j *scheduler.Job) { j.Elastic = true }

// Times implements stages.TimesPart.
func (e *Elastic) Times() string { return "elastic: " + e.Source }

// UnitTime implements stages.UnitPart. It returns the job's run time on its request, with its user's batch size.
func (e *Elastic) UnitTime(j *scheduler.Job) time.Duration {
	s := e.Program.Alone(e.batch(j), j.GPUs, j.Nodes)
	return max(time.Duration(math.Round(min(s*1e9, math.MaxInt64/2))), 1)
}

// WorkIn implements stages.CellWorkPart. Whether the job chooses its batch size depends on the policy of the cell.
func (e *Elastic) WorkIn(in experiment.Cell, _ *experiment.Job, j *scheduler.Job, w *simulated.Scaling) {
	s := &Course{
		Program: e.Program, Batch: e.batch(j), MostGPUs: e.MostGPUs, Tick: e.Resolution,
		Rates: e.Rates, Cluster: in.Hardware.Cluster,
	}
	needs, divides := policies.Of(in.Policy.Policy)
	if needs.Batches {
		s.Batch = e.Batch
	}
	if divides {
		s.Round = in.Policy.Settings.Duration("rounds")
	}
	w.Special = &simulated.Special{Begin: s.Begin}
}

// batch returns the batch size of a job whose policy does not choose it.
func (e *Elastic) batch(j *scheduler.Job) int {
	if e.Batch > 0 {
		return e.Batch
	}
	return j.Batch()
}
