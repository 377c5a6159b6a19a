// Package contract is what a training program and tfexp agree on: the
// environment that a program gets, the lines that it prints, the control file
// in which a changed allotment is written, and what signals and exit statuses
// mean. jobs/README.md says the same for people who write programs.
package contract

import (
	"fmt"
	"strconv"
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
	// EnvControl is the path of the control file (see Control).
	EnvControl = "TFEXP_CONTROL"
)

// ExitStopped is the exit status of a program that was asked to end by
// SIGTERM and did, with a checkpoint if it could: 128 + 15, as shells have it.
const ExitStopped = 143

// Allotment is how many threads a job may use in its two pools: Inter
// operations at once, each on up to Intra threads. Both are at least 1.
type Allotment struct {
	Inter, Intra int
}

// Env is the contract's environment as a program sees it.
type Env struct {
	Job string
	// Epochs or Steps is the total work; 0 where it is not set.
	Epochs, Steps int
	// Threads is the allotment at the start; 1 and 1 where it is not set.
	Threads       Allotment
	GPUs          int
	CheckpointDir string // empty: none
	ControlPath   string // empty: none
}

// FromEnv reads the contract's environment through getenv, which is os.Getenv
// in a real program. It fails where a number is not one, is out of range, or
// where both epochs and steps are set.
func FromEnv(getenv func(string) string) (Env, error) {
	env := Env{
		Job:           getenv(EnvJob),
		Threads:       Allotment{Inter: 1, Intra: 1},
		CheckpointDir: getenv(EnvCheckpointDir),
		ControlPath:   getenv(EnvControl),
	}
	for _, v := range []struct {
		name  string
		least int
		to    *int
	}{
		{EnvEpochs, 1, &env.Epochs},
		{EnvSteps, 1, &env.Steps},
		{EnvInter, 1, &env.Threads.Inter},
		{EnvIntra, 1, &env.Threads.Intra},
		{EnvGPUs, 0, &env.GPUs},
	} {
		s := getenv(v.name)
		if s == "" {
			continue
		}
		n, err := strconv.Atoi(s)
		if err != nil || n < v.least {
			return Env{}, fmt.Errorf("read environment: %s is %q, want a whole number of at least %d", v.name, s, v.least)
		}
		*v.to = n
	}
	if env.Epochs > 0 && env.Steps > 0 {
		return Env{}, fmt.Errorf("read environment: both %s and %s are set, want one of them", EnvEpochs, EnvSteps)
	}
	return env, nil
}

// Split divides granted cores between a job's two thread pools. inter and intra are the pools that the job asked for,
// and request is its request in cores: inter + intra where it named both pools, intra alone for a plain request
// (inter 1, intra N), whose cores all go to the intra-op pool. Otherwise the pools share the cores in proportion to
// what was asked for, by largest remainder (a tie goes to the intra-op pool), and each has at least one thread: on
// one core both have one, on more cores the pools add up to the cores, also beyond the request.
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
