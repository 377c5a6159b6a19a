package results

// JobRow is a row of jobs.csv. Times are seconds from the cell's start; a
// negative time means that it never came about, and is an empty field.
type JobRow struct {
	Cell, Workload, Hardware, Policy string
	Replicate                        int
	Axes                             []Setting
	Job, Class                       string
	Arrival, FirstStart, Finish      float64
	FirstRunDelay, Waiting, Service  float64
	JCT, Slowdown                    float64
	ThreadsRequested                 int
	ThreadsMean                      float64
	GPUs, Preemptions, Resizes       int
	State                            string
	Predicted                        float64 // run time; negative: no estimate
	// PredictionErrorPct is (predicted − service) / service in percent: above 0
	// when the estimate was too long. NaN: no estimate, not finished, started
	// anew, or the job did not hold its full request all the time.
	PredictionErrorPct float64
	// BoundedSlowdown is max(1, JCT / max(run time alone, floor)); NaN like
	// Slowdown for a job that did not finish or whose run time is not known.
	BoundedSlowdown float64
	// Restarts counts the attempts that failed before the last one.
	Restarts int
	// ResizeOverhead is the time in which the program says that it did not train
	// in order to take on other allotments; negative when it does not say.
	ResizeOverhead float64
	// Resource is what it ran on: "cpu", "gpu:V100", or the name of one of its
	// alternatives; empty if it never ran.
	Resource string
}

// Metrics is a row of metrics.csv without the cell's own columns. Means and
// quantiles are over the finished jobs; what is not known is NaN, which is an
// empty field and a JSON null. Failed counts the jobs that ended without
// finishing. The makespan goes to the last end of any job.
type Metrics struct {
	Jobs              int     `json:"jobs"`
	Finished          int     `json:"finished"`
	Failed            int     `json:"failed"`
	Makespan          float64 `json:"makespan_s"`
	ThroughputPerHour float64 `json:"throughput_per_h"`
	Utilization       float64 `json:"utilization"`
	MeanJCT           float64 `json:"mean_jct_s"`
	MedianJCT         float64 `json:"median_jct_s"`
	P95JCT            float64 `json:"p95_jct_s"`
	MeanWaiting       float64 `json:"mean_waiting_s"`
	MeanFirstRunDelay float64 `json:"mean_first_run_delay_s"`
	MeanService       float64 `json:"mean_service_s"`
	MeanSlowdown      float64 `json:"mean_slowdown"`
	P95Slowdown       float64 `json:"p95_slowdown"`
	JainFairness      float64 `json:"jain_fairness"`
	Preemptions       int     `json:"preemptions"`
	Resizes           int     `json:"resizes"`
	// MeanBoundedSlowdown is over the same jobs as MeanSlowdown.
	MeanBoundedSlowdown float64 `json:"mean_bounded_slowdown"`
	// GPUUtilization is NaN on hardware without GPUs.
	GPUUtilization float64 `json:"gpu_utilization"`
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
}

// The verdicts of a comparison.
const (
	Better              = "better"
	Worse               = "worse"
	NoDifference        = "no difference detected"
	NotEnoughReplicates = "not enough replicates"
)

// ComparisonRow is a row of comparisons.csv: a candidate against a baseline on
// one metric, paired by replicate. What is not known is NaN.
type ComparisonRow struct {
	Metric, Workload, Hardware string
	Baseline, Candidate        string // variants
	Pairs                      int
	BaselineMean               float64
	CandidateMean              float64
	Ratio, CILow, CIHigh       float64 // of candidate / baseline
	PValue                     float64 // after Holm's correction
	Verdict                    string
	// Difference is candidate − baseline, in the metric's unit, with its interval.
	Difference, DifferenceLow, DifferenceHigh float64
	// RawP is the p-value before the correction for Candidates candidates.
	RawP       float64
	Candidates int
	Level      float64 // of the intervals
	Method     string  // "paired t", "paired bootstrap", "exact"
}
