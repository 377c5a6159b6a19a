// Package experiments has what an experiment file says, evaluated: a Spec of
// plain values, expanded into cells, which still know where they were written.
// It also has the experiments that ship.
//
// The packages below it read a file, in five steps, which load puts together:
// names are checked against the tables of package language, then variables and
// locals are evaluated in the order of their dependencies (eval); the matrix is
// expanded into points, and the blocks of each point are evaluated, once for
// each combination of the axes that they read (matrix, with blocks); and the
// cells are checked as a whole (check). Whatever is wrong becomes a Diagnostic.
// What depends on it is left out in silence, so that one mistake is one message.
//
// Only these packages know HCL; this one does not.
package experiments

import (
	"time"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler/adaptation"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// Profile says how jobs are sampled.
type Profile struct {
	// Samples are runs of different lengths of a job kind; Fraction is the part
	// of its epochs in the shortest.
	Samples  int
	Fraction float64
	// Lengths are those of the samples, sorted, in epochs or steps; nil: by
	// Samples and Fraction.
	Lengths []int
	// Repeats is how often each sample is taken.
	Repeats int
	// Threads are further numbers of threads to sample at, sorted; nil: those
	// that the jobs may come to run on.
	Threads []int
	// Budget is the most time that sampling may take, as a part of the real
	// cells' predicted time; 0: no bound.
	Budget float64
	// Alone is set if jobs are not sampled side by side.
	Alone bool `json:",omitempty"`
	// Limit is how long one sample may take; 0: the job's budget, or ten minutes.
	Limit time.Duration `json:",omitempty"`
	Range Range
}

// Estimate says which run-time model is fitted.
type Estimate struct {
	Model string // one of the models of the language
	// Models are fitted as well, to be compared; without Model, none twice.
	Models []string
	Level  float64 // of the prediction interval, 0.9
	// Correct says what finished runs of earlier real cells correct.
	Correct string
	Range   Range
}

// What is corrected by finished runs: nothing; what real cells are compared with; and what policies decide by as well.
const (
	CorrectNone        = "none"
	CorrectPredictions = "predictions"
	CorrectPolicies    = "policies"
)

// Pos is a place in a file; lines and columns count from 1, bytes from 0.
type Pos struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Byte   int `json:"byte"`
}

// Range is a stretch of a source file.
type Range struct {
	File  string `json:"file"`
	Start Pos    `json:"start"`
	End   Pos    `json:"end"`
}

// Spec is one experiment: everything that a file says, evaluated, in plain
// values that still know where they were written.
type Spec struct {
	Name        string
	Description string
	Seed        int64
	Replicates  int
	// Records is "all" or "metrics": what each cell leaves on disk.
	Records string
	// Until is the horizon at which a cell is closed; 0 for none.
	Until time.Duration
	Range Range
	// Lenient is set when malformed lines of traces were left out.
	Lenient bool

	// Cells are the points of the matrix in the order of the file, without
	// their replicates.
	Cells []Cell
	// Axes are the names of the matrix's own axes (not workload, hardware,
	// policy) that at least one cell reads, in the order of the file.
	Axes []string

	// Tunings are in the order of the file.
	Tunings []*Tuning

	Profile  Profile
	Estimate Estimate
	Compares []Compare
	// Adaptations are the studies of controllers that deepen networks.
	Adaptations []*adaptation.Study
	// Deepened has, for each of them, the cell of each scenario in which its job trains.
	Deepened [][]Cell `json:",omitempty"`
	// Thresholds are in the order of the file.
	Thresholds []Threshold
	Plots      []Plot
	// References are numbers of others, shown beside ours.
	References []record.Reference `json:",omitempty"`
	// Stages are the values of the blocks that stages bring, by stage.
	Stages map[string][]schema.Settings `json:",omitempty"`

	// File and Source are the experiment as it was read; Variables are the
	// values its variables had, as LoadOptions.Vars takes them ("name=value").
	File      string
	Source    []byte
	Variables []Setting
}

// Setting is a name with a value in its canonical text form.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Cell is one point of the matrix. Axes holds the axes that the cell's blocks
// read, in the order of the file. Blocks that evaluate alike are shared.
type Cell struct {
	Workload *Workload
	Hardware *Hardware
	Policy   *Policy
	Axes     []Setting
}

// Policy is a scheduler policy with its name.
type Policy struct {
	policy.Policy
	Name  string
	Range Range
	// Estimates is the name of an estimator/source.
	Estimates string
	// Sigma is the standard deviation of the log error under noisy, and of the first estimates under online.
	Sigma float64
	// At has the source range of each argument that the file sets.
	At map[string]Range
}

// Corrected reports whether estimates are corrected by what jobs report while they
// run.
func (p *Policy) Corrected() bool { return p.Source().Follows }

// DividesCores reports whether the policy sets how many cores each job has on a hardware, which has no GPUs to divide.
func (p *Policy) DividesCores(h *Hardware) bool { return p.Trains() && len(h.GPUTypes()) == 0 }

// EstimatesOn reports whether decisions on a hardware depend on predicted run times.
func (p *Policy) EstimatesOn(h *Hardware) bool { return p.Policy.Estimates() || p.DividesCores(h) }

// Source is where the policy's estimates come from.
func (p *Policy) Source() estimator.RunTimeSource { return estimator.FindSource(p.Estimates) }

// Compare asks for a comparison of a baseline with what differs from it.
type Compare struct {
	Metric   string
	Baseline string // policy name, where the baseline is just that
	// At has the values of axes (also "policy", "hardware" and "workload") at which the baseline is otherwise.
	At []Setting `json:",omitempty"`
	// Level of the confidence interval, 0.95.
	Level float64
	// By is the name of a measure.Grouping; empty for all jobs together.
	By string `json:",omitempty"`
	// Block is the length of the stretches of a log that are resampled; 0 for none.
	Block time.Duration `json:",omitempty"`
	Range Range
}

// Plot selects pictures.
type Plot struct {
	Kind   string
	Metric string // for metrics, series, heatmap and speedup
	X      string // an axis, for series, heatmap and speedup
	Y      string // an axis, for heatmap
	By     string // a way to divide jobs, for metrics and series
	Range  Range
}

// Threshold is a bound that an experiment's results must keep.
type Threshold struct {
	// Metric is a column of metrics.csv, or language.EstimateError.
	Metric string
	// Policy is the policy that it is about; empty for all.
	Policy string
	// Min and Max bound the metric's mean over the replicates, in its unit;
	// FidelityPct the mean absolute error of its simulation. nil: no bound.
	Min, Max, FidelityPct *float64
	Range                 Range
}
