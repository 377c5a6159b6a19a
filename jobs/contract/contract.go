// Package contract defines the contract between a training program and tfexp. It has the environment that a program
// gets, the lines that it prints, and the control file that changes its allotment and makes requests. It also defines
// the meaning of signals and exit statuses. jobs/README.md describes the contract for authors of programs.
package contract

import (
	"math"
	"time"
)

// The environment variables of a job.
const (
	// EnvJob is the job's name, unique in its cell.
	EnvJob = "TFEXP_JOB"
	// EnvEpochs is the job's total work in epochs, and EnvSteps in optimizer steps. Exactly one of them is set.
	EnvEpochs = "TFEXP_EPOCHS"
	EnvSteps  = "TFEXP_STEPS"
	// EnvInter and EnvIntra are the sizes of the two thread pools at the start. For a plain request of N threads they
	// are 1 and N.
	EnvInter = "TFEXP_INTER_THREADS"
	EnvIntra = "TFEXP_INTRA_THREADS"
	// EnvGPUs is the number of GPUs. EnvVisibleGPUs lists the GPUs' numbers.
	EnvGPUs        = "TFEXP_NUM_GPUS"
	EnvVisibleGPUs = "CUDA_VISIBLE_DEVICES"
	// EnvOMP is the number of intra-op threads, for libraries that read OpenMP's variable.
	EnvOMP = "OMP_NUM_THREADS"
	// EnvCheckpointDir is a folder in which a job may write a checkpoint.
	EnvCheckpointDir = "TFEXP_CHECKPOINT_DIR"
	// EnvControl is the path of the control file (see Message).
	EnvControl = "TFEXP_CONTROL"
	// EnvCheckpointEvery says how often a checkpoint is written: "500steps", "2epochs" or "10m".
	EnvCheckpointEvery = "TFEXP_CHECKPOINT_EVERY"
	// EnvBudget is the service time in seconds that the job may use for training.
	EnvBudget = "TFEXP_BUDGET"
	// EnvTarget is a training loss. A program ends after the first epoch whose loss is at or below it.
	EnvTarget = "TFEXP_TARGET_LOSS"
	// EnvRole, EnvTask and EnvCluster describe which part of its job a program is (see Part).
	EnvRole    = "TFEXP_ROLE"
	EnvTask    = "TFEXP_TASK"
	EnvCluster = "TFEXP_CLUSTER"
)

// ExitStopped is the exit status of a program that ended after SIGTERM, with a checkpoint if it could write one: 128 +
// 15, as in shells.
const ExitStopped = 143

// Allotment is the sizes of a job's two thread pools: Inter operations at once, each on up to Intra threads. Both are
// at least 1.
type Allotment struct {
	Inter, Intra int
}

// Seconds converts seconds to a duration, at most the longest possible one.
func Seconds(s float64) time.Duration {
	return time.Duration(math.Min(s*float64(time.Second), math.MaxInt64/2))
}

// Split divides granted cores between a job's two thread pools. inter and intra are the requested sizes. request is the
// request in cores: inter + intra if the job named both pools, else intra with inter 1.
//
// For a plain request all cores go to the intra-op pool. Otherwise the pools share the cores in proportion to the
// requested sizes, by largest remainder; a tie goes to the intra-op pool. Each pool has at least one thread. On one
// core both have one; on more cores the sizes add up to the cores, also beyond the request.
func Split(inter, intra, request, granted int) (int, int) {
	inter, intra, granted = max(inter, 1), max(intra, 1), max(granted, 1)
	if inter == 1 && intra >= request {
		return 1, granted
	}
	if granted == 1 {
		return 1, 1
	}
	total := inter + intra
	wide := (2*intra*granted + total) / (2 * total) // the share of intra, rounded to the nearest integer
	wide = min(max(wide, 1), granted-1)
	return granted - wide, wide
}
