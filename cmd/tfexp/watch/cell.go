package watch

import (
	"fmt"
	"strconv"

	"github.com/tfexp/tfexp/results/record"
)

// Limits on the data that are kept of one cell. Untrusted folders may contain very large files.
const (
	mostJobs   = 5000  // jobs with known states
	mostSpans  = 20000 // intervals in which cores or GPUs were held
	mostListed = 400   // jobs in a list
	mostCurves = 64    // jobs with curves
	mostPoints = 256   // points of a curve, and of the usage
	mostGPUs   = 10000 // GPUs whose sharing by jobs is tracked
)

// Cell is the current state of a cell.
type Cell struct {
	record.CellRef
	State string `json:"state"` // waiting, running, finished, failed
	// Nodes are the nodes of the cell's hardware, in the order in which cores are numbered; empty for a single node.
	Nodes []record.NodeRef `json:"nodes,omitempty"`
	// At is the current time of the cell, in seconds from its start. For a cell that has ended it is the time of the
	// last event.
	At float64 `json:"t_s"`
	// HeldCores and HeldGPUs are the numbers of cores and GPUs that running jobs hold.
	HeldCores int `json:"held_cores"`
	HeldGPUs  int `json:"held_gpus"`
	// Total is the number of the cell's jobs; 0 if unknown.
	Total int `json:"jobs_total,omitempty"`
	// The numbers of jobs by state.
	Done    int `json:"jobs_done"`
	Running int `json:"jobs_running"`
	Waiting int `json:"jobs_waiting"`
	Failed  int `json:"jobs_failed"`
	// Jobs are jobs that have arrived: running ones, waiting ones, then the ones that ended last. More is the number of
	// jobs that are not listed.
	Jobs []Job `json:"jobs"`
	More int   `json:"more,omitempty"`
	// Names are the jobs' names; HeldSpan.Job is an index into it.
	Names []string   `json:"names"`
	Spans []HeldSpan `json:"spans"`
	// Cut reports whether spans were dropped because the cell has too many.
	Cut bool `json:"cut,omitempty"`
	// Use is the usage over time. It has a point for each change, but at most a few hundred.
	Use    []Usage `json:"use"`
	Curves []Curve `json:"curves,omitempty"`
	// Devices are the GPUs of the machine with their last measurements.
	Devices []GPUState `json:"devices,omitempty"`
}

// Job is a job that has arrived.
type Job struct {
	Name  string `json:"name"`
	State string `json:"state"` // queued, running, paused, finished, failed or stopped
	Cores int    `json:"cores,omitempty"`
	GPUs  int    `json:"gpus,omitempty"`
	// Since is the time at which the job entered its state, in seconds.
	Since float64 `json:"since_s"`
	// Epoch, Step, Loss and Accuracy are the last values that the job's program reported. Nil or 0 means unknown.
	Epoch    int      `json:"epoch,omitempty"`
	Step     int      `json:"step,omitempty"`
	Loss     *float64 `json:"loss,omitempty"`
	Accuracy *float64 `json:"accuracy,omitempty"`
	// Epochs or Steps is the number of epochs or steps that the job trains; 0 means unknown.
	Epochs int `json:"epochs,omitempty"`
	Steps  int `json:"steps,omitempty"`
	// CPU is the last measured CPU usage of its container, in percent of a core; nil means unknown.
	CPU *float64 `json:"cpu_pct,omitempty"`
	// Waits is the reason why the job waits, from the scheduler's last decision. Without a decision, it names running
	// jobs.
	Waits string `json:"waits,omitempty"`
}

// trained describes the progress of the training: "17 of 50" epochs or steps.
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

// HeldSpan is an interval in which a job held the cores (or GPUs) numbered Low to High.
type HeldSpan struct {
	Job  int     `json:"job"` // index in Cell.Names
	From float64 `json:"from"`
	// To is the end in seconds; nil if the job still holds them.
	To   *float64 `json:"to"`
	Low  int32    `json:"low"`
	High int32    `json:"high"` // inclusive
	GPU  bool     `json:"gpu,omitempty"`
	// Guest reports whether another job held the same GPUs when the interval began.
	Guest bool `json:"guest,omitempty"`
}

// Usage is what all jobs hold, from the instant At on.
type Usage struct {
	At      float64 `json:"t"`
	Cores   int     `json:"cores"`
	GPUs    int     `json:"gpus"`
	Waiting int     `json:"waiting"`
}

// Curve has the losses that one job's program reported. NaN becomes nil.
type Curve struct {
	Job    string        `json:"job"`
	Points []ReportPoint `json:"points"`
	every  int           // Points has one of this many reports
	seen   int
}

// ReportPoint is one report of a program.
type ReportPoint struct {
	At       float64  `json:"t"`
	Epoch    int      `json:"epoch"`
	Loss     *float64 `json:"loss"`
	Accuracy *float64 `json:"accuracy"`
}

// GPUState is the last measured state of a GPU.
type GPUState struct {
	GPU         int      `json:"gpu"`
	Utilization *float64 `json:"utilization_pct"`
	Memory      *float64 `json:"memory_bytes"`
	Power       *float64 `json:"power_w"`
}
