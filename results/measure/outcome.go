package measure

// Outcome is what became of a job. Times are seconds from the cell's start; a
// negative time means that it never came about.
type Outcome struct {
	Job, Class, User                string
	Arrival, FirstStart, Finish     float64
	FirstRunDelay, Waiting, Service float64
	JCT, Slowdown                   float64
	ThreadsRequested                int
	ThreadsMean                     float64
	GPUs, Preemptions, Resizes      int
	State                           string
	Predicted                       float64 // run time; negative: no estimate
	// PredictionErrorPct is (predicted − service) / service in percent: above 0
	// when the estimate was too long. NaN: no estimate, not finished, started
	// anew, or the job did not hold its full request all the time.
	PredictionErrorPct float64
	// BoundedSlowdown is max(1, JCT / max(run time alone, floor)); NaN like
	// Slowdown for a job that did not finish or whose run time is not known.
	BoundedSlowdown float64
	// FinishTime is the ratio ρ of finish-time fairness; NaN for a job that did not finish or whose run time is not
	// known.
	FinishTime float64
	// Restarts counts the attempts that failed before the last one.
	Restarts int
	// ResizeOverhead is the time in which the program says that it did not train
	// in order to take on other allotments; negative when it does not say.
	ResizeOverhead float64
	// Resource is what it ran on: "cpu", "gpu:V100", or the name of one of its
	// alternatives; empty if it never ran.
	Resource string
	// LostWork is the work that was done again after losses, CheckpointTime and
	// RestoreTime the time spent in writing and reading checkpoints, in seconds. NaN
	// where there are no losses or checkpoints.
	LostWork, CheckpointTime, RestoreTime float64
	// Lateness is finish − deadline, below 0 for a job that was early. NaN for one
	// without a deadline, or that did not finish.
	Lateness float64
	// Budget is how long the job may train, BudgetUsed how much of that it did, and
	// Scoring the service time after its budget, in seconds. NaN without a budget.
	Budget, BudgetUsed, Scoring float64
	// FinalAccuracy and FinalLoss are the last that its program reported; NaN: none.
	FinalAccuracy, FinalLoss float64
	// Money is what its servers cost.
	Money
}
