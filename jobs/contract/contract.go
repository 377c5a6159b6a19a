// Package contract is the contract between a training program and tfexp. It
// covers the environment that a program gets, the lines that it prints, and the
// control file that changes its allotment and carries requests. It also covers
// the meaning of signals and exit statuses. jobs/README.md is the same for
// people who write programs.
package contract

import (
	"fmt"
	"math"
	"strconv"
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
	// EnvControl is the path of the control file (see Control).
	EnvControl = "TFEXP_CONTROL"
	// EnvCheckpointEvery says how often a checkpoint is written (see Interval).
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
	// CheckpointEvery is how often to write a checkpoint; zero: only when the
	// program is asked to.
	CheckpointEvery Interval
	// Budget is how long the job may train, over all of its attempts and not
	// counting the time in which it was paused; nil: as long as its work takes.
	Budget *time.Duration
	// Target is the training loss at which the job ends; 0: it ends when its work
	// is done.
	Target float64
	// Part is the program's place in a job with roles; zero for other jobs.
	Part Part
}

// FromEnv reads the contract's environment through getenv, which is os.Getenv
// in a real program. It fails where a number is not one, is out of range, where
// both epochs and steps are set, or where the cluster lacks the program's role.
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
	var err error
	if env.CheckpointEvery, err = ParseInterval(getenv(EnvCheckpointEvery)); err != nil {
		return Env{}, fmt.Errorf("read environment: %s: %w", EnvCheckpointEvery, err)
	}
	if s := getenv(EnvBudget); s != "" {
		seconds, err := strconv.ParseFloat(s, 64)
		if err != nil || !finite(seconds) || seconds < 0 {
			return Env{}, fmt.Errorf("read environment: %s is %q, want a number of seconds of at least 0", EnvBudget, s)
		}
		budget := Seconds(seconds)
		env.Budget = &budget
	}
	if s := getenv(EnvTarget); s != "" {
		env.Target, err = strconv.ParseFloat(s, 64)
		if err != nil || !finite(env.Target) || env.Target <= 0 {
			return Env{}, fmt.Errorf("read environment: %s is %q, want a loss above 0", EnvTarget, s)
		}
	}
	if env.Part, err = partFromEnv(getenv); err != nil {
		return Env{}, fmt.Errorf("read environment: %w", err)
	}
	return env, nil
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
