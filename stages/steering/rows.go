package steering

import "github.com/tfexp/tfexp/results/table"

// Decisions is the table of controllers' decisions about the jobs of a cell, in the cell's folder.
var Decisions = table.RegisterOfCells[Row]("decisions.csv", nil)

// Row is a decision of a controller about a job. Unknown values are NaN.
type Row struct {
	At         float64 `csv:"t_s,time"` // seconds
	Job        string  `csv:"job"`
	Controller string  `csv:"controller"`
	// Epoch and Step are the last finished ones. Loss and Accuracy are from the job's last report.
	Epoch    int     `csv:"epoch"`
	Step     int     `csv:"step"`
	Loss     float64 `csv:"loss"`
	Accuracy float64 `csv:"accuracy"`
	// Used is the service time so far, and Left the rest of the budget.
	Used    float64 `csv:"used_s"`
	Left    float64 `csv:"time_left_s"`
	Threads int     `csv:"threads"` // cores that the job holds
	GPUs    int     `csv:"gpus"`
	// Settings and After are the settings before and after the decision, such as "batch=32 ps=1".
	Settings string `csv:"settings"`
	After    string `csv:"new_settings"`
	// Action is the decision. How is "in place" or "restart" for a change of settings, or "refused".
	Action string `csv:"action"`
	How    string `csv:"how"`
	Expectation
	// ActualRemaining, ActualGain and ActualCost are the actual values, to compare with the predicted ones.
	ActualRemaining float64 `csv:"actual_remaining_s"`
	ActualGain      float64 `csv:"actual_gain_s"`
	ActualCost      float64 `csv:"actual_cost_s"`
	// Took reports whether the program is known to run with the new settings: yes, no, or empty if unknown.
	Took string `csv:"took"`
	// Probabilities are the probabilities of all actions, such as "0.1 0.9".
	Probabilities string `csv:"probabilities"`
	// AccuracyBefore and AccuracyAfter are from the last report before the decision and the first report after it.
	AccuracyBefore float64 `csv:"accuracy_before"`
	AccuracyAfter  float64 `csv:"accuracy_after"`
	Reason         string  `csv:"reason"`
}

// Expectation is the predicted effect of a change, in seconds; NaN where nothing is predicted.
type Expectation struct {
	// Remaining is the predicted time to the end without the change; Low to High is its interval. Gain and Cost are the
	// predicted savings and costs of the change. Sure is the probability that the gain exceeds the cost.
	Remaining float64 `csv:"remaining_s"`
	Low       float64 `csv:"remaining_low_s"`
	High      float64 `csv:"remaining_high_s"`
	Gain      float64 `csv:"gain_s"`
	Cost      float64 `csv:"cost_s"`
	Sure      float64 `csv:"sure"`
}
