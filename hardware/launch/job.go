// Package launch is the half of the job contract that starts programs: what a program is, and the environment, the
// control file, the checkpoint folder, the flags and the log file that an engine gives it. The engines that run
// programs share it; package jobs/contract has what both sides agree on.
package launch

import (
	"time"

	"github.com/tfexp/tfexp/scheduler"

	"github.com/tfexp/tfexp/jobs/contract"
)

// Defaults of the engines that run programs.
const (
	// DefaultGrace is the time between SIGTERM and SIGKILL.
	DefaultGrace = 3 * time.Second
	// DefaultLogLimit is the size in bytes at which a job's output ends it as failed.
	DefaultLogLimit = 64 << 20
)

// Job is a program to run. Engines number their jobs by their index in the list that they are given.
type Job struct {
	// Name is the job's name, TFEXP_JOB. Place says where it is written, "shop.hcl line 12", for warnings; may be empty.
	Name, Place string
	// Argv is the program and its arguments. A program without a slash is looked up in the job's PATH; a relative path is
	// relative to Dir. In a container it replaces the image's entry point.
	Argv []string
	// Flags appends "--cpu --numThreads N", or "--gpu --numGPUs N" when the job is given GPUs, to Argv, with what it is
	// given at its start.
	Flags bool
	// Env has "k=v" entries that are added to the inherited environment and to the variables of the job contract, and win
	// over both.
	Env []string
	// Dir is the working directory; empty means tfexp's own. A container has one of its own.
	Dir string
	// LogPath is the file that receives the job's output, which it replaces; empty discards the output.
	LogPath string
	// ControlPath is the file that holds the job's present threads, "inter intra", TFEXP_CONTROL; empty means none.
	ControlPath string
	// Standing has the settings that the control file says, and the last request; the rest follows from the job.
	Standing contract.Message
	// CheckpointDir is made before the job starts, TFEXP_CHECKPOINT_DIR; may be empty.
	CheckpointDir string
	// Threads is the request in cores, Inter and Intra its split into pools. Zero values mean one core, and a plain
	// request (inter 1, intra all). Memory is the request in bytes; 0 means that it is not limited.
	Threads, Inter, Intra int
	Memory                int64
	// Roles are the parts of a job that has several, each a program of its own.
	Roles []scheduler.Role
	// Alternatives has the request of each alternative of a job that has several, in the place of the fields above.
	Alternatives []Request
	// Steps reports whether the job's work is counted in steps, not in epochs.
	Steps bool
	// Events are the TensorBoard event files by which the program reports its progress; nil: none.
	Events *EventFiles
	// GPUs is the request in GPUs, which a sample is given.
	GPUs int
	// Limit ends the job as failed when its service time exceeds it; the time in which it is paused does not count. 0
	// means no limit.
	Limit time.Duration
	// Budget is how long the job may train, over all of its attempts; nil means that its work alone ends it. One that
	// still runs Scoring after its end is ended as failed.
	Budget *time.Duration
	// Container says how the job runs in a container; nil for a job that names no image. ContainerArgv takes the place
	// of Argv there, where it is set.
	Container     *Container
	ContainerArgv []string
}

// Request is what an alternative of a job asks for, as the fields of Job.
type Request struct {
	Threads, Inter, Intra int
	Memory                int64
}

// EventFiles are the event files that a program writes below a folder of its checkpoint folder.
type EventFiles struct {
	// Below is the folder as the file names it, relative to the checkpoint folder; Dir is the same on this machine.
	Below, Dir string
	// Loss and Accuracy are the tags of the scalars that count; empty: none.
	Loss, Accuracy string
	// Epochs reports whether the steps of the scalars count epochs.
	Epochs bool
}

// Container is the container of a job.
type Container struct {
	Image string
	// Dir is the working directory in the container; empty: the image's own.
	Dir    string
	Mounts []Mount
}

// Mount is a folder or file of the machine that a container sees. Source is absolute.
type Mount struct {
	Source, Target string
	ReadOnly       bool
}

// Usage is what a job consumed. It is complete once the job has ended.
type Usage struct {
	// Service is the time in which the job was alive and not paused.
	Service time.Duration
	// User and System are the CPU times of the job's program and of those of its descendants that were waited for.
	User, System time.Duration
	// MaxRSS is the largest resident set of any one of these processes, in bytes.
	MaxRSS int64
	// ExitCode is the program's exit status, or -1 when a signal killed it or it never started.
	ExitCode int
	// Reason is why the job did not finish; empty when it did.
	Reason string
}

// Choose gives a job the request of the alternative that it starts with; false when it has none of that number.
func (j *Job) Choose(alternative int) bool {
	if len(j.Alternatives) == 0 {
		return alternative == 0
	}
	if alternative < 0 || alternative >= len(j.Alternatives) {
		return false
	}
	r := j.Alternatives[alternative]
	j.Threads, j.Inter, j.Intra, j.Memory = r.Threads, r.Inter, r.Intra, r.Memory
	return true
}

// Pools divides n cores between the job's thread pools; see contract.Split.
func (j *Job) Pools(n int) (inter, intra int) {
	request, asked := max(j.Threads, 1), j.Intra
	if asked <= 0 {
		asked = request
	}
	return contract.Split(j.Inter, asked, request, n)
}

// Restarted is why a job is ended that is to be started anew with other settings.
const Restarted = "it is started anew with other settings"

// InPlaceOf returns the job with the name, the files and the standing message of another, whose place it takes.
func (j Job) InPlaceOf(old *Job) Job {
	j.Name, j.LogPath, j.ControlPath, j.CheckpointDir = old.Name, old.LogPath, old.ControlPath, old.CheckpointDir
	j.Standing, j.Events, j.Limit, j.Budget = old.Standing, old.Events, old.Limit, old.Budget
	return j
}
