package engine

import (
	"context"
	"time"

	"github.com/tfexp/tfexp/hardware/gpu"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// Run is a run of tfexp, as Kind.Open needs it.
type Run struct {
	// Dir is the absolute path of the experiment's folder of results. An engine may keep notes for later runs in it.
	// No other tfexp uses it at the same time.
	Dir string
	// Hardware has the hardware of the kind in the experiment.
	Hardware []*Hardware
	// Lock locks another folder of results. ok is false if another tfexp uses it.
	Lock func(dir string) (release func(), ok bool)
	// Warn is called with warnings about notes of an earlier run; it may be nil.
	Warn func(text string)
	// GPUs returns the GPUs of this machine that jobs may use.
	GPUs func() ([]gpu.Device, error)
}

// Session is an engine that was opened for a run.
type Session interface {
	// Engine makes the engine for a cell, or for one sample. The error is an *Unavailable if that is not possible at
	// present.
	Engine(context.Context, Task) (Engine, error)
	// Local reports whether the jobs of a hardware use the GPUs of this machine.
	Local(*Hardware) bool
	Close() error
}

// Task is a cell or a sample that an engine should run.
type Task struct {
	Hardware *Hardware
	// Cell is the name of the cell, or of the samples.
	Cell string
	Jobs []launch.Job
	// Fleet supplies servers for nodes that come and go; nil if all nodes stay.
	Fleet launch.Fleet
	// Skip is the number of cores of this machine that other cells use at the same time; see Kind.Beside.
	Skip int
	// Suspends is Hardware.Suspends for cells, and false for samples.
	Suspends bool
	// Report is called with each progress line of a job, at an instant of the engine's clock; it may be nil.
	Report launch.ProgressListener
	// Warn is called with warnings about the event files of jobs; it may be nil.
	Warn launch.ProgressWarner
	// Observe is called with the usage of jobs, one call at a time. It may be nil. Only Contained engines call it.
	Observe func(Sample)
}

// Engine runs the jobs of a task as real programs. Its clock is monotonic. At most one goroutine may call its
// methods at a time.
type Engine interface {
	scheduler.Engine
	// Now returns the time on the engine's clock, and Zero the instant at which the clock was zero.
	Now() time.Duration
	Zero() time.Time
	// Usage returns the resources that a job has used, and whether it has ended.
	Usage(job int) (launch.Usage, bool)
	// Close kills all jobs, and waits until all of their processes are gone.
	Close() error
}

// Sample is the usage of a job at an instant.
type Sample struct {
	// At is the time on the engine's clock. Job is the number of the job.
	At  time.Duration
	Job int
	// Part is the name of a part of a job with roles, "worker-1"; empty for other jobs.
	Part string
	// CPU is the CPU time since the last sample (or the start) in percent of one core.
	CPU float64
	// Memory is in bytes, without cached pages of files. Limit is the memory limit of the job.
	Memory, Limit int64
	// Cores is the number of cores that the job holds; 0 while it is paused.
	Cores int
}

// Simulation is a cell in virtual time that an engine should simulate.
type Simulation struct {
	Hardware *Hardware
	Jobs     []scheduler.Job
	// Replicate is the number of the cell's replicate, from 1, and Seed its seed.
	Replicate int
	Seed      int64
	// Standard makes tfexp's own simulator, with the run times, overheads, noise and contention of the experiment.
	// An engine may return it, wrap it, or use another simulator.
	Standard func() (scheduler.Engine, error)
}

// Replay is implemented by engines of Recorded kinds, which have records of their jobs.
type Replay interface {
	scheduler.Engine
	// Replayed returns the record of a job that was started.
	Replayed(job int) Replayed
}

// Replayed is the record of a job.
type Replayed struct {
	Progress []ReplayedProgress
	// Servers are the servers in the record.
	Servers []ReplayedServer
	// Accuracy and Loss are the last values in the record. Cost is in dollars. Revocations is the number of revoked
	// servers. NaN means unknown.
	Accuracy, Loss, Cost, Revocations float64
}

// ReplayedProgress is progress of a job at an instant of the engine's clock.
type ReplayedProgress struct {
	At time.Duration
	contract.Progress
}

// ReplayedServer is a server in the record of a run.
type ReplayedServer struct {
	Name, Role string
	// From is the start of the server, as an instant of the cell. Uptime is how long the server was up.
	From, Uptime time.Duration
	Revoked      bool
	// PricePerHour and Cost are in dollars.
	PricePerHour, Cost float64
}
