package hardware

// Status is the result of a check.
type Status string

// The outcomes of a check: nothing to do, results may suffer, experiments
// cannot run.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
)

// Check is one finding about this machine's fitness for experiments.
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Text   string `json:"text"`
	// Hint suggests a remedy; empty if none is needed.
	Hint string `json:"hint,omitempty"`
}

// BusyCores is the load by other processes above which real run times are in doubt, in cores.
const BusyCores = 0.25
