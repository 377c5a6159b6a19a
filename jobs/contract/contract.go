// Package contract is the contract between a training program and tfexp. It
// covers the environment that a program gets, the lines that it prints, and the
// control file that changes its allotment and carries requests. It also covers
// the meaning of signals and exit statuses. jobs/README.md is the same for
// people who write programs.
package contract

import (
	"math"
	"time"
)

// The environment of a job.
const (
	// EnvJob is the job's name, unique in its cell.
	EnvJob = "TFEXP_JOB"
	// EnvEpochs is the job's total work in epochs; EnvSteps in optimizer
	// steps. Exactly one of them is set.
	EnvEpochs = "TFEXP_EPOCHS"
	EnvSteps  = "TFEXP_STEPS"
	// EnvInter and EnvIntra are the sizes of the two thread pools at the
	// start. A plain request of N threads is 1 and N.
	EnvInter = "TFEXP_INTER_THREADS"
	EnvIntra = "TFEXP_INTRA_THREADS"
	// EnvGPUs is the number of GPUs, EnvVisibleGPUs which ones.
	EnvGPUs        = "TFEXP_NUM_GPUS"
	EnvVisibleGPUs = "CUDA_VISIBLE_DEVICES"
	// EnvOMP has the intra-op threads for libraries that read OpenMP's variable.
	EnvOMP = "OMP_NUM_THREADS"
	// EnvCheckpointDir is a folder that a job may leave a checkpoint in.
	EnvCheckpointDir = "TFEXP_CHECKPOINT_DIR"
	// EnvControl is the path of the control file (see Message).
	EnvControl = "TFEXP_CONTROL"
	// EnvCheckpointEvery says how often a checkpoint is written: "500steps", "2epochs" or "10m".
	EnvCheckpointEvery = "TFEXP_CHECKPOINT_EVERY"
	// EnvBudget is how long the job may train, in seconds of service time.
	EnvBudget = "TFEXP_BUDGET"
	// EnvTarget is a training loss: a program ends, its work done, after the first
	// epoch whose loss is at or below it.
	EnvTarget = "TFEXP_TARGET_LOSS"
	// EnvRole, EnvTask and EnvCluster are a program's place among the parts of
	// its job (see Part).
	EnvRole    = "TFEXP_ROLE"
	EnvTask    = "TFEXP_TASK"
	EnvCluster = "TFEXP_CLUSTER"
)

// ExitStopped is the exit status of a program that ended on SIGTERM, with a
// checkpoint if it could write one: 128 + 15, as in shells.
const ExitStopped = 143

// Allotment is how many threads a job may use in its two pools: Inter
// operations at once, each on up to Intra threads. Both are at least 1.
type Allotment struct {
	Inter, Intra int
}

// Seconds converts seconds to a duration, at most the longest possible one.
func Seconds(s float64) time.Duration {
	return time.Duration(math.Min(s*float64(time.Second), math.MaxInt64/2))
}

// Split divides granted cores between a job's two thread pools. inter and intra are the pools that the job asked for,
// and request is its request in cores: inter + intra where it named both pools, intra alone for a plain request (inter
// 1, intra N), whose cores all go to the intra-op pool. Otherwise the pools share the cores in proportion to the
// requested sizes, by largest remainder (a tie goes to the intra-op pool), and each has at least one thread: on one
// core both have one, on more cores the pools add up to the cores, also beyond the request.
func Split(inter, intra, request, granted int) (int, int) {
	inter, intra, granted = max(inter, 1), max(intra, 1), max(granted, 1)
	if inter == 1 && intra >= request {
		return 1, granted
	}
	if granted == 1 {
		return 1, 1
	}
	total := inter + intra
	wide := (2*intra*granted + total) / (2 * total) // the share of intra, to the nearest whole number
	wide = min(max(wide, 1), granted-1)
	return granted - wide, wide
}
