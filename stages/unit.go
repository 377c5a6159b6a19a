package stages

import (
	"time"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/contract"
)

// Unit is a job on one number of threads whose run time is to be sampled.
type Unit struct {
	// Name is that of its files: the job block's, with a number from the second
	// form of one block on. Block is the name without the number.
	Name, Block string
	// Key describes all that the samples depend on, Hash is their address.
	Key, Hash string
	// Job is the job block.
	Job                   string
	Threads, Inter, Intra int
	GPUs                  int
	GPUType               string
	// Lengths of the samples, each of which is taken Repeats times, in epochs or
	// (with Steps) in steps.
	Lengths []int
	Steps   bool
	Repeats int
	// Total is the length of the whole job; 0 where the file lists the lengths of the samples.
	Total int
	// Limit is how long one sample may take.
	Limit time.Duration
	// Copies is how many copies of the job run side by side in a sample, of as many threads as share Cores of a node; 0
	// where it runs alone.
	Copies, Cores int
	// Asked is set when a job asks for this number of threads; the others are
	// sampled for the speed-up curve alone.
	Asked bool
	// Pick is the time-writer line that counts when the program prints several.
	Pick contract.Pick
	// Relatives are the indexes of the units whose samples are fitted with its own,
	// itself included, in the order of their threads.
	Relatives []int
	// Engine runs the samples: that of the job's hardware or, for jobs that are
	// simulated, the first that runs programs of this machine. Hardware is nil for
	// this machine.
	Engine   *engine.Kind
	Hardware *engine.Hardware
	// Launch returns how the job is started for a sample of so many epochs or
	// steps, with its log in one folder and its other files in another.
	Launch func(name string, length int, logs, scratch string) launch.Job
}

// LengthUnit is "epochs" or "steps".
func (u *Unit) LengthUnit() string {
	if u.Steps {
		return "steps"
	}
	return "epochs"
}

// Sampling is what a stage asks of an experiment to take samples and to fit them.
type Sampling interface {
	// SampledUnits are the jobs to sample, in the order of the file.
	SampledUnits() []*Unit
	// Budget is how much time sampling may take, as a part of what the real cells
	// are predicted to take; 0 for no bound.
	Budget() float64
	// HostPrint is the fingerprint of the machine in a word.
	HostPrint() string
	// Samples returns the samples with a hash, if they are known; SetSamples makes
	// them known.
	Samples(hash string) ([]estimator.Sample, bool)
	SetSamples(hash string, samples []estimator.Sample)

	// UsesHistory reports whether a model looks at past runs, which SetHistory
	// makes known.
	UsesHistory() bool
	SetHistory([]estimator.Run)
	// SetMoments makes the speeds known that this machine had at moments of earlier runs.
	SetMoments([]estimator.Moment)
	// PastHost and PastJob read the key of a cell: the fingerprint of its machine;
	// and what one of its job blocks runs, what sort of program that is, and how
	// much of it was to be done.
	PastHost(key string) string
	PastJob(key, block string) (name, kind string, length int)
}
