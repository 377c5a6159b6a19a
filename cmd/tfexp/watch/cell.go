package watch

import (
	"fmt"
	"strconv"

	"github.com/tfexp/tfexp/results/record"
)

// Limits on the data kept for one cell: views draw it, and the folder may come
// from somebody else.
const (
	mostJobs   = 5000  // with known states
	mostSpans  = 20000 // in which cores or GPUs were held
	mostListed = 400   // jobs in a list
	mostCurves = 64    // jobs with curves
	mostPoints = 256   // of a curve, and of the usage
	mostGPUs   = 10000 // whose sharing by jobs is known
)

// Cell is the state of a cell so far.
type Cell struct {
	record.CellRef
	State string `json:"state"` // waiting, running, finished, failed
	// Nodes are the nodes of its hardware, in the order in which cores are numbered; empty for a single node.
	Nodes []record.NodeRef `json:"nodes,omitempty"`
	// At is now, or the last event of a cell that has ended, in seconds from its start.
	At float64 `json:"t_s"`
	// HeldCores and HeldGPUs are held by running jobs.
	HeldCores int `json:"held_cores"`
	HeldGPUs  int `json:"held_gpus"`
	// Total is how many jobs the cell has; 0 where that is not known.
	Total int `json:"jobs_total,omitempty"`
	// The jobs by state.
	Done    int `json:"jobs_done"`
	Running int `json:"jobs_running"`
	Waiting int `json:"jobs_waiting"`
	Failed  int `json:"jobs_failed"`
	// Jobs are the jobs that have arrived: the running ones, the waiting ones, then the last ones to
	// end. More counts the jobs that are not listed.
	Jobs []Job `json:"jobs"`
	More int   `json:"more,omitempty"`
	// Names are the names that spans speak of by number.
	Names []string   `json:"names"`
	Spans []HeldSpan `json:"spans"`
	// Cut is set when the cell has more spans than are kept.
	Cut bool `json:"cut,omitempty"`
	// Use is the usage over time: a point for each change, at most a few hundred.
	Use    []Usage `json:"use"`
	Curves []Curve `json:"curves,omitempty"`
	// Devices are the GPUs of the machine, as they were seen last.
	Devices []GPUState `json:"devices,omitempty"`
}

// Job is a job that has arrived.
type Job struct {
	Name  string `json:"name"`
	State string `json:"state"` // queued, running, paused, finished, failed, stopped
	Cores int    `json:"cores,omitempty"`
	GPUs  int    `json:"gpus,omitempty"`
	// Since is when it entered its state, in seconds.
	Since float64 `json:"since_s"`
	// Epoch, Step, Loss and Accuracy are the last values that its program reported; nil is unknown.
	Epoch    int      `json:"epoch,omitempty"`
	Step     int      `json:"step,omitempty"`
	Loss     *float64 `json:"loss,omitempty"`
	Accuracy *float64 `json:"accuracy,omitempty"`
	// Epochs or Steps is how many it trains; 0 is unknown.
	Epochs int `json:"epochs,omitempty"`
	Steps  int `json:"steps,omitempty"`
	// CPU is how much of a core its container used last, in percent; nil is unknown.
	CPU *float64 `json:"cpu_pct,omitempty"`
	// Waits is the reason that it waits, by the scheduler's last decision; without a reason, the running jobs.
	Waits string `json:"waits,omitempty"`
}

// trained is how far the training is: "17 of 50" epochs, or steps where it counts these.
func (j *Job) trained() string {
	done, of := j.Epoch, j.Epochs
	if j.Steps > 0 || done == 0 {
		done, of = j.Step, j.Steps
	}
	switch {
	case done == 0:
		return ""
	case of == 0:
		return strconv.Itoa(done)
	}
	return fmt.Sprintf("%d of %d", done, of)
}

// HeldSpan is a time in which a job held the cores (or GPUs) from Low to High.
type HeldSpan struct {
	Job  int     `json:"job"` // its place in Names
	From float64 `json:"from"`
	// To is nil while it lasts.
	To   *float64 `json:"to"`
	Low  int32    `json:"low"`
	High int32    `json:"high"` // the last one
	GPU  bool     `json:"gpu,omitempty"`
	// Guest reports whether it shared the GPUs with another job when it began.
	Guest bool `json:"guest,omitempty"`
}

// Usage is the total that the jobs hold from an instant on.
type Usage struct {
	At      float64 `json:"t"`
	Cores   int     `json:"cores"`
	GPUs    int     `json:"gpus"`
	Waiting int     `json:"waiting"`
}

// Curve is the series of losses that one job's program reported; NaN is nil.
type Curve struct {
	Job    string        `json:"job"`
	Points []ReportPoint `json:"points"`
	every  int           // one report in every is kept
	seen   int
}

// ReportPoint is one report.
type ReportPoint struct {
	At       float64  `json:"t"`
	Epoch    int      `json:"epoch"`
	Loss     *float64 `json:"loss"`
	Accuracy *float64 `json:"accuracy"`
}

// GPUState is the state of one GPU.
type GPUState struct {
	GPU         int      `json:"gpu"`
	Utilization *float64 `json:"utilization_pct"`
	Memory      *float64 `json:"memory_bytes"`
	Power       *float64 `json:"power_w"`
}
