// Package elastic is the feature of jobs that can go on with any number of GPUs, and with another batch size: the block
// `elastic` within runtime blocks, and the orders that set the GPUs of such jobs in rounds (package policies).
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

// Elastic is how a job trains whose GPUs and batch size may change while it runs. It is a part of the job's run time.
type Elastic struct {
	Program *goodput.MeasuredProgram
	// Source is the origin of the program, in a line that differs between programs.
	Source string
	// Batch is the batch size of the job under all policies; 0 for that which a trace has,
	// unless the policy chooses it.
	Batch int
	// MostGPUs bounds the GPUs that the job can use; 0 for the limit of its batch.
	MostGPUs int
	// Epochs end on multiples of Resolution; 0 for any instant.
	Resolution time.Duration
	// Rates are how many times as fast as on the GPUs that were measured a gradient is on
	// each type; nil where all are alike.
	Rates map[string]float64 `json:",omitempty"`
	Range experiments.Range
}

// of returns how a job trains; nil for a job that is not elastic. The job may be nil.
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

// UnitTime implements stages.UnitPart: how long the job takes on its request, with the batch size that its user asked
// for.
func (e *Elastic) UnitTime(j *scheduler.Job) time.Duration {
	s := e.Program.Alone(e.batch(j), j.GPUs, j.Nodes)
	return max(time.Duration(math.Round(min(s*1e9, math.MaxInt64/2))), 1)
}

// WorkIn implements stages.CellWorkPart: the job trains as the policy of the cell lets it.
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

// batch is the batch size of a job where its policy chooses none.
func (e *Elastic) batch(j *scheduler.Job) int {
	if e.Batch > 0 {
		return e.Batch
	}
	return j.Batch()
}
