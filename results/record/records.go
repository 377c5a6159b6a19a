package record

import (
	"github.com/tfexp/tfexp/results/measure"
)

// JobRow is a row of jobs.csv: a job of a cell, and its outcome.
type JobRow struct {
	Cell      string `csv:"cell"`
	Workload  string `csv:"workload"`
	Hardware  string `csv:"hardware"`
	Policy    string `csv:"policy"`
	Replicate int    `csv:"replicate"`
	Axes      []Setting
	measure.Outcome
}

// Whole reports whether a job shows how long its runs take: it finished, and held its full request all the time.
func (r *JobRow) Whole() bool {
	return r.State == "finished" && r.Resizes == 0 && r.ThreadsMean == float64(r.ThreadsRequested)
}

// EstimateRow is a row of estimates.csv. Negative times are empty fields.
type EstimateRow struct {
	Job            string  `csv:"job"`
	Hardware       string  `csv:"hardware"`
	Threads        int     `csv:"threads"`
	GPUs           int     `csv:"gpus"`
	Model          string  `csv:"model"`
	Samples        int     `csv:"samples"`
	SampleFraction float64 `csv:"sample_fraction"`
	Slope          float64 `csv:"slope_s"` // s an epoch, s
	Intercept      float64 `csv:"intercept_s"`
	Predicted      float64 `csv:"predicted_s,time"` // s
	Low            float64 `csv:"low_s,time"`
	High           float64 `csv:"high_s,time"`
	// Actual is the mean service time of the finished jobs that held their
	// full request throughout; ErrorPct is (predicted − actual) / actual in
	// percent, NaN without an actual time.
	Actual   float64 `csv:"actual_s,time"`
	ErrorPct float64 `csv:"error_pct"`
	// Level is the level of the interval, 0 to 1.
	Level float64 `csv:"level"`
	// Role is EstimateUsed for the estimate that policies and simulations use, and
	// EstimateCompared for models that are only compared with it.
	Role string `csv:"role"`
	// Chosen is the model that "auto" chose; else as Model.
	Chosen string `csv:"chosen"`
	// Axes are the axes whose values distinguish the job from others of its block
	// with the same request: "hidden=64 batch=32".
	Axes string `csv:"axes"`
	// Runs is how many jobs Actual is the mean of, ActualSD their standard
	// deviation; Covered is how many of them the interval holds.
	Runs     int     `csv:"runs"`
	ActualSD float64 `csv:"actual_sd_s,time"`
	Covered  int     `csv:"covered"`
	// Sigma and Kappa are the parameters of the speed-up curve (estimator.Curve).
	Sigma float64 `csv:"sigma"`
	Kappa float64 `csv:"kappa"`
	// Cost is the seconds that the samples behind the estimate took.
	Cost float64 `csv:"sampling_s,time"`
	// Host is the fingerprint of the machine that was sampled.
	Host string `csv:"host"`
}

// The roles of an estimate. A table without roles has the used ones.
const (
	EstimateUsed     = "used"
	EstimateCompared = "compared"
)

// SampleRow is a row of samples.csv: one short run of a job. Times are seconds;
// negative ones are not known, and are empty fields.
type SampleRow struct {
	Job     string `csv:"job"`
	Threads int    `csv:"threads"`
	GPUs    int    `csv:"gpus"`
	Length  int    `csv:"length"`
	Unit    string `csv:"unit"` // epochs or steps
	// Wall is from launch to exit; Startup, Units (their sum) and Save as the
	// program reported them.
	Wall    float64 `csv:"wall_s,time"`
	Startup float64 `csv:"startup_s,time"`
	Units   float64 `csv:"units_s,time"`
	Save    float64 `csv:"save_s,time"`
	// Launch is the engine's time beyond Wall; Pause, Resume and Resize are its
	// costs where they were measured.
	Launch float64 `csv:"launch_s,time"`
	Pause  float64 `csv:"pause_s,time"`
	Resume float64 `csv:"resume_s,time"`
	Resize float64 `csv:"resize_s,time"`
	// Busy is the cores that other processes used; Tries how often it was taken;
	// Cost the total time of the samples.
	Busy  float64 `csv:"busy_cores,time"`
	Tries int     `csv:"tries"`
	Cost  float64 `csv:"sampling_s,time"`
	// Others is the number of cores that copies of the job held at the same time; 0 for samples of a job alone.
	Others int `csv:"beside"`
}

// The verdicts of a comparison.
const (
	Better              = "better"
	Worse               = "worse"
	NoDifference        = "no difference detected"
	NotEnoughReplicates = "not enough replicates"
)

// OneRun is the method of a comparison of two cells in which nothing is random: the difference is exact, without an
// interval.
const OneRun = "one run"

// ComparisonRow is a row of comparisons.csv: a candidate against a baseline on
// one metric, paired by replicate. Unknown values are NaN.
type ComparisonRow struct {
	Metric        string  `csv:"metric"`
	Workload      string  `csv:"workload"`
	Hardware      string  `csv:"hardware"`
	Baseline      string  `csv:"baseline"` // labels of variants
	Candidate     string  `csv:"candidate"`
	Pairs         int     `csv:"pairs"`
	BaselineMean  float64 `csv:"baseline_mean"`
	CandidateMean float64 `csv:"candidate_mean"`
	Ratio         float64 `csv:"ratio"` // of candidate / baseline
	CILow         float64 `csv:"ci_low"`
	CIHigh        float64 `csv:"ci_high"`
	PValue        float64 `csv:"p_value,precise"` // after Holm's correction
	Verdict       string  `csv:"verdict"`
	// Difference is candidate − baseline, in the metric's unit, with its interval.
	Difference     float64 `csv:"difference"`
	DifferenceLow  float64 `csv:"difference_low"`
	DifferenceHigh float64 `csv:"difference_high"`
	// RawP is the p-value before the correction for Candidates candidates.
	RawP       float64 `csv:"p_raw,precise"`
	Candidates int     `csv:"candidates"`
	Level      float64 `csv:"level"`  // of the intervals
	Method     string  `csv:"method"` // stats.PairedT, stats.SignFlips, "block bootstrap", "Welch's t", OneRun
	// By and Group are the jobs that are compared; empty for all.
	By    string `csv:"by"`
	Group string `csv:"group"`
	// of a log that were resampled; with too few for that, Method is OneRun
	Blocks int `csv:"blocks"`
	// Doubtful counts the pairs with a cell that something outside of the experiment disturbed; see Cell.Troubled.
	Doubtful int `csv:"disturbed_pairs"`
	// Dropped counts the pairs that were left out since different jobs finished in their cells, or one ended in an
	// error; Missing counts the pairs with an incomplete cell.
	Dropped int `csv:"dropped_pairs"`
	Missing int `csv:"missing_pairs"`
	// NoLength counts the pairs with a cell whose jobs of no length are left out of the metric.
	NoLength int `csv:"no_length_pairs"`
	// Skewness is the skewness of the differences of the pairs.
	Skewness float64 `csv:"skewness"`
	// The policies of both and their axes, which comparisons.csv has in the labels.
	BaselinePolicy  string
	CandidatePolicy string
	BaselineAxes    []Setting
	CandidateAxes   []Setting
	// Where the baseline ran, which is elsewhere when hardware or workloads are compared.
	BaselineHardware string
	BaselineWorkload string
}

// FidelityRow is a row of fidelity.csv: a metric of a real cell and of its
// simulation. ErrorPct is (simulated − real) / real in percent; NaN when the
// real value is 0 and the simulated one is not.
type FidelityRow struct {
	Cell      string  `csv:"cell"`
	Metric    string  `csv:"metric"`
	Real      float64 `csv:"real"`
	Simulated float64 `csv:"simulated"`
	ErrorPct  float64 `csv:"error_pct"`
}

// FidelityJobRow is a row of fidelity_jobs.csv: when a job started and finished
// for real and in simulation, in seconds from the cell's start, negative when
// it never did. The errors are simulated − real, NaN when one of them is not
// known.
type FidelityJobRow struct {
	Cell            string  `csv:"cell"`
	Job             string  `csv:"job"`
	Class           string  `csv:"class"`
	StartReal       float64 `csv:"start_real_s,time"`
	StartSimulated  float64 `csv:"start_simulated_s,time"`
	FinishReal      float64 `csv:"finish_real_s,time"`
	FinishSimulated float64 `csv:"finish_simulated_s,time"`
	StartError      float64 `csv:"start_error_s"`
	FinishError     float64 `csv:"finish_error_s"`
}

// FidelityDecisionRow is a row of fidelity_decisions.csv: how many decisions the scheduler took for real and in
// simulation, and how many of the first are the same. Real and Instead are the first decisions that differ, in
// words, empty at the end of a list. DiffersAt is their time in seconds; negative when all are the same.
type FidelityDecisionRow struct {
	Cell      string  `csv:"cell"`
	Decisions int     `csv:"decisions"`
	Simulated int     `csv:"simulated_decisions"`
	Same      int     `csv:"same_decisions"`
	DiffersAt float64 `csv:"differs_s,time"`
	Real      string  `csv:"real_decision"`
	Instead   string  `csv:"simulated_decision"`
}

// AccuracyRow is a row of accuracy.csv: how well a model's estimates, made
// before the jobs ran, predicted the real runs of jobs that held their full
// request throughout. Unknown values are NaN, an empty field.
type AccuracyRow struct {
	// Model is as in estimates.csv; By is "all", "job" or "resource", Group which.
	Model string `csv:"model"`
	By    string `csv:"by"`
	Group string `csv:"group"`
	// Estimates that were fitted, and Runs that they are compared with.
	Estimates int `csv:"estimates"`
	Runs      int `csv:"runs"`
	// MeanAbs, SD and Bias are the mean of the absolute errors, and the standard
	// deviation and mean of the signed ones, by run: (predicted − actual) / actual
	// in percent. Above 0 estimates are too long.
	MeanAbs float64 `csv:"mean_abs_error_pct"`
	SD      float64 `csv:"sd_error_pct"`
	Bias    float64 `csv:"bias_pct"`
	// Coverage is the part of the runs that the intervals of Level hold.
	Coverage float64 `csv:"coverage"`
	Level    float64 `csv:"level"`
	// Choices counts the jobs that ran on more than one resource. Of these,
	// BestRank is the place (1 is best) that the resource predicted fastest really
	// has, and Regret by how much it is slower than the one that was fastest, in
	// percent; means over Choices.
	Choices  int     `csv:"choices"`
	BestRank float64 `csv:"best_rank"`
	Regret   float64 `csv:"regret_pct"`
	// Made is the time when the estimates were made: before the real cells, or before each of them, corrected by
	// the earlier ones.
	Made string `csv:"made"`
	// Machine is the error of predicting a run by a run of the same job in another cell, in percent, on average: the
	// machine's own speed between the moments of both. NaN where no job ran in two cells.
	Machine float64 `csv:"machine_error_pct"`
}

// When estimates were made.
const (
	MadeBefore    = "before"
	MadeCorrected = "corrected"
)

// Estimator names the model of a row, and its correction.
func (r AccuracyRow) Estimator() string {
	if r.Made == MadeCorrected {
		return r.Model + ", corrected"
	}
	return r.Model
}

// The groups of accuracy.csv.
const (
	ByAll      = "all"
	ByJob      = "job"
	ByResource = "resource"
)

// ProfilingRow is a row of profiling.csv: the cost of sampling, and the gain of
// a policy that uses the estimates over one that does not, in the same
// replicates of one workload and hardware.
type ProfilingRow struct {
	Workload string `csv:"workload"`
	Hardware string `csv:"hardware"`
	// Policy decides by estimates, Baseline does not; with their axes.
	Policy   string `csv:"policy"`
	Baseline string `csv:"baseline"`
	// Pairs of cells that both have.
	Pairs int `csv:"pairs"`
	// Cost is the time of all samples of the experiment, in seconds.
	Cost float64 `csv:"sampling_s,time"`
	// Makespan and JCT are how much shorter makespan and mean JCT of the policy's
	// cells are, on average, in seconds: below 0 the estimates did harm. Net is
	// Pairs × Makespan − Cost: the gain after the cost of sampling.
	Makespan float64 `csv:"makespan_gain_s"`
	JCT      float64 `csv:"mean_jct_gain_s"`
	Net      float64 `csv:"net_makespan_s"`
}
