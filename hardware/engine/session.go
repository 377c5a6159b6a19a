package engine

import (
	"context"
	"time"

	"github.com/tfexp/tfexp/hardware/gpu"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// Run is a run of tfexp, for which the kinds of real engines are opened.
type Run struct {
	// Dir is the experiment's folder of results, absolute, in which an engine may keep notes for a run after this one.
	// Nobody else works in it.
	Dir string
	// Hardware lists the kind's own hardware in the experiment.
	Hardware []*Hardware
	// Lock takes the lock of another folder of results; ok is false when somebody works there.
	Lock func(dir string) (release func(), ok bool)
	// Warn receives warnings about the notes of an earlier run; it may be nil.
	Warn func(text string)
	// GPUs lists the GPUs of this machine that jobs may be given.
	GPUs func() ([]gpu.Device, error)
}

// Session is a kind that was opened for a run.
type Session interface {
	// Engine makes the engine of a cell, or of one sample. The error is an *Unavailable when that cannot be now.
	Engine(context.Context, Task) (Engine, error)
	// Local reports whether the jobs of a hardware use the GPUs of this machine.
	Local(*Hardware) bool
	Close() error
}

// Task is the work that an engine is made for.
type Task struct {
	Hardware *Hardware
	// Cell names the cell, or the samples.
	Cell string
	Jobs []launch.Job
	// Fleet has the servers of nodes that come and go; nil when all stand.
	Fleet launch.Fleet
	// Skip is the number of cores of this machine that other cells hold at the same time; see Kind.Beside.
	Skip int
	// Suspends is Hardware.Suspends, in cells: samples are stopped in place.
	Suspends bool
	// Report receives the progress lines of jobs as they come, on the engine's clock; it may be nil.
	Report launch.ProgressListener
	// Warn receives warnings about the event files of jobs; it may be nil.
	Warn launch.ProgressWarner
	// Observe receives the usage of jobs, one call at a time; it may be nil. Engines whose jobs are not contained never
	// call it.
	Observe func(Sample)
}

// Engine runs the jobs of a task for real, on a monotonic clock. Its methods may be called from one goroutine at a
// time.
type Engine interface {
	scheduler.Engine
	// Now returns the engine's clock, and Zero the instant at which that was zero.
	Now() time.Duration
	Zero() time.Time
	// Usage returns a job's consumption, and whether the job has ended.
	Usage(job int) (launch.Usage, bool)
	// Close ends all jobs at once and waits until nothing is left of them.
	Close() error
}

// Sample is a job's usage at an instant.
type Sample struct {
	// At is the engine's clock; Job the job's number.
	At  time.Duration
	Job int
	// Part names the part of a job with roles, "worker-1"; empty for a job of one part.
	Part string
	// CPU is the share of the time since the last sample (or the start) that its threads ran, in percent of one core.
	CPU float64
	// Memory is in bytes, without the pages of files that could be dropped; Limit is the most that the job may have.
	Memory, Limit int64
	// Cores are held at that instant; 0 while it is paused.
	Cores int
}

// Simulation is a cell in virtual time, which an engine is made for.
type Simulation struct {
	Hardware *Hardware
	Jobs     []scheduler.Job
	// Replicate is the cell's replicate, from 1, and Seed its seed.
	Replicate int
	Seed      int64
	// Standard makes tfexp's own simulator for the jobs, with the run times, overheads, noise and contention that the
	// experiment gives them. An engine may use it, wrap it, or be another simulator altogether.
	Standard func() (scheduler.Engine, error)
}

// Replay is made by a Recorded engine: it knows more about its jobs than when they end.
type Replay interface {
	scheduler.Engine
	// Replayed returns the record of a job that was started.
	Replayed(job int) Replayed
}

// Replayed is the record of a job.
type Replayed struct {
	// Run names it.
	Run      string
	Progress []ReplayedProgress
	// Servers are the servers in the records.
	Servers []ReplayedServer
	// Accuracy and Loss are the last ones, Cost is in dollars, Revocations counts servers; NaN: not known.
	Accuracy, Loss, Cost, Revocations float64
}

// ReplayedProgress is progress that a job made at an instant of the engine's clock.
type ReplayedProgress struct {
	At time.Duration
	contract.Progress
}

// ReplayedServer is a server of a run that is replayed.
type ReplayedServer struct {
	Name, Role string
	// From is an instant of the cell, and Uptime how long the server was up from then on.
	From, Uptime time.Duration
	Revoked      bool
	// PricePerHour and Cost are in dollars.
	PricePerHour, Cost float64
}
