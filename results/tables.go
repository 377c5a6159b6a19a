package results

// jobColumns are the columns of jobs.csv; the axes of the matrix follow them.
var jobColumns = []column[JobRow]{
	textColumn("cell", func(r *JobRow) *string { return &r.Cell }),
	textColumn("workload", func(r *JobRow) *string { return &r.Workload }),
	textColumn("hardware", func(r *JobRow) *string { return &r.Hardware }),
	textColumn("policy", func(r *JobRow) *string { return &r.Policy }),
	intColumn("replicate", func(r *JobRow) *int { return &r.Replicate }),
	textColumn("job", func(r *JobRow) *string { return &r.Job }),
	textColumn("class", func(r *JobRow) *string { return &r.Class }),
	secondsColumn("arrival_s", func(r *JobRow) *float64 { return &r.Arrival }),
	secondsColumn("first_start_s", func(r *JobRow) *float64 { return &r.FirstStart }),
	secondsColumn("finish_s", func(r *JobRow) *float64 { return &r.Finish }),
	secondsColumn("first_run_delay_s", func(r *JobRow) *float64 { return &r.FirstRunDelay }),
	secondsColumn("waiting_s", func(r *JobRow) *float64 { return &r.Waiting }),
	secondsColumn("service_s", func(r *JobRow) *float64 { return &r.Service }),
	secondsColumn("jct_s", func(r *JobRow) *float64 { return &r.JCT }),
	floatColumn("slowdown", func(r *JobRow) *float64 { return &r.Slowdown }),
	intColumn("threads_requested", func(r *JobRow) *int { return &r.ThreadsRequested }),
	floatColumn("threads_mean", func(r *JobRow) *float64 { return &r.ThreadsMean }),
	intColumn("gpus", func(r *JobRow) *int { return &r.GPUs }),
	intColumn("preemptions", func(r *JobRow) *int { return &r.Preemptions }),
	intColumn("resizes", func(r *JobRow) *int { return &r.Resizes }),
	textColumn("state", func(r *JobRow) *string { return &r.State }),
	secondsColumn("predicted_s", func(r *JobRow) *float64 { return &r.Predicted }),
	floatColumn("prediction_error_pct", func(r *JobRow) *float64 { return &r.PredictionErrorPct }),
	floatColumn("bounded_slowdown", func(r *JobRow) *float64 { return &r.BoundedSlowdown }),
	intColumn("restarts", func(r *JobRow) *int { return &r.Restarts }),
	secondsColumn("resize_overhead_s", func(r *JobRow) *float64 { return &r.ResizeOverhead }),
	textColumn("resource", func(r *JobRow) *string { return &r.Resource }),
}

// cellColumnsOfJobs is how many of the first columns of jobs.csv say which cell
// it is.
const cellColumnsOfJobs = 5

// cellColumns are the columns of metrics.csv: the cell's own, the metrics,
// how the cell ended, and its load; the axes of the matrix follow them.
var cellColumns = func() []column[Cell] {
	columns := []column[Cell]{
		textColumn("cell", func(c *Cell) *string { return &c.Cell }),
		textColumn("workload", func(c *Cell) *string { return &c.Workload }),
		textColumn("hardware", func(c *Cell) *string { return &c.Hardware }),
		textColumn("policy", func(c *Cell) *string { return &c.Policy }),
		intColumn("replicate", func(c *Cell) *int { return &c.Replicate }),
		textColumn("engine", func(c *Cell) *string { return &c.Engine }),
	}
	for _, m := range metricColumns {
		columns = append(columns, column[Cell]{
			name: m.name,
			add:  func(b []byte, c *Cell) []byte { return m.add(b, &c.Metrics) },
			set:  func(c *Cell, s string) error { return m.set(&c.Metrics, s) },
		})
	}
	columns = append(columns,
		textColumn("state", func(c *Cell) *string { return &c.State }),
		floatColumn("seconds", func(c *Cell) *float64 { return &c.Seconds }))
	for _, l := range loadColumns {
		columns = append(columns, column[Cell]{
			name: l.name,
			add:  func(b []byte, c *Cell) []byte { return l.add(b, &c.Load) },
			set:  func(c *Cell, s string) error { return l.set(&c.Load, s) },
		})
	}
	return columns
}()

// estimateColumns are the columns of estimates.csv.
var estimateColumns = []column[EstimateRow]{
	textColumn("job", func(r *EstimateRow) *string { return &r.Job }),
	textColumn("hardware", func(r *EstimateRow) *string { return &r.Hardware }),
	intColumn("threads", func(r *EstimateRow) *int { return &r.Threads }),
	intColumn("gpus", func(r *EstimateRow) *int { return &r.GPUs }),
	textColumn("model", func(r *EstimateRow) *string { return &r.Model }),
	intColumn("samples", func(r *EstimateRow) *int { return &r.Samples }),
	floatColumn("sample_fraction", func(r *EstimateRow) *float64 { return &r.SampleFraction }),
	floatColumn("slope_s", func(r *EstimateRow) *float64 { return &r.Slope }),
	floatColumn("intercept_s", func(r *EstimateRow) *float64 { return &r.Intercept }),
	secondsColumn("predicted_s", func(r *EstimateRow) *float64 { return &r.Predicted }),
	secondsColumn("low_s", func(r *EstimateRow) *float64 { return &r.Low }),
	secondsColumn("high_s", func(r *EstimateRow) *float64 { return &r.High }),
	secondsColumn("actual_s", func(r *EstimateRow) *float64 { return &r.Actual }),
	floatColumn("error_pct", func(r *EstimateRow) *float64 { return &r.ErrorPct }),
	floatColumn("level", func(r *EstimateRow) *float64 { return &r.Level }),
	textColumn("role", func(r *EstimateRow) *string { return &r.Role }),
	textColumn("chosen", func(r *EstimateRow) *string { return &r.Chosen }),
	textColumn("axes", func(r *EstimateRow) *string { return &r.Axes }),
	intColumn("runs", func(r *EstimateRow) *int { return &r.Runs }),
	secondsColumn("actual_sd_s", func(r *EstimateRow) *float64 { return &r.ActualSD }),
	intColumn("covered", func(r *EstimateRow) *int { return &r.Covered }),
	floatColumn("sigma", func(r *EstimateRow) *float64 { return &r.Sigma }),
	floatColumn("kappa", func(r *EstimateRow) *float64 { return &r.Kappa }),
	secondsColumn("sampling_s", func(r *EstimateRow) *float64 { return &r.Cost }),
	textColumn("host", func(r *EstimateRow) *string { return &r.Host }),
}

// sampleColumns are the columns of samples.csv.
var sampleColumns = []column[SampleRow]{
	textColumn("job", func(r *SampleRow) *string { return &r.Job }),
	intColumn("threads", func(r *SampleRow) *int { return &r.Threads }),
	intColumn("gpus", func(r *SampleRow) *int { return &r.GPUs }),
	intColumn("length", func(r *SampleRow) *int { return &r.Length }),
	textColumn("unit", func(r *SampleRow) *string { return &r.Unit }),
	secondsColumn("wall_s", func(r *SampleRow) *float64 { return &r.Wall }),
	secondsColumn("startup_s", func(r *SampleRow) *float64 { return &r.Startup }),
	secondsColumn("units_s", func(r *SampleRow) *float64 { return &r.Units }),
	secondsColumn("save_s", func(r *SampleRow) *float64 { return &r.Save }),
	secondsColumn("launch_s", func(r *SampleRow) *float64 { return &r.Launch }),
	secondsColumn("pause_s", func(r *SampleRow) *float64 { return &r.Pause }),
	secondsColumn("resume_s", func(r *SampleRow) *float64 { return &r.Resume }),
	secondsColumn("resize_s", func(r *SampleRow) *float64 { return &r.Resize }),
	secondsColumn("busy_cores", func(r *SampleRow) *float64 { return &r.Busy }),
	intColumn("tries", func(r *SampleRow) *int { return &r.Tries }),
	secondsColumn("sampling_s", func(r *SampleRow) *float64 { return &r.Cost }),
}

// accuracyColumns are the columns of accuracy.csv.
var accuracyColumns = []column[AccuracyRow]{
	textColumn("model", func(r *AccuracyRow) *string { return &r.Model }),
	textColumn("by", func(r *AccuracyRow) *string { return &r.By }),
	textColumn("group", func(r *AccuracyRow) *string { return &r.Group }),
	intColumn("estimates", func(r *AccuracyRow) *int { return &r.Estimates }),
	intColumn("runs", func(r *AccuracyRow) *int { return &r.Runs }),
	floatColumn("mean_abs_error_pct", func(r *AccuracyRow) *float64 { return &r.MeanAbs }),
	floatColumn("sd_error_pct", func(r *AccuracyRow) *float64 { return &r.SD }),
	floatColumn("bias_pct", func(r *AccuracyRow) *float64 { return &r.Bias }),
	floatColumn("coverage", func(r *AccuracyRow) *float64 { return &r.Coverage }),
	floatColumn("level", func(r *AccuracyRow) *float64 { return &r.Level }),
	intColumn("choices", func(r *AccuracyRow) *int { return &r.Choices }),
	floatColumn("best_rank", func(r *AccuracyRow) *float64 { return &r.BestRank }),
	floatColumn("regret_pct", func(r *AccuracyRow) *float64 { return &r.Regret }),
}

// profilingColumns are the columns of profiling.csv.
var profilingColumns = []column[ProfilingRow]{
	textColumn("workload", func(r *ProfilingRow) *string { return &r.Workload }),
	textColumn("hardware", func(r *ProfilingRow) *string { return &r.Hardware }),
	textColumn("policy", func(r *ProfilingRow) *string { return &r.Policy }),
	textColumn("baseline", func(r *ProfilingRow) *string { return &r.Baseline }),
	intColumn("pairs", func(r *ProfilingRow) *int { return &r.Pairs }),
	secondsColumn("sampling_s", func(r *ProfilingRow) *float64 { return &r.Cost }),
	floatColumn("makespan_gain_s", func(r *ProfilingRow) *float64 { return &r.Makespan }),
	floatColumn("mean_jct_gain_s", func(r *ProfilingRow) *float64 { return &r.JCT }),
	floatColumn("net_makespan_s", func(r *ProfilingRow) *float64 { return &r.Net }),
}

// comparisonColumns are the columns of comparisons.csv.
var comparisonColumns = []column[ComparisonRow]{
	textColumn("metric", func(r *ComparisonRow) *string { return &r.Metric }),
	textColumn("workload", func(r *ComparisonRow) *string { return &r.Workload }),
	textColumn("hardware", func(r *ComparisonRow) *string { return &r.Hardware }),
	textColumn("baseline", func(r *ComparisonRow) *string { return &r.Baseline }),
	textColumn("candidate", func(r *ComparisonRow) *string { return &r.Candidate }),
	intColumn("pairs", func(r *ComparisonRow) *int { return &r.Pairs }),
	floatColumn("baseline_mean", func(r *ComparisonRow) *float64 { return &r.BaselineMean }),
	floatColumn("candidate_mean", func(r *ComparisonRow) *float64 { return &r.CandidateMean }),
	floatColumn("ratio", func(r *ComparisonRow) *float64 { return &r.Ratio }),
	floatColumn("ci_low", func(r *ComparisonRow) *float64 { return &r.CILow }),
	floatColumn("ci_high", func(r *ComparisonRow) *float64 { return &r.CIHigh }),
	preciseColumn("p_value", func(r *ComparisonRow) *float64 { return &r.PValue }),
	textColumn("verdict", func(r *ComparisonRow) *string { return &r.Verdict }),
	floatColumn("difference", func(r *ComparisonRow) *float64 { return &r.Difference }),
	floatColumn("difference_low", func(r *ComparisonRow) *float64 { return &r.DifferenceLow }),
	floatColumn("difference_high", func(r *ComparisonRow) *float64 { return &r.DifferenceHigh }),
	preciseColumn("p_raw", func(r *ComparisonRow) *float64 { return &r.RawP }),
	intColumn("candidates", func(r *ComparisonRow) *int { return &r.Candidates }),
	floatColumn("level", func(r *ComparisonRow) *float64 { return &r.Level }),
	textColumn("method", func(r *ComparisonRow) *string { return &r.Method }),
}

// fidelityColumns are the columns of fidelity.csv.
var fidelityColumns = []column[FidelityRow]{
	textColumn("cell", func(r *FidelityRow) *string { return &r.Cell }),
	textColumn("metric", func(r *FidelityRow) *string { return &r.Metric }),
	floatColumn("real", func(r *FidelityRow) *float64 { return &r.Real }),
	floatColumn("simulated", func(r *FidelityRow) *float64 { return &r.Simulated }),
	floatColumn("error_pct", func(r *FidelityRow) *float64 { return &r.ErrorPct }),
}

// fidelityJobColumns are the columns of fidelity_jobs.csv.
var fidelityJobColumns = []column[FidelityJobRow]{
	textColumn("cell", func(r *FidelityJobRow) *string { return &r.Cell }),
	textColumn("job", func(r *FidelityJobRow) *string { return &r.Job }),
	textColumn("class", func(r *FidelityJobRow) *string { return &r.Class }),
	secondsColumn("start_real_s", func(r *FidelityJobRow) *float64 { return &r.StartReal }),
	secondsColumn("start_simulated_s", func(r *FidelityJobRow) *float64 { return &r.StartSimulated }),
	secondsColumn("finish_real_s", func(r *FidelityJobRow) *float64 { return &r.FinishReal }),
	secondsColumn("finish_simulated_s", func(r *FidelityJobRow) *float64 { return &r.FinishSimulated }),
	floatColumn("start_error_s", func(r *FidelityJobRow) *float64 { return &r.StartError }),
	floatColumn("finish_error_s", func(r *FidelityJobRow) *float64 { return &r.FinishError }),
}

// occupancyColumns are the columns of occupancy.csv.
var occupancyColumns = []column[Occupancy]{
	secondsColumn("t_s", func(o *Occupancy) *float64 { return &o.At }),
	intColumn("cores_held", func(o *Occupancy) *int { return &o.CoresHeld }),
	intColumn("running", func(o *Occupancy) *int { return &o.Running }),
	intColumn("queued", func(o *Occupancy) *int { return &o.Queued }),
	intColumn("paused", func(o *Occupancy) *int { return &o.Paused }),
}

// MarshalJSON writes the columns of jobs.csv; what is not known is null.
func (r JobRow) MarshalJSON() ([]byte, error) { return marshalRow(jobColumns, &r) }

// MarshalJSON writes the columns of estimates.csv; what is not known is null.
func (r EstimateRow) MarshalJSON() ([]byte, error) { return marshalRow(estimateColumns, &r) }

// MarshalJSON writes the columns of comparisons.csv; what is not known is null.
func (r ComparisonRow) MarshalJSON() ([]byte, error) { return marshalRow(comparisonColumns, &r) }
