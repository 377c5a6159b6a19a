package record

import (
	"github.com/tfexp/tfexp/results/measure"
)

// JobRow is a row of jobs.csv: a job of a cell with its outcome.
type JobRow struct {
	Cell      string `csv:"cell"`
	Workload  string `csv:"workload"`
	Hardware  string `csv:"hardware"`
	Policy    string `csv:"policy"`
	Replicate int    `csv:"replicate"`
	Axes      []Setting
	measure.Outcome
}

// Whole reports whether the job's service time is of a complete run: it finished, and held its full request all
// the time.
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
	Slope          float64 `csv:"slope_s"` // seconds per epoch or step
	Intercept      float64 `csv:"intercept_s"`
	Predicted      float64 `csv:"predicted_s,time"` // s
	Low            float64 `csv:"low_s,time"`
	High           float64 `csv:"high_s,time"`
	// Actual is the mean service time of the finished jobs that held their full request all the time. ErrorPct is
	// (predicted − actual) / actual in percent, NaN without an actual time.
	Actual   float64 `csv:"actual_s,time"`
	ErrorPct float64 `csv:"error_pct"`
	// Level is the level of the interval, 0 to 1.
	Level float64 `csv:"level"`
	// Role is EstimateUsed for the estimate that policies and simulations use, and EstimateCompared for other models.
	Role string `csv:"role"`
	// Chosen is the model that "auto" chose; otherwise the same as Model.
	Chosen string `csv:"chosen"`
	// Axes are values of axes that distinguish the job from others of its block with the same request, such as
	// "hidden=64 batch=32".
	Axes string `csv:"axes"`
	// Runs is the number of jobs in the mean Actual, ActualSD their standard deviation, and Covered the number of
	// them inside the interval.
	Runs     int     `csv:"runs"`
	ActualSD float64 `csv:"actual_sd_s,time"`
	Covered  int     `csv:"covered"`
	// Sigma and Kappa are the parameters of the speed-up curve (estimator.Curve).
	Sigma float64 `csv:"sigma"`
	Kappa float64 `csv:"kappa"`
	// Cost is the time in seconds that the samples took.
	Cost float64 `csv:"sampling_s,time"`
	// Host is the fingerprint of the machine on which the samples ran.
	Host string `csv:"host"`
}

// Roles of an estimate. In a table without roles, all estimates are used.
const (
	EstimateUsed     = "used"
	EstimateCompared = "compared"
)

// SampleRow is a row of samples.csv: a short run of a job. Times are in seconds; a negative time is unknown, an empty
// field.
type SampleRow struct {
	Job     string `csv:"job"`
	Threads int    `csv:"threads"`
	GPUs    int    `csv:"gpus"`
	Length  int    `csv:"length"`
	Unit    string `csv:"unit"` // epochs or steps
	// Wall is the time from launch to exit. Startup, Units (the sum over units) and Save are the times that the
	// program reported.
	Wall    float64 `csv:"wall_s,time"`
	Startup float64 `csv:"startup_s,time"`
	Units   float64 `csv:"units_s,time"`
	Save    float64 `csv:"save_s,time"`
	// Launch is the engine's time in addition to Wall. Pause, Resume and Resize are the times of these actions, if
	// measured.
	Launch float64 `csv:"launch_s,time"`
	Pause  float64 `csv:"pause_s,time"`
	Resume float64 `csv:"resume_s,time"`
	Resize float64 `csv:"resize_s,time"`
	// Busy is the number of cores that other processes used, Tries the number of attempts, and Cost their total time.
	Busy  float64 `csv:"busy_cores,time"`
	Tries int     `csv:"tries"`
	Cost  float64 `csv:"sampling_s,time"`
	// Others is the number of cores that copies of the job held at the same time; 0 for a sample of a job alone.
	Others int `csv:"beside"`
}

// Verdicts of a comparison.
const (
	Better              = "better"
	Worse               = "worse"
	NoDifference        = "no difference detected"
	NotEnoughReplicates = "not enough replicates"
)

// OneRun is the method for two cells in which nothing is random: the difference is exact and has no interval.
const OneRun = "one run"

// ComparisonRow is a row of comparisons.csv: a candidate and a baseline compared on one metric, in pairs of cells of
// the same replicate. Unknown values are NaN.
type ComparisonRow struct {
	Metric        string  `csv:"metric"`
	Workload      string  `csv:"workload"`
	Hardware      string  `csv:"hardware"`
	Baseline      string  `csv:"baseline"` // labels of variants
	Candidate     string  `csv:"candidate"`
	Pairs         int     `csv:"pairs"`
	BaselineMean  float64 `csv:"baseline_mean"`
	CandidateMean float64 `csv:"candidate_mean"`
	Ratio         float64 `csv:"ratio"` // candidate / baseline
	CILow         float64 `csv:"ci_low"`
	CIHigh        float64 `csv:"ci_high"`
	PValue        float64 `csv:"p_value,precise"` // with Holm's correction
	Verdict       string  `csv:"verdict"`
	// Difference is candidate − baseline in the metric's unit, with its interval.
	Difference     float64 `csv:"difference"`
	DifferenceLow  float64 `csv:"difference_low"`
	DifferenceHigh float64 `csv:"difference_high"`
	// RawP is the p-value before the correction for the number of candidates.
	RawP       float64 `csv:"p_raw,precise"`
	Candidates int     `csv:"candidates"`
	Level      float64 `csv:"level"`  // of the intervals
	Method     string  `csv:"method"` // stats.PairedT, stats.SignFlips, "block bootstrap", "Welch's t", OneRun
	// By and Group are the grouping and the group of the compared jobs; "" for all jobs.
	By    string `csv:"by"`
	Group string `csv:"group"`
	// Blocks is the number of stretches of a log that were resampled. With too few of them, Method is OneRun.
	Blocks int `csv:"blocks"`
	// Doubtful is the number of pairs with a cell that was disturbed; see Cell.Troubled.
	Doubtful int `csv:"disturbed_pairs"`
	// Dropped is the number of pairs left out because different jobs finished in the two cells, or a cell failed.
	// Missing is the number of pairs with an incomplete cell.
	Dropped int `csv:"dropped_pairs"`
	Missing int `csv:"missing_pairs"`
	// NoLength is the number of pairs with a cell in which jobs of no length are left out of the metric.
	NoLength int `csv:"no_length_pairs"`
	// Skewness is the skewness of the differences.
	Skewness float64 `csv:"skewness"`
	// The policies and axes of both; comparisons.csv has them in the labels.
	BaselinePolicy  string
	CandidatePolicy string
	BaselineAxes    []Setting
	CandidateAxes   []Setting
	// Where the baseline ran; it differs if hardware or workloads are compared.
	BaselineHardware string
	BaselineWorkload string
}

// FidelityRow is a row of fidelity.csv: a metric of a real cell and of its simulation. ErrorPct is (simulated − real)
// / real in percent; NaN if only the real value is 0.
type FidelityRow struct {
	Cell      string  `csv:"cell"`
	Metric    string  `csv:"metric"`
	Real      float64 `csv:"real"`
	Simulated float64 `csv:"simulated"`
	ErrorPct  float64 `csv:"error_pct"`
}

// FidelityJobRow is a row of fidelity_jobs.csv: when a job started and finished for real and in simulation, in
// seconds from the cell's start; negative if never. Errors are simulated − real; NaN if either is unknown.
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

// FidelityDecisionRow is a row of fidelity_decisions.csv: the number of decisions for real and in simulation, and how
// many are equal before the first difference. Real and Instead describe the first decisions that differ; "" if there
// is none. DiffersAt is their time in seconds, negative if all are equal.
type FidelityDecisionRow struct {
	Cell      string  `csv:"cell"`
	Decisions int     `csv:"decisions"`
	Simulated int     `csv:"simulated_decisions"`
	Same      int     `csv:"same_decisions"`
	DiffersAt float64 `csv:"differs_s,time"`
	Real      string  `csv:"real_decision"`
	Instead   string  `csv:"simulated_decision"`
}

// AccuracyRow is a row of accuracy.csv: how well a model's estimates predicted real runs. The estimates were made
// before the runs, and the jobs held their full request all the time. Unknown values are NaN, an empty field.
type AccuracyRow struct {
	// Model is as in estimates.csv. By is "all", "job" or "resource", and Group the name of the job or resource.
	Model string `csv:"model"`
	By    string `csv:"by"`
	Group string `csv:"group"`
	// Estimates is the number of fitted estimates, and Runs the number of runs compared with them.
	Estimates int `csv:"estimates"`
	Runs      int `csv:"runs"`
	// MeanAbs, SD and Bias are the mean absolute error, the standard deviation and the mean of the errors. An error
	// is (predicted − actual) / actual of a run in percent, above 0 if the estimate is too long.
	MeanAbs float64 `csv:"mean_abs_error_pct"`
	SD      float64 `csv:"sd_error_pct"`
	Bias    float64 `csv:"bias_pct"`
	// Coverage is the fraction of the runs inside the intervals of Level.
	Coverage float64 `csv:"coverage"`
	Level    float64 `csv:"level"`
	// Choices is the number of jobs that ran on more than one resource. BestRank is the real rank (1 is fastest) of
	// the resource predicted to be fastest. Regret is by how many percent it is slower than the fastest. Both are
	// means over Choices.
	Choices  int     `csv:"choices"`
	BestRank float64 `csv:"best_rank"`
	Regret   float64 `csv:"regret_pct"`
	// Made says when the estimates were made: before all real cells, or before each of them and corrected by the
	// earlier ones.
	Made string `csv:"made"`
	// Machine is the mean error in percent of predicting a run by a run of the same job in another cell. It shows how
	// much the machine's own speed changes. It is NaN if no job ran in two cells.
	Machine float64 `csv:"machine_error_pct"`
}

// Values of AccuracyRow.Made.
const (
	MadeBefore    = "before"
	MadeCorrected = "corrected"
)

// Estimator returns the name of the row's model, with its correction.
func (r AccuracyRow) Estimator() string {
	if r.Made == MadeCorrected {
		return r.Model + ", corrected"
	}
	return r.Model
}

// Values of AccuracyRow.By.
const (
	ByAll      = "all"
	ByJob      = "job"
	ByResource = "resource"
)

// ProfilingRow is a row of profiling.csv: the cost of sampling, and the gain of a policy with estimates over a policy
// without, in the same replicates of a workload and hardware.
type ProfilingRow struct {
	Workload string `csv:"workload"`
	Hardware string `csv:"hardware"`
	// Policy uses estimates, and Baseline does not; both include axes.
	Policy   string `csv:"policy"`
	Baseline string `csv:"baseline"`
	// Pairs is the number of pairs of cells.
	Pairs int `csv:"pairs"`
	// Cost is the time in seconds of all samples of the experiment.
	Cost float64 `csv:"sampling_s,time"`
	// Makespan and JCT are by how many seconds the makespan and the mean JCT of the policy are shorter, on average;
	// negative if they are longer. Net is Pairs × Makespan − Cost, the gain after the cost of sampling.
	Makespan float64 `csv:"makespan_gain_s"`
	JCT      float64 `csv:"mean_jct_gain_s"`
	Net      float64 `csv:"net_makespan_s"`
}
