package record

import (
	"slices"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/table"
)

// jobColumns are the columns of jobs.csv; the axes of the matrix follow them.
var jobColumns = []table.Column[JobRow]{
	table.Text("cell", func(r *JobRow) *string { return &r.Cell }),
	table.Text("workload", func(r *JobRow) *string { return &r.Workload }),
	table.Text("hardware", func(r *JobRow) *string { return &r.Hardware }),
	table.Text("policy", func(r *JobRow) *string { return &r.Policy }),
	table.Int("replicate", func(r *JobRow) *int { return &r.Replicate }),
	table.Text("job", func(r *JobRow) *string { return &r.Job }),
	table.Text("class", func(r *JobRow) *string { return &r.Class }),
	table.Seconds("arrival_s", func(r *JobRow) *float64 { return &r.Arrival }),
	table.Seconds("first_start_s", func(r *JobRow) *float64 { return &r.FirstStart }),
	table.Seconds("finish_s", func(r *JobRow) *float64 { return &r.Finish }),
	table.Seconds("first_run_delay_s", func(r *JobRow) *float64 { return &r.FirstRunDelay }),
	table.Seconds("waiting_s", func(r *JobRow) *float64 { return &r.Waiting }),
	table.Seconds("service_s", func(r *JobRow) *float64 { return &r.Service }),
	table.Seconds("jct_s", func(r *JobRow) *float64 { return &r.JCT }),
	table.Float("slowdown", func(r *JobRow) *float64 { return &r.Slowdown }),
	table.Int("threads_requested", func(r *JobRow) *int { return &r.ThreadsRequested }),
	table.Float("threads_mean", func(r *JobRow) *float64 { return &r.ThreadsMean }),
	table.Int("gpus", func(r *JobRow) *int { return &r.GPUs }),
	table.Int("preemptions", func(r *JobRow) *int { return &r.Preemptions }),
	table.Int("resizes", func(r *JobRow) *int { return &r.Resizes }),
	table.Text("state", func(r *JobRow) *string { return &r.State }),
	table.Seconds("predicted_s", func(r *JobRow) *float64 { return &r.Predicted }),
	table.Float("prediction_error_pct", func(r *JobRow) *float64 { return &r.PredictionErrorPct }),
	table.Float("bounded_slowdown", func(r *JobRow) *float64 { return &r.BoundedSlowdown }),
	table.Int("restarts", func(r *JobRow) *int { return &r.Restarts }),
	table.Seconds("resize_overhead_s", func(r *JobRow) *float64 { return &r.ResizeOverhead }),
	table.Text("resource", func(r *JobRow) *string { return &r.Resource }),
	table.Float("final_accuracy", func(r *JobRow) *float64 { return &r.FinalAccuracy }),
	table.Float("final_loss", func(r *JobRow) *float64 { return &r.FinalLoss }),
	table.Float("cost_usd", func(r *JobRow) *float64 { return &r.Cost }),
	table.Float("revocations", func(r *JobRow) *float64 { return &r.Revocations }),
	table.Float("lost_work_s", func(r *JobRow) *float64 { return &r.LostWork }),
	table.Float("checkpoint_s", func(r *JobRow) *float64 { return &r.CheckpointTime }),
	table.Float("restore_s", func(r *JobRow) *float64 { return &r.RestoreTime }),
	table.Float("lateness_s", func(r *JobRow) *float64 { return &r.Lateness }),
	table.Float("budget_s", func(r *JobRow) *float64 { return &r.Budget }),
	table.Float("budget_used_s", func(r *JobRow) *float64 { return &r.BudgetUsed }),
	table.Float("scoring_s", func(r *JobRow) *float64 { return &r.Scoring }),
	table.Text("user", func(r *JobRow) *string { return &r.User }),
	table.Float("finish_time_ratio", func(r *JobRow) *float64 { return &r.FinishTime }),
}

// cellColumnsOfJobs is how many of the first columns of jobs.csv say which cell
// it is.
const cellColumnsOfJobs = 5

// refColumns are the columns that say which cell a row is about.
var refColumns = []table.Column[Cell]{
	table.Text("cell", func(c *Cell) *string { return &c.Cell }),
	table.Text("workload", func(c *Cell) *string { return &c.Workload }),
	table.Text("hardware", func(c *Cell) *string { return &c.Hardware }),
	table.Text("policy", func(c *Cell) *string { return &c.Policy }),
	table.Int("replicate", func(c *Cell) *int { return &c.Replicate }),
	table.Text("engine", func(c *Cell) *string { return &c.Engine }),
}

// cellColumns are the columns of metrics.csv: the cell's own, the metrics that
// are registered, how the cell ended, and its load; the axes of the matrix
// follow them. Nothing in it depends on the machine that simulated a cell.
func cellColumns() []table.Column[Cell] {
	columns := slices.Clone(refColumns)
	for _, m := range measure.AllMetrics() {
		columns = append(columns, within(m.Column(), func(c *Cell) *measure.Metrics { return &c.Metrics }))
	}
	columns = append(columns, table.Text("state", func(c *Cell) *string { return &c.State }))
	for _, l := range measure.LoadColumns {
		columns = append(columns, within(l, func(c *Cell) *measure.Load { return &c.Load }))
	}
	return columns
}

// timingColumns are the columns of timings.csv: how long the machine took for a
// cell; the axes of the matrix follow them.
var timingColumns = append(slices.Clone(refColumns),
	table.Float("seconds", func(c *Cell) *float64 { return &c.Seconds }),
	table.Seconds("busy_cores", func(c *Cell) *float64 { return &c.Busy }),
)

// within is the column of a part of a cell.
func within[T any](c table.Column[T], part func(*Cell) *T) table.Column[Cell] {
	return table.Column[Cell]{
		Name: c.Name, Text: c.Text,
		Add: func(b []byte, cell *Cell) []byte { return c.Add(b, part(cell)) },
		Set: func(cell *Cell, s string) error { return c.Set(part(cell), s) },
	}
}

// estimateColumns are the columns of estimates.csv.
var estimateColumns = []table.Column[EstimateRow]{
	table.Text("job", func(r *EstimateRow) *string { return &r.Job }),
	table.Text("hardware", func(r *EstimateRow) *string { return &r.Hardware }),
	table.Int("threads", func(r *EstimateRow) *int { return &r.Threads }),
	table.Int("gpus", func(r *EstimateRow) *int { return &r.GPUs }),
	table.Text("model", func(r *EstimateRow) *string { return &r.Model }),
	table.Int("samples", func(r *EstimateRow) *int { return &r.Samples }),
	table.Float("sample_fraction", func(r *EstimateRow) *float64 { return &r.SampleFraction }),
	table.Float("slope_s", func(r *EstimateRow) *float64 { return &r.Slope }),
	table.Float("intercept_s", func(r *EstimateRow) *float64 { return &r.Intercept }),
	table.Seconds("predicted_s", func(r *EstimateRow) *float64 { return &r.Predicted }),
	table.Seconds("low_s", func(r *EstimateRow) *float64 { return &r.Low }),
	table.Seconds("high_s", func(r *EstimateRow) *float64 { return &r.High }),
	table.Seconds("actual_s", func(r *EstimateRow) *float64 { return &r.Actual }),
	table.Float("error_pct", func(r *EstimateRow) *float64 { return &r.ErrorPct }),
	table.Float("level", func(r *EstimateRow) *float64 { return &r.Level }),
	table.Text("role", func(r *EstimateRow) *string { return &r.Role }),
	table.Text("chosen", func(r *EstimateRow) *string { return &r.Chosen }),
	table.Text("axes", func(r *EstimateRow) *string { return &r.Axes }),
	table.Int("runs", func(r *EstimateRow) *int { return &r.Runs }),
	table.Seconds("actual_sd_s", func(r *EstimateRow) *float64 { return &r.ActualSD }),
	table.Int("covered", func(r *EstimateRow) *int { return &r.Covered }),
	table.Float("sigma", func(r *EstimateRow) *float64 { return &r.Sigma }),
	table.Float("kappa", func(r *EstimateRow) *float64 { return &r.Kappa }),
	table.Seconds("sampling_s", func(r *EstimateRow) *float64 { return &r.Cost }),
	table.Text("host", func(r *EstimateRow) *string { return &r.Host }),
}

// sampleColumns are the columns of samples.csv.
var sampleColumns = []table.Column[SampleRow]{
	table.Text("job", func(r *SampleRow) *string { return &r.Job }),
	table.Int("threads", func(r *SampleRow) *int { return &r.Threads }),
	table.Int("gpus", func(r *SampleRow) *int { return &r.GPUs }),
	table.Int("length", func(r *SampleRow) *int { return &r.Length }),
	table.Text("unit", func(r *SampleRow) *string { return &r.Unit }),
	table.Seconds("wall_s", func(r *SampleRow) *float64 { return &r.Wall }),
	table.Seconds("startup_s", func(r *SampleRow) *float64 { return &r.Startup }),
	table.Seconds("units_s", func(r *SampleRow) *float64 { return &r.Units }),
	table.Seconds("save_s", func(r *SampleRow) *float64 { return &r.Save }),
	table.Seconds("launch_s", func(r *SampleRow) *float64 { return &r.Launch }),
	table.Seconds("pause_s", func(r *SampleRow) *float64 { return &r.Pause }),
	table.Seconds("resume_s", func(r *SampleRow) *float64 { return &r.Resume }),
	table.Seconds("resize_s", func(r *SampleRow) *float64 { return &r.Resize }),
	table.Seconds("busy_cores", func(r *SampleRow) *float64 { return &r.Busy }),
	table.Int("tries", func(r *SampleRow) *int { return &r.Tries }),
	table.Seconds("sampling_s", func(r *SampleRow) *float64 { return &r.Cost }),
	table.Seconds("probe_s", func(r *SampleRow) *float64 { return &r.Probe }),
	table.Int("probe_cores", func(r *SampleRow) *int { return &r.ProbeCores }),
	table.Int("beside", func(r *SampleRow) *int { return &r.Others }),
}

// accuracyColumns are the columns of accuracy.csv.
var accuracyColumns = []table.Column[AccuracyRow]{
	table.Text("model", func(r *AccuracyRow) *string { return &r.Model }),
	table.Text("by", func(r *AccuracyRow) *string { return &r.By }),
	table.Text("group", func(r *AccuracyRow) *string { return &r.Group }),
	table.Int("estimates", func(r *AccuracyRow) *int { return &r.Estimates }),
	table.Int("runs", func(r *AccuracyRow) *int { return &r.Runs }),
	table.Float("mean_abs_error_pct", func(r *AccuracyRow) *float64 { return &r.MeanAbs }),
	table.Float("sd_error_pct", func(r *AccuracyRow) *float64 { return &r.SD }),
	table.Float("bias_pct", func(r *AccuracyRow) *float64 { return &r.Bias }),
	table.Float("coverage", func(r *AccuracyRow) *float64 { return &r.Coverage }),
	table.Float("level", func(r *AccuracyRow) *float64 { return &r.Level }),
	table.Int("choices", func(r *AccuracyRow) *int { return &r.Choices }),
	table.Float("best_rank", func(r *AccuracyRow) *float64 { return &r.BestRank }),
	table.Float("regret_pct", func(r *AccuracyRow) *float64 { return &r.Regret }),
	table.Text("made", func(r *AccuracyRow) *string { return &r.Made }),
	table.Float("least_error_pct", func(r *AccuracyRow) *float64 { return &r.Least }),
}

// profilingColumns are the columns of profiling.csv.
var profilingColumns = []table.Column[ProfilingRow]{
	table.Text("workload", func(r *ProfilingRow) *string { return &r.Workload }),
	table.Text("hardware", func(r *ProfilingRow) *string { return &r.Hardware }),
	table.Text("policy", func(r *ProfilingRow) *string { return &r.Policy }),
	table.Text("baseline", func(r *ProfilingRow) *string { return &r.Baseline }),
	table.Int("pairs", func(r *ProfilingRow) *int { return &r.Pairs }),
	table.Seconds("sampling_s", func(r *ProfilingRow) *float64 { return &r.Cost }),
	table.Float("makespan_gain_s", func(r *ProfilingRow) *float64 { return &r.Makespan }),
	table.Float("mean_jct_gain_s", func(r *ProfilingRow) *float64 { return &r.JCT }),
	table.Float("net_makespan_s", func(r *ProfilingRow) *float64 { return &r.Net }),
}

// comparisonColumns are the columns of comparisons.csv.
var comparisonColumns = []table.Column[ComparisonRow]{
	table.Text("metric", func(r *ComparisonRow) *string { return &r.Metric }),
	table.Text("workload", func(r *ComparisonRow) *string { return &r.Workload }),
	table.Text("hardware", func(r *ComparisonRow) *string { return &r.Hardware }),
	table.Text("baseline", func(r *ComparisonRow) *string { return &r.Baseline }),
	table.Text("candidate", func(r *ComparisonRow) *string { return &r.Candidate }),
	table.Int("pairs", func(r *ComparisonRow) *int { return &r.Pairs }),
	table.Float("baseline_mean", func(r *ComparisonRow) *float64 { return &r.BaselineMean }),
	table.Float("candidate_mean", func(r *ComparisonRow) *float64 { return &r.CandidateMean }),
	table.Float("ratio", func(r *ComparisonRow) *float64 { return &r.Ratio }),
	table.Float("ci_low", func(r *ComparisonRow) *float64 { return &r.CILow }),
	table.Float("ci_high", func(r *ComparisonRow) *float64 { return &r.CIHigh }),
	table.Precise("p_value", func(r *ComparisonRow) *float64 { return &r.PValue }),
	table.Text("verdict", func(r *ComparisonRow) *string { return &r.Verdict }),
	table.Float("difference", func(r *ComparisonRow) *float64 { return &r.Difference }),
	table.Float("difference_low", func(r *ComparisonRow) *float64 { return &r.DifferenceLow }),
	table.Float("difference_high", func(r *ComparisonRow) *float64 { return &r.DifferenceHigh }),
	table.Precise("p_raw", func(r *ComparisonRow) *float64 { return &r.RawP }),
	table.Int("candidates", func(r *ComparisonRow) *int { return &r.Candidates }),
	table.Float("level", func(r *ComparisonRow) *float64 { return &r.Level }),
	table.Text("method", func(r *ComparisonRow) *string { return &r.Method }),
	table.Text("by", func(r *ComparisonRow) *string { return &r.By }),
	table.Text("group", func(r *ComparisonRow) *string { return &r.Group }),
	table.Int("blocks", func(r *ComparisonRow) *int { return &r.Blocks }),
	table.Int("disturbed_pairs", func(r *ComparisonRow) *int { return &r.Doubtful }),
}

// fidelityColumns are the columns of fidelity.csv.
var fidelityColumns = []table.Column[FidelityRow]{
	table.Text("cell", func(r *FidelityRow) *string { return &r.Cell }),
	table.Text("metric", func(r *FidelityRow) *string { return &r.Metric }),
	table.Float("real", func(r *FidelityRow) *float64 { return &r.Real }),
	table.Float("simulated", func(r *FidelityRow) *float64 { return &r.Simulated }),
	table.Float("error_pct", func(r *FidelityRow) *float64 { return &r.ErrorPct }),
}

// fidelityJobColumns are the columns of fidelity_jobs.csv.
var fidelityJobColumns = []table.Column[FidelityJobRow]{
	table.Text("cell", func(r *FidelityJobRow) *string { return &r.Cell }),
	table.Text("job", func(r *FidelityJobRow) *string { return &r.Job }),
	table.Text("class", func(r *FidelityJobRow) *string { return &r.Class }),
	table.Seconds("start_real_s", func(r *FidelityJobRow) *float64 { return &r.StartReal }),
	table.Seconds("start_simulated_s", func(r *FidelityJobRow) *float64 { return &r.StartSimulated }),
	table.Seconds("finish_real_s", func(r *FidelityJobRow) *float64 { return &r.FinishReal }),
	table.Seconds("finish_simulated_s", func(r *FidelityJobRow) *float64 { return &r.FinishSimulated }),
	table.Float("start_error_s", func(r *FidelityJobRow) *float64 { return &r.StartError }),
	table.Float("finish_error_s", func(r *FidelityJobRow) *float64 { return &r.FinishError }),
}

// fidelityDecisionColumns are the columns of fidelity_decisions.csv.
var fidelityDecisionColumns = []table.Column[FidelityDecisionRow]{
	table.Text("cell", func(r *FidelityDecisionRow) *string { return &r.Cell }),
	table.Int("decisions", func(r *FidelityDecisionRow) *int { return &r.Decisions }),
	table.Int("simulated_decisions", func(r *FidelityDecisionRow) *int { return &r.Simulated }),
	table.Int("same_decisions", func(r *FidelityDecisionRow) *int { return &r.Same }),
	table.Seconds("differs_s", func(r *FidelityDecisionRow) *float64 { return &r.DiffersAt }),
	table.Text("real_decision", func(r *FidelityDecisionRow) *string { return &r.Real }),
	table.Text("simulated_decision", func(r *FidelityDecisionRow) *string { return &r.Instead }),
}

// occupancyColumns are the columns of occupancy.csv.
var occupancyColumns = []table.Column[measure.Occupancy]{
	table.Seconds("t_s", func(o *measure.Occupancy) *float64 { return &o.At }),
	table.Int("cores_held", func(o *measure.Occupancy) *int { return &o.CoresHeld }),
	table.Int("running", func(o *measure.Occupancy) *int { return &o.Running }),
	table.Int("queued", func(o *measure.Occupancy) *int { return &o.Queued }),
	table.Int("paused", func(o *measure.Occupancy) *int { return &o.Paused }),
}

// MarshalJSON writes the columns of jobs.csv; what is not known is null.
func (r JobRow) MarshalJSON() ([]byte, error) { return table.MarshalRow(jobColumns, &r) }

// MarshalJSON writes the columns of estimates.csv; what is not known is null.
func (r EstimateRow) MarshalJSON() ([]byte, error) { return table.MarshalRow(estimateColumns, &r) }

// MarshalJSON writes the columns of comparisons.csv; what is not known is null.
func (r ComparisonRow) MarshalJSON() ([]byte, error) { return table.MarshalRow(comparisonColumns, &r) }
