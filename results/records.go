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
	PredictionErrorPct               float64 // NaN: no estimate, or not finished
}

// Metrics is a row of metrics.csv without the cell's own columns. Means and
// quantiles are over the finished jobs.
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
	Actual, ErrorPct     float64 // mean service time of the finished jobs that were never resized
}

// ComparisonRow is a row of comparisons.csv.
type ComparisonRow struct {
	Metric, Workload, Hardware string
	Baseline, Candidate        string // variants
	Pairs                      int
	BaselineMean               float64
	CandidateMean              float64
	Ratio, CILow, CIHigh       float64 // of candidate / baseline
	PValue                     float64
	Verdict                    string
}
