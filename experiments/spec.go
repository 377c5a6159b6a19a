// Package experiments reads experiment files: HCL in, a Spec of plain values
// out, evaluated and expanded into cells, which still knows its source ranges.
// It is the only package that knows HCL.
//
// A file is read in four steps: its names are checked against the table in
// package schema (structure.go); variables and locals are evaluated in the
// order of their dependencies (scope.go, variables.go); the matrix is expanded
// into points (matrix.go); and the blocks of each point are evaluated, once
// for each combination of the axes that they read (expand.go, decode.go).
// Whatever is wrong becomes a Diagnostic, and what depends on it is left out
// in silence, so that one mistake is one message.
package experiments

import (
	"time"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// Pos is a place in a file; lines and columns count from 1, bytes from 0.
type Pos struct {
	Line   int `json:"line"`
	Column int `json:"column"`
	Byte   int `json:"byte"`
}

// Range is a stretch of a source file.
type Range struct {
	File  string `json:"file"`
	Start Pos    `json:"start"`
	End   Pos    `json:"end"`
}

// Spec is one experiment: everything that a file says, evaluated, in plain
// values that still know where they were written.
type Spec struct {
	Name        string
	Description string
	Seed        int64
	Replicates  int
	// Records is "all" or "metrics": what each cell leaves on disk.
	Records string
	// Until is the horizon at which a cell is closed; 0 for none.
	Until time.Duration
	Range Range
	// Lenient is set when malformed lines of traces were left out.
	Lenient bool

	// Cells are the points of the matrix in the order of the file, without
	// their replicates.
	Cells []Cell
	// Axes are the names of the matrix's own axes (not workload, hardware,
	// policy) that at least one cell reads, in the order of the file.
	Axes []string

	Profile  Profile
	Estimate Estimate
	Compares []Compare
	// Thresholds are in the order of the file.
	Thresholds []Threshold
	Plots      []Plot

	// File and Source are the experiment as it was read; Variables are the
	// values its variables had, as LoadOptions.Vars takes them ("name=value").
	File      string
	Source    []byte
	Variables []Setting
}

// Setting is a name with a value in its canonical text form.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Cell is one point of the matrix. Axes holds the axes that the cell's blocks
// read, in the order of the file. Blocks that evaluate alike are shared.
type Cell struct {
	Workload *Workload
	Hardware *Hardware
	Policy   *Policy
	Axes     []Setting
}

// Job is a training program with its total work and its request.
type Job struct {
	Name  string
	Range Range

	// Exactly one of Builtin and Command is set.
	Builtin  string
	Settings []Setting // the builtin's arguments, all of them, defaults included, in the order of its schema
	Command  []string
	Dir      string    // working directory of Command; absolute
	Env      []Setting // extra environment
	Files    []string  // further input files; a change in one makes cells run again
	// Flags asks for the hardware flags (--cpu --numThreads N) of run.sh-style programs.
	Flags bool
	// TimeWriter is first, last or longest: the time-writer line that counts.
	TimeWriter string

	// Exactly one of Epochs and Steps is above 0.
	Epochs int
	Steps  int

	Threads   Threads
	Malleable bool
	GPUs      int
	// GPU is the type of GPU that it wants; empty for any.
	GPU    string
	Memory int64 // bytes
	// Nodes over which the request is divided evenly; 0 and 1 mean one.
	Nodes    int
	Priority int
	// Deadline is relative to the arrival; 0 means none.
	Deadline time.Duration
	// Limit ends a job that runs longer (service time); 0 means no limit.
	Limit time.Duration
	// Container is set when the job names an image.
	Container *launch.Container
	// Retries is how often a job that failed is started anew.
	Retries int
	// Alternatives are the other ways in which it can run: the same job with
	// another request and run time. Alternative is the name of such a way; it
	// is empty for the job itself.
	Alternatives []*Job
	Alternative  string
	// Variant tells apart the forms of one block that differ in their request,
	// because a trace asks for other threads, or because they are its
	// alternatives; empty for the block as it is written.
	Variant string
	// Runtime is set when the file says how long the job takes in simulation.
	Runtime *Runtime
	// At has the source range of each argument that the file sets.
	At map[string]Range
}

// Threads is a thread request: the total, and its split into pools.
type Threads struct {
	Request  int // cores asked for; Inter + Intra where the file splits them
	Inter    int
	Intra    int
	Min, Max int // bounds for a malleable job; 0 where the file is silent
	Range    Range
}

// Runtime is a job's run time in simulation: Startup + epochs × Epoch on
// one thread, of which Parallel (0 to 1) speeds up with threads (Amdahl), or
// which speeds up by a curve or a table.
type Runtime struct {
	Startup time.Duration
	// Epoch is the same for all jobs of the class, or drawn for each.
	Epoch    workload.Span
	Parallel float64
	// SpeedUp takes the place of Parallel, if it is set.
	SpeedUp *workload.SpeedUp
	// Threads is the number of threads on which Epoch is the time, where that
	// comes from a table; 0 means one.
	Threads int
	// Whole says that Epoch is the time of the whole job.
	Whole bool
	// GPURates are how many times faster an epoch is on types of GPU.
	GPURates []GPURate
}

// Workload is jobs with arrival times: those of Submits, those of a Trace, or
// both.
type Workload struct {
	Name    string
	Range   Range
	Submits []Submit
	Resizes []Update
	Trace   *Trace
}

// Submit is a batch of like jobs.
type Submit struct {
	Job      *Job
	Count    int
	Arrivals workload.Arrivals
	// Priority overrides the job's when HasPriority.
	Priority    int
	HasPriority bool
	// Deadline is relative to each arrival; 0 means none.
	Deadline time.Duration
	User     string
	// LeftOut says what a lenient reader left out of a file of instants.
	LeftOut string
	Range   Range
}

// Update changes the thread request of one job while the cell runs.
type Update struct {
	At      time.Duration
	Job     string // class and running number, "long-1"
	Threads int
	Range   Range
}

// Hardware is a machine or a cluster and the engine that runs jobs on it.
type Hardware struct {
	Name   string
	Range  Range
	Engine string // process, docker or simulated
	// EngineRange and ThreadsRange are for checks made later.
	EngineRange  Range
	ThreadsRange Range
	Cluster      scheduler.Cluster
	// Overheads and Noise are read by the simulated engine. Without Overheads
	// those apply that were measured with the samples of the jobs.
	Overheads *Overheads
	// Contention slows jobs down by what their neighbours hold; nil for none.
	Contention *Contention
	// Noise is the relative standard deviation of run times (lognormal).
	Noise float64
	// Docker is set on the engine docker.
	Docker *Docker
	// Lacks are capabilities that the simulated engine is told not to have.
	Lacks []string
	// At has the source range of each argument that the file sets.
	At map[string]Range
}

// Overheads are times that an action costs the job it is done to.
type Overheads struct {
	Start, Pause, Resume, Resize time.Duration
}

// Policy is a scheduler policy with its name.
type Policy struct {
	scheduler.Policy
	Name  string
	Range Range
	// Estimates is fitted, oracle, noisy, requested or online.
	Estimates string
	// Sigma is the standard deviation of the log error under noisy, and of the first estimates under online.
	Sigma float64
	// At has the source range of each argument that the file sets.
	At map[string]Range
}

// Compare asks for a paired comparison of every other policy with a baseline.
type Compare struct {
	Metric   string
	Baseline string // policy name
	// Level of the confidence interval, 0.95.
	Level float64
	Range Range
}

// Plot selects pictures.
type Plot struct {
	Kind   string
	Metric string // for metrics, series, heatmap and speedup
	X      string // an axis, for series, heatmap and speedup
	Y      string // an axis, for heatmap
	Range  Range
}
