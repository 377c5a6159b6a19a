package experiment

import (
	"time"

	"github.com/tfexp/tfexp/estimator/goodput"
	"github.com/tfexp/tfexp/experiments"
)

// Elastic is how a job trains whose GPUs and batch size may change while it runs.
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
