package measure

// Outcome has the results of a job. Times are in seconds from the cell's start; a negative time means never.
type Outcome struct {
	Job   string `csv:"job"`
	Class string `csv:"class"`
	JobTimes
	Slowdown         float64 `csv:"slowdown"`
	ThreadsRequested int     `csv:"threads_requested"`
	ThreadsMean      float64 `csv:"threads_mean"`
	GPUs             int     `csv:"gpus"`
	Preemptions      int     `csv:"preemptions"`
	Resizes          int     `csv:"resizes"`
	State            string  `csv:"state"`
	Predicted        float64 `csv:"predicted_s,time"` // run time; negative without an estimate
	// PredictionErrorPct is (predicted − service) / service in percent, above 0 if the estimate was too long. It is
	// NaN without an estimate, or if the job did not finish, was restarted, or did not hold its full request all the
	// time.
	PredictionErrorPct float64 `csv:"prediction_error_pct"`
	// BoundedSlowdown is max(1, JCT / max(run time alone, floor)). Both slowdowns are NaN for a job that did not
	// finish or whose run time is unknown.
	BoundedSlowdown float64 `csv:"bounded_slowdown"`
	// Restarts is the number of attempts that failed before the last one.
	Restarts int `csv:"restarts"`
	// ResizeOverhead is the time, reported by the program, in which it did not train because its threads changed;
	// negative without a report.
	ResizeOverhead float64 `csv:"resize_overhead_s,time"`
	// Resource is the resource that the job ran on: "cpu", "gpu:V100", or the name of one of its alternatives; empty
	// if it never ran.
	Resource string `csv:"resource"`
	// FinalAccuracy and FinalLoss are the last values that the program reported; NaN without a report.
	FinalAccuracy float64 `csv:"final_accuracy"`
	FinalLoss     float64 `csv:"final_loss"`
	// ServerCost is the cost of the job's servers.
	ServerCost
	Recovery
	// Lateness is finish − deadline, negative if the job was early; NaN if it has no deadline or did not finish.
	Lateness float64 `csv:"lateness_s"`
	BudgetUse
	User string `csv:"user"`
	// FinishTime is ρ of finish-time fairness; NaN for a job that did not finish or whose run time is unknown.
	FinishTime float64 `csv:"finish_time_ratio"`
}

// JobTimes has the times of a job's events and its durations, in seconds.
type JobTimes struct {
	Arrival       float64 `csv:"arrival_s,time"`
	FirstStart    float64 `csv:"first_start_s,time"`
	Finish        float64 `csv:"finish_s,time"`
	FirstRunDelay float64 `csv:"first_run_delay_s,time"`
	Waiting       float64 `csv:"waiting_s,time"`
	Service       float64 `csv:"service_s,time"`
	JCT           float64 `csv:"jct_s,time"`
}

// Recovery is the time in seconds that losses and checkpoints took; NaN if there were none.
type Recovery struct {
	// LostWork is the work done again, and CheckpointTime and RestoreTime the time to write and to read checkpoints.
	LostWork       float64 `csv:"lost_work_s"`
	CheckpointTime float64 `csv:"checkpoint_s"`
	RestoreTime    float64 `csv:"restore_s"`
}

// BudgetUse is how a job used its budget, in seconds; NaN for a job without a budget.
type BudgetUse struct {
	// Budget is how long the job may train, BudgetUsed how long it trained, and Scoring the service time after its
	// budget.
	Budget     float64 `csv:"budget_s"`
	BudgetUsed float64 `csv:"budget_used_s"`
	Scoring    float64 `csv:"scoring_s"`
}
