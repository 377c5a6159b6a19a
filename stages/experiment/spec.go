// Package experiment holds the evaluated content of an experiment file: a Spec of plain values. It is expanded into
// cells, and keeps the source ranges of its blocks.
//
// Package decode reads a file in four steps. Names are checked against the language (package schema). Variables and
// locals are evaluated in the order of their dependencies (eval). The matrix is expanded into points, and the blocks of
// each point are decoded, once for each combination of the axes that they read. Finally, the cells are checked as a
// whole (check). Each mistake becomes one Diagnostic; its consequences are not reported.
//
// Only these packages and those in folder experiments use HCL; this package does not.
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
// How tfexp samples jobs before the experiment runs, to estimate run times. A sample is a short run of the program,
// alone on its cores. Samples are cached by machine, program, environment, length and number of threads; all cells and
// jobs that need the same sample share it. If other programs used the CPU during a sample, it is taken again, up to
// three times, and the least disturbed one counts.
//
//	profile {
//	  samples  = 3
//	  fraction = 0.05
//	}
type Profile struct {
	// The number of samples of each job; each is twice as long as the previous one.
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
	// How many times tfexp takes each sample. With `1`, more samples are taken of jobs whose predictions are not as
	// precise as `within` in the block `estimate` says.
	//
	//	repeats = 3
	Repeats int `arg:"repeats" default:"1" min:"1" max:"100"`
	// More numbers of threads at which tfexp samples, for speed-up curves (models `scaling` and `auto`). Numbers that
	// this machine does not have are left out.
	//
	// Default: the request; for jobs that may run on other numbers of threads, also the fewest and the most.
	//
	//	threads = [1, 2, 4]
	Threads []int `arg:"threads" min:"1" max:"threads"`
	// The longest time of all samples, relative to the predicted time of all real cells (including reused cells). The
	// two shortest samples of each job on its request are always taken, because the prediction needs them. Then come
	// more numbers of threads, longer samples and repeats, each only if it is predicted to end within the budget.
	//
	// Default: all planned samples are taken, and more of them up to 10%.
	//
	//	budget = "5%"
	Budget float64 `arg:"budget" type:"share" min:"1e-06" max:"1"`
	// Whether tfexp also samples copies of a job side by side, if jobs can share a real machine. It samples as many
	// copies as have room on the machine, 8 at most. How much they slow each other down is part of predictions and of
	// the simulations of real cells. `none`: jobs are taken not to slow each other down.
	//
	//	contention = "none"
	Contention string `arg:"contention" default:"measured" allowed:"measured none" json:"-"`
	// The longest time of one sample. A longer one is ended: the epochs (or steps) that its program has reported by
	// then are the sample; without two of them the job has no estimate.
	//
	// Default: the job's `budget`, or 10 minutes.
	//
	//	limit = "30m"
	Limit time.Duration `arg:"limit,positive" json:",omitempty"`
	// Alone is set if each job is sampled alone, without other jobs on its node.
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
	// More models that tfexp fits to the same samples for comparison, in estimates.csv, accuracy.csv and the report.
	//
	// Default: none.
	//
	//	models = ["linear", "scaling"]
	Models []string `arg:"models" allowed:"auto linear scaling history"`
	// The level of the prediction interval.
	//
	//	level = 0.95
	Level float64 `arg:"level" default:"0.9" min:"0.5" max:"0.9999"`
	// The wanted precision of predictions: half the width of the interval, relative to the run time. Jobs whose samples
	// do not suffice for that are sampled again, as far as the budget of sampling allows and more samples help.
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

// UsualWithin is the default of `within`: the greatest relative half-width of a prediction's interval.
const UsualWithin = 0.1

// Which predictions are corrected by the run times of finished jobs: none; only those that real cells are compared
// with; or also the estimates that policies use.
const (
	CorrectNone        = "none"
	CorrectPredictions = "predictions"
	CorrectPolicies    = "policies"
)

// Spec is one experiment: the evaluated values of a file, with their source ranges.
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
	// The seed of all random numbers. The same seed gives the same arrivals.
	//
	//	seed = 7
	Seed int64 `arg:"seed" type:"integer" default:"1" min:"0" max:"9007199254740992"`
	// The number of runs of each cell, each with different arrivals. Comparisons are paired by replicate and need at
	// least 3. If nothing is drawn at random, the default is 1.
	//
	//	replicates = 10
	Replicates int `arg:"replicates" default:"5" min:"1" max:"100000"`
	// The currency of all prices and costs. The columns of files keep their names, such as `cost_usd`.
	//
	//	currency = "EUR"
	Currency string `arg:"currency" default:"USD"`
	// The files that each cell writes: all files, or only its metrics (for cells with very many jobs).
	//
	//	records = "metrics"
	Records string `arg:"records" default:"all" allowed:"all metrics"`
	// The longest time of a cell (simulated time on `simulated`). A cell with unfinished jobs at that time is closed as
	// saturated: its jobs are stopped, and it counts as failed.
	//
	// Default: no end.
	//
	//	until = "24h"
	Until time.Duration `arg:"until,positive"`
	Range experiments.Range
	// Inputs are the paths of files and folders that the file names, absolute.
	Inputs []string `json:"-"`
	// Lenient is set if malformed lines of traces were skipped instead of reported as errors.
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
	// Thresholds are the threshold blocks, in the order of the file.
	Thresholds []Threshold
	Plots      []Plot
	// Stages has the decoded blocks of the stages, by name of the stage.
	Stages map[string][]schema.Settings `json:",omitempty"`
	Parts  Parts                        `json:",omitempty"`

	// File and Source are the path and the content of the experiment file. Variables are the values of its variables,
	// as LoadOptions.Vars takes them ("name=value").
	File      string
	Source    []byte
	Variables []schema.Setting
	// Sensitive are the names of the variables that are sensitive, sorted.
	Sensitive []string `json:",omitempty"`
}

// Cell is one point of the matrix. Axes holds the axes that the cell's blocks read, in the order of the file. Cells
// with equal values of a block share it.
type Cell struct {
	Workload *Workload
	Hardware *Hardware
	Policy   *Policy
	Axes     []schema.Setting
	Parts    Parts `json:",omitempty"`
}

// Settings are the values of a cell on all axes, also on workload, hardware and policy.
func (c *Cell) Settings() []schema.Setting {
	return append([]schema.Setting{{Name: "workload", Value: c.Workload.Name}, {Name: "hardware", Value: c.Hardware.Name},
		{Name: "policy", Value: c.Policy.Name}}, c.Axes...)
}

// Policy is a scheduler policy with its name.
type Policy struct {
	policy.Policy
	Name  string
	Range experiments.Range
	// Estimates is the name of the source of estimates; see estimator/source.
	Estimates string
	// Sigma is the standard deviation of the logarithm of the estimates' error, under noisy; under online, of the first
	// estimates.
	Sigma float64
	// At has the source range of each argument that the file sets; BlocksAt has the source range of each block in
	// Blocks.
	At       map[string]experiments.Range
	BlocksAt []experiments.Range `json:"-"`
	Parts    Parts               `json:",omitempty"`
}

// UsesCurve reports whether a model of run times needs samples with other numbers of threads than the request.
func UsesCurve(model string) bool { return model == "auto" || model == "scaling" }

// Corrected reports whether estimates are corrected while jobs run, by the jobs' reports.
func (p *Policy) Corrected() bool { return p.Source().Follows }

// DividesCores reports whether the policy chooses the number of cores of each job on the hardware. On hardware with
// GPUs it divides the GPUs instead.
func (p *Policy) DividesCores(h *Hardware) bool { return p.SetsCores() && len(h.GPUTypes()) == 0 }

// EstimatesOn reports whether the policy's decisions on the hardware depend on predicted run times.
func (p *Policy) EstimatesOn(h *Hardware) bool { return p.Policy.Estimates() || p.DividesCores(h) }

// Source returns the source of the policy's estimates.
func (p *Policy) Source() estimator.RunTimeSource { return estimator.FindSource(p.Estimates) }

// Compare is a comparison of a baseline with the variants that differ from it.
type Compare struct {
	Metric   string
	Baseline string // policy name, if the baseline is chosen by its policy alone
	// At has the values of axes that define the baseline, also of "policy", "hardware" and "workload".
	At []schema.Setting `json:",omitempty"`
	// Level is the confidence level of the intervals; 0.95 by default.
	Level float64
	// By names the measure.Grouping that divides the jobs; empty to compare all jobs together.
	By string `json:",omitempty"`
	// Block is the length of the pieces of a log that the bootstrap draws; 0 if it does not divide a log.
	Block time.Duration `json:",omitempty"`
	// Looks are the numbers of pairs after which the comparison is checked. It is empty if the number of replicates is
	// fixed.
	Looks []int `json:",omitempty"`
	// Planned is the number of pairs planned before the first run. Looks at more pairs follow replicates that were
	// added later.
	Planned int `json:",omitempty"`
	Range   experiments.Range
}

// Compared returns the comparisons of the file. Without compare blocks, the baseline is the first policy, and the
// metrics are the most common ones.
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
	By     string // a way to divide jobs into groups, for metrics and series
	Range  experiments.Range
}

// Threshold is a bound that results of the experiment must keep.
type Threshold struct {
	// Metric is a column of metrics.csv, or language.EstimateError.
	Metric string
	// Policy names the policy to which the bound applies; empty for all policies.
	Policy string
	// Min and Max bound the metric's mean over the replicates, in its unit. FidelityPct bounds the mean absolute error
	// of the metric's simulation, in percent. nil means no bound.
	Min, Max, FidelityPct *float64
	Range                 experiments.Range
}
