package hardware

// Status is the result of a check.
type Status string

// The results: nothing to do; measurements may suffer; experiments cannot run.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
)

// Check is one finding about whether this machine can run experiments well.
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Text   string `json:"text"`
	// Hint is a remedy; empty if none is needed.
	Hint string `json:"hint,omitempty"`
}

// BusyCores is the load of other processes, in cores, above which measured run times are doubtful.
const BusyCores = 0.25
