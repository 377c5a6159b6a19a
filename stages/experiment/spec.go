// Package experiment holds the evaluated content of an experiment file: a Spec of plain values, expanded into
// cells, which keep their source ranges.
//
// Package decode reads a file, in four steps: names are checked against the language (schema), and variables and
// locals are evaluated in the order of their dependencies (eval); the matrix is expanded into points, and the
// blocks of each point are decoded, once for each combination of the axes that they read; and the cells are checked
// as a whole (check). Each mistake becomes a Diagnostic. Its consequences are not reported, so that one mistake is
// one message.
//
// Only these packages and the ones in folder experiments know HCL; this one does not.
package experiment

import (
	"slices"
	"time"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// Profile says how jobs are sampled.
//
// How jobs are sampled before the experiment runs, to estimate run times. A sample is a short run of the
// program, alone on its cores. Samples are cached by machine, program, environment, length and number of
// threads; all cells and jobs that need the same sample share it. If other programs used the CPU during a
// sample, it is taken again, up to three times, and the least disturbed one counts.
//
//	profile {
//	  samples  = 3
//	  fraction = 0.05
//	}
type Profile struct {
	// The number of samples of each job, of different lengths: the shortest, twice as long, and so on.
	//
	//	samples = 3
	Samples int `arg:"samples" default:"2" min:"2" max:"100"`
	// The part of the job's work that the shortest sample does; at least one epoch.
	//
	//	fraction = 0.05
	Fraction float64 `arg:"fraction" default:"0.03" min:"1e-06" max:"1"`
	// The lengths of the samples, instead of `samples` and `fraction`; in steps for jobs with `steps`. No sample
	// is longer than the job.
	//
	// Default: by `samples` and `fraction`.
	//
	//	epochs = [2, 4]
	Lengths []int `arg:"epochs" min:"1" max:"epochs"`
	// How often each sample is taken. With `1`, more samples are taken of jobs whose predictions are not as precise as
	// `within` in the block `estimate` says.
	//
	//	repeats = 3
	Repeats int `arg:"repeats" default:"1" min:"1" max:"100"`
	// More numbers of threads to sample at, besides each job's request: the models `scaling` and `auto` fit a
	// speed-up curve to them. Numbers that this machine does not have are left out.
	//
	// Default: the request; for jobs that may run on other numbers of threads, also the fewest and the most.
	//
	//	threads = [1, 2, 4]
	Threads []int `arg:"threads" min:"1" max:"threads"`
	// The most time that sampling may take, as a part of the predicted time of all real cells (including reused
	// ones). The two shortest samples of each job on its request are always taken, because the prediction needs
	// them. Then come more numbers of threads, longer samples and repeats, each only if it is predicted to end
	// within the budget.
	//
	// Default: all planned samples are taken, and more of them up to 10%.
	//
	//	budget = "5%"
	Budget float64 `arg:"budget" type:"share" min:"1e-06" max:"1"`
	// `measured`: jobs that can share a machine of real hardware are also sampled side by side, as many copies as
	// have room on it (8 at most). How much they slow each other down is part of predictions and of
	// the simulations of real cells. `none`: jobs are taken not to slow each other down.
	//
	//	contention = "none"
	Contention string `arg:"contention" default:"measured" allowed:"measured none" json:"-"`
	// How long one sample may take. A longer one is ended: the epochs (or steps) that its program has reported by
	// then are the sample; without two of them the job has no estimate.
	//
	// Default: the job's `budget`, or 10 minutes.
	//
	//	limit = "30m"
	Limit time.Duration `arg:"limit,positive" json:",omitempty"`
	// Alone is set if jobs are not sampled side by side.
	Alone bool `json:",omitempty"`
	Range experiments.Range
}

// Estimate says which run-time model is fitted.
//
// The run-time model that is fitted to the samples. It is used by policies that need estimates and by
// simulations of sampled jobs.
//
//	estimate {
//	  model  = "auto"
//	  models = ["linear", "scaling"]
//	  level  = 0.95
//	}
type Estimate struct {
	// The model of run times:
	// - `linear`: start-up time plus a time per epoch; the first epochs count apart if they are slower than others.
	// - `scaling`: like linear, with a speed-up curve over threads (Amdahl's law or the universal scalability law)
	//   fitted to samples on several numbers of threads.
	// - `history`: like scaling or linear, with past runs of the same job on this machine as further samples. They come
	//   from other experiments in the same folder of results, and from cells in the cache that are no longer planned.
	// - `auto`: the first of history, scaling and linear that can be fitted, which uses the most data.
	//
	//	model = "auto"
	Model string `arg:"model" default:"linear" allowed:"auto linear scaling history"`
	// More models that are fitted to the same samples, only for comparison: their estimates and errors are in
	// estimates.csv, accuracy.csv and the report, next to the estimates of `model`.
	//
	// Default: none.
	//
	//	models = ["linear", "scaling"]
	Models []string `arg:"models" allowed:"auto linear scaling history"`
	// The level of the prediction interval.
	//
	//	level = 0.95
	Level float64 `arg:"level" default:"0.9" min:"0.5" max:"0.9999"`
	// How precise predictions shall be: half of the interval's width, as a part of the run time. Jobs whose samples do not
	// suffice for that are sampled again, as far as the budget of sampling allows and more samples help.
	//
	//	within = "20%"
	Within float64 `arg:"within" type:"share" default:"0.1" min:"0.001" max:"10"`
	// Whether finished jobs of a real cell correct the estimates of later cells:
	// - `predictions`: the predictions that later cells are compared with (accuracy.csv, and their simulations).
	// - `policies`: also the estimates by which policies decide in later real cells; these then depend on the order of
	//   the cells.
	// - `none`: nothing.
	//
	//	correct = "policies"
	Correct string `arg:"correct" default:"predictions" allowed:"predictions policies none"`
	Range   experiments.Range
}

// UsualWithin is how narrow the intervals of predictions shall be where the file does not say.
const UsualWithin = 0.1

// Corrections by finished runs: none; of the predictions that real cells are compared with; and of the estimates
// that policies use as well.
const (
	CorrectNone        = "none"
	CorrectPredictions = "predictions"
	CorrectPolicies    = "policies"
)

// Spec is one experiment: everything that a file says, evaluated, in plain
// values that still know where they were written.
//
// Names the experiment, and sets how often each cell is repeated and how long it may run.
//
//	experiment "fcfs_vs_rr" {
//	  description = "Short jobs stuck behind long ones"
//	  seed        = 7
//	  replicates  = 5
//	}
type Spec struct {
	Name string
	// The question that the experiment asks, in a sentence; the report begins with it.
	//
	//	description = "Does round robin help short jobs?"
	Description string `arg:"description"`
	// All random numbers are derived from this seed. The same seed gives the same arrivals.
	//
	//	seed = 7
	Seed int64 `arg:"seed" type:"integer" default:"1" min:"0" max:"9007199254740992"`
	// How often each cell is repeated, each time with different arrivals. Comparisons are paired by replicate and
	// need at least 3.
	//
	//	replicates = 10
	Replicates int `arg:"replicates" default:"5" min:"1" max:"100000"`
	// The unit of money of all prices and costs, which tables, pictures and sentences name. The columns of files keep their
	// names, such as `cost_usd`.
	//
	//	currency = "EUR"
	Currency string `arg:"currency" default:"USD"`
	// The files that each cell leaves on disk: everything, or only its metrics (for cells with very many jobs).
	//
	//	records = "metrics"
	Records string `arg:"records" default:"all" allowed:"all metrics"`
	// The longest that a cell may run, in its own time (virtual on `simulated`). A cell with unfinished jobs at
	// that time is closed as saturated: its jobs are stopped, and it counts as failed.
	//
	// Default: no end.
	//
	//	until = "24h"
	Until time.Duration `arg:"until,positive"`
	Range experiments.Range
	// Inputs are the paths of files and folders that the file names, absolute.
	Inputs []string `json:"-"`
	// Lenient is set when malformed lines of traces were left out.
	Lenient bool

	// Cells are the points of the matrix in the order of the file, without
	// their replicates.
	Cells []Cell
	// Axes are the names of the matrix's own axes (not workload, hardware,
	// policy) that at least one cell reads, in the order of the file.
	Axes []string

	Profile  Profile
	Estimate Estimate
	Compares []Compare
	// Thresholds are in the order of the file.
	Thresholds []Threshold
	Plots      []Plot
	// Stages are the values of the blocks that stages bring, by stage.
	Stages map[string][]schema.Settings `json:",omitempty"`
	Parts  Parts                        `json:",omitempty"`

	// File and Source are the experiment as it was read; Variables are the
	// values its variables had, as LoadOptions.Vars takes them ("name=value").
	File      string
	Source    []byte
	Variables []schema.Setting
	// Sensitive are the names of the variables that are sensitive, sorted.
	Sensitive []string `json:",omitempty"`
}

// Cell is one point of the matrix. Axes holds the axes that the cell's blocks
// read, in the order of the file. Blocks that evaluate alike are shared.
type Cell struct {
	Workload *Workload
	Hardware *Hardware
	Policy   *Policy
	Axes     []schema.Setting
	Parts    Parts `json:",omitempty"`
}

// Policy is a scheduler policy with its name.
type Policy struct {
	policy.Policy
	Name  string
	Range experiments.Range
	// Estimates is the name of an estimator/source.
	Estimates string
	// Sigma is the standard deviation of the log error under noisy, and of the first estimates under online.
	Sigma float64
	// At has the source range of each argument that the file sets, BlocksAt the source range of each of its
	// Blocks.
	At       map[string]experiments.Range
	BlocksAt []experiments.Range `json:"-"`
	Parts    Parts               `json:",omitempty"`
}

// UsesCurve reports whether a model of run times uses samples on other numbers of threads than the request.
func UsesCurve(model string) bool { return model == "auto" || model == "scaling" }

// Corrected reports whether estimates are corrected by the reports of running
// jobs.
func (p *Policy) Corrected() bool { return p.Source().Follows }

// DividesCores reports whether the policy sets how many cores each job has on a hardware, which has no GPUs to divide.
func (p *Policy) DividesCores(h *Hardware) bool { return p.SetsCores() && len(h.GPUTypes()) == 0 }

// EstimatesOn reports whether decisions on a hardware depend on predicted run times.
func (p *Policy) EstimatesOn(h *Hardware) bool { return p.Policy.Estimates() || p.DividesCores(h) }

// Source is where the policy's estimates come from.
func (p *Policy) Source() estimator.RunTimeSource { return estimator.FindSource(p.Estimates) }

// Compare asks for a comparison of a baseline with the variants that differ from it.
type Compare struct {
	Metric   string
	Baseline string // policy name, where the baseline is just that
	// At has the values of axes (also "policy", "hardware" and "workload") at which the baseline is otherwise.
	At []schema.Setting `json:",omitempty"`
	// Level of the confidence interval, 0.95.
	Level float64
	// By is the name of a measure.Grouping; empty for all jobs together.
	By string `json:",omitempty"`
	// Block is the length of the stretches of a log that are resampled; 0 for none.
	Block time.Duration `json:",omitempty"`
	// Looks are the numbers of pairs after which the comparison is checked; empty if the number of replicates is
	// fixed.
	Looks []int `json:",omitempty"`
	// Planned is the number of pairs that was planned first; looks beyond it are at replicates that were added.
	Planned int `json:",omitempty"`
	Range   experiments.Range
}

// Compared are the comparisons of the file. One without any compares with the first policy, on the most common metrics.
func (s *Spec) Compared() []Compare {
	if len(s.Compares) > 0 || len(s.Cells) == 0 {
		return s.Compares
	}
	base := s.Cells[0].Policy.Name
	if !slices.ContainsFunc(s.Cells, func(c Cell) bool { return c.Policy.Name != base }) {
		return nil
	}
	var usual []Compare
	for _, metric := range []string{"mean_jct_s", "mean_waiting_s", "makespan_s"} {
		usual = append(usual, Compare{Metric: metric, Baseline: base, Level: 0.95})
	}
	return usual
}

// Plot selects pictures.
type Plot struct {
	Kind   string
	Metric string // for metrics, series, heatmap and speedup
	X      string // an axis, for series, heatmap and speedup
	Y      string // an axis, for heatmap
	By     string // a way to divide jobs, for metrics and series
	Range  experiments.Range
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
	Range                 experiments.Range
}
