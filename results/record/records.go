package record

import (
	"github.com/tfexp/tfexp/results/measure"
)

// JobRow is a row of jobs.csv: a job of a cell, and what became of it.
type JobRow struct {
	Cell, Workload, Hardware, Policy string
	Replicate                        int
	Axes                             []Setting
	measure.Outcome
}

// Whole reports whether a job shows how long its runs take: it finished, and held its full request all the time.
func (r *JobRow) Whole() bool {
	return r.State == "finished" && r.Resizes == 0 && r.ThreadsMean == float64(r.ThreadsRequested)
}

// EstimateRow is a row of estimates.csv. Negative times are empty fields.
type EstimateRow struct {
	Job, Hardware        string
	Threads, GPUs        int
	Model                string
	Samples              int
	SampleFraction       float64
	Slope, Intercept     float64 // s an epoch, s
	Predicted, Low, High float64 // s
	// Actual is the mean service time of the finished jobs that held their
	// full request throughout; ErrorPct is (predicted − actual) / actual in
	// percent, NaN without an actual time.
	Actual, ErrorPct float64
	// Role is EstimateUsed on the estimate that policies and simulations go by, and
	// EstimateCompared on those of models that are only compared with it.
	Role string
	// Axes are those whose values tell the job from others of its block with the
	// same request: "hidden=64 batch=32".
	Axes string
	// Level is that of the interval, 0 to 1.
	Level float64
	// Runs is how many jobs Actual is the mean of, ActualSD their standard
	// deviation; Covered is how many of them the interval holds.
	Runs     int
	ActualSD float64
	Covered  int
	// Host is the fingerprint of the machine that was sampled.
	Host string
	// Chosen is the model that "auto" chose; else as Model.
	Chosen string
	// Sigma and Kappa are those of the speed-up curve (estimator.Curve).
	Sigma, Kappa float64
	// Cost is the seconds that the samples behind the estimate took.
	Cost float64
}

// The roles of an estimate. A table without roles has those that are used.
const (
	EstimateUsed     = "used"
	EstimateCompared = "compared"
)

// SampleRow is a row of samples.csv: one short run of a job. Times are seconds;
// negative ones are not known, and are empty fields.
type SampleRow struct {
	Job           string
	Threads, GPUs int
	Length        int
	Unit          string // epochs or steps
	// Wall is from launch to exit; Startup, Units (their sum) and Save as the
	// program reported them.
	Wall, Startup, Units, Save float64
	// Launch is what the engine took beyond Wall; Pause, Resume and Resize are its
	// costs where they were measured.
	Launch, Pause, Resume, Resize float64
	// Busy is the cores that other processes used; Tries how often it was taken;
	// Cost what that took in all.
	Busy  float64
	Tries int
	Cost  float64
	// Probe is how long the probe's piece of work took just before it and after it, on each of ProbeCores cores;
	// negative where the speed was not measured.
	Probe      float64
	ProbeCores int
	// Others is how many cores copies of the job held beside it; 0 of samples of a job alone.
	Others int
}

// The verdicts of a comparison.
const (
	Better              = "better"
	Worse               = "worse"
	NoDifference        = "no difference detected"
	NotEnoughReplicates = "not enough replicates"
)

// OneRun is the method of a comparison of two cells in which nothing is drawn: the difference is what it is, without an
// interval.
const OneRun = "one run"

// ComparisonRow is a row of comparisons.csv: a candidate against a baseline on
// one metric, paired by replicate. What is not known is NaN.
type ComparisonRow struct {
	Metric, Workload, Hardware string
	Baseline, Candidate        string // labels of variants
	// The policies of both and their axes, which comparisons.csv has in the labels.
	BaselinePolicy, CandidatePolicy string
	BaselineAxes, CandidateAxes     []Setting
	// Where the baseline ran, which is elsewhere when hardware or workloads are compared.
	BaselineHardware, BaselineWorkload string
	// By and Group are the jobs that are compared; empty for all.
	By, Group            string
	Pairs                int
	BaselineMean         float64
	CandidateMean        float64
	Ratio, CILow, CIHigh float64 // of candidate / baseline
	PValue               float64 // after Holm's correction
	Verdict              string
	// Difference is candidate − baseline, in the metric's unit, with its interval.
	Difference, DifferenceLow, DifferenceHigh float64
	// RawP is the p-value before the correction for Candidates candidates.
	RawP       float64
	Candidates int
	Level      float64 // of the intervals
	Method     string  // "paired t", "paired bootstrap", "exact", "block bootstrap", "Welch's t", OneRun
	Blocks     int     // of a log that were resampled, or of which there were too few for that: then Method is OneRun
	// Doubtful counts the pairs of which something outside of the experiment disturbed a cell; see Cell.Troubled.
	Doubtful int
}

// FidelityRow is a row of fidelity.csv: a metric of a real cell and of its
// simulation. ErrorPct is (simulated − real) / real in percent; NaN when the
// real value is 0 and the simulated one is not.
type FidelityRow struct {
	Cell, Metric    string
	Real, Simulated float64
	ErrorPct        float64
}

// FidelityJobRow is a row of fidelity_jobs.csv: when a job started and finished
// for real and in simulation, in seconds from the cell's start, negative when
// it never did. The errors are simulated − real, NaN when one of them is not
// known.
type FidelityJobRow struct {
	Cell, Job, Class            string
	StartReal, StartSimulated   float64
	FinishReal, FinishSimulated float64
	StartError, FinishError     float64
}

// FidelityDecisionRow is a row of fidelity_decisions.csv: how many decisions the scheduler took for real and in
// simulation, and how many of the first are the same. Real and Instead are the first decisions that are not, in words,
// empty where there is none any more, and DiffersAt is when that was, in seconds; negative when all are the same.
type FidelityDecisionRow struct {
	Cell                       string
	Decisions, Simulated, Same int
	DiffersAt                  float64
	Real, Instead              string
}

// AccuracyRow is a row of accuracy.csv: how well a model's estimates, made
// before the jobs ran, predicted the real runs of jobs that held their full
// request throughout. What is not known is NaN, an empty field.
type AccuracyRow struct {
	// Model is as in estimates.csv; By is "all", "job" or "resource", Group which.
	Model, By, Group string
	// Estimates that were fitted, and Runs that they are compared with.
	Estimates, Runs int
	// MeanAbs, SD and Bias are the mean of the absolute errors, and the standard
	// deviation and mean of the signed ones, by run: (predicted − actual) / actual
	// in percent. Above 0 estimates are too long.
	MeanAbs, SD, Bias float64
	// Least is the mean of the absolute errors that the best numbers would have had, one for each estimate, chosen when
	// all runs were known: no estimate that is fixed beforehand can be nearer, as runs of the same job differ by so much.
	// NaN with fewer than two runs for an estimate, on average.
	Least float64
	// Coverage is the part of the runs that the intervals of Level hold.
	Coverage, Level float64
	// Choices counts the jobs that ran on more than one resource. Of these,
	// BestRank is the place (1 is best) that the resource predicted fastest really
	// has, and Regret by how much it is slower than the one that was fastest, in
	// percent; means over Choices.
	Choices          int
	BestRank, Regret float64
	// Made says when the estimates were made: before the real cells, or before each of them, corrected by those that ran
	// earlier.
	Made string
}

// When estimates were made.
const (
	MadeBefore    = "before"
	MadeCorrected = "corrected"
)

// Estimator names the model of a row, and what corrected it.
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

// ProfilingRow is a row of profiling.csv: what sampling cost, against what a
// policy that decides by the estimates gained over one that does not, in the
// same replicates of one workload and hardware.
type ProfilingRow struct {
	Workload, Hardware string
	// Policy decides by estimates, Baseline does not; with their axes.
	Policy, Baseline string
	// Pairs of cells that both have.
	Pairs int
	// Cost is what all samples of the experiment took, in seconds.
	Cost float64
	// Makespan and JCT are how much shorter makespan and mean JCT of the policy's
	// cells are, on average, in seconds: below 0 the estimates did harm. Net is
	// Pairs × Makespan − Cost: what is left of the gain once sampling is paid.
	Makespan, JCT, Net float64
}
