// Package engine defines the kinds of engines. A hardware block names the Kind that runs its jobs. Each engine is a
// package that registers its kind. The language, the keys, the documentation, the pipeline and doctor get all facts
// about an engine from its kind, and know no engine by name. Package engine/all links in the engines that tfexp has.
package engine

import (
	"context"
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler"
)

// Array is work for a batch system: tasks that run the same command in any order, each with a different number.
type Array struct {
	// Dir is a folder that all nodes see, absolute, in which tasks work and leave their output. Name is for people.
	Dir, Name string
	// Command is the command of a task; the task's number is added as the last argument.
	Command []string
	// Tasks are the numbers, ascending, from 0.
	Tasks []int
	// Threads are the cores of each task; with Whole it has a node to itself.
	Threads int
	Whole   bool
	// AtOnce bounds the tasks that run at the same time; 0: not.
	AtOnce int
	// Args are further arguments of the batch system.
	Args map[string]string
}

// MaxTasks is how many tasks an array has at most.
const MaxTasks = 1000

// Batch is a batch system that runs cells on other machines. If it cannot do a request, the error is an *Unavailable
// with a hint.
type Batch interface {
	// Check finds out whether an array could run, before anything is submitted.
	Check(context.Context, Array) error
	// Submit submits an array and returns its number.
	Submit(context.Context, Array) (job string, err error)
	// UnfinishedTasks returns the tasks of arrays that wait or run, by the array's number. It asks once. After an error the
	// caller should not give up: the system may answer later.
	UnfinishedTasks(ctx context.Context, jobs []string) (map[string][]int, error)
	// Cancel ends the remaining tasks of arrays.
	Cancel(ctx context.Context, jobs []string) error
}

// Changer is an engine whose programs can be changed while a cell runs, by the controllers that accompany its jobs.
type Changer interface {
	// Attend asks for a notice of every report (scheduler.Notice.Progress) of the jobs for which it is true. It is called
	// before the first job starts.
	Attend(jobs []bool)
	// Change makes to the program of a job from its next start on, with the files and the present message of the
	// previous one.
	Change(job int, to launch.Job) error
	// Tell writes a message to a job's control file: at once for a running job, and for every later start. The message
	// has the present state and the last request. The engine numbers a request without a serial.
	Tell(job int, m contract.Message) error
	// Restart asks a running job to save its work and to end, to be started again: scheduler.JobEnded follows, with the
	// state Stopped.
	Restart(job int) error
}

// Traits are the properties of an engine that the language and the pipeline ask for before they treat its jobs.
type Traits struct {
	// Real reports whether programs run, in real time: their jobs need programs, are sampled, and their cells run one at a
	// time. The jobs of the other engines are simulated.
	Real bool
	// Contained reports whether jobs run in containers, and so need an image.
	Contained bool
	// Here reports whether jobs are descendants of this process. The hardware is then always this machine, with its
	// GPUs, and the CPU time of other programs can be separated from the jobs'.
	Here bool
	// Recorded reports whether the engine itself knows how long jobs take, from records of real ones: they need no run
	// time and are not sampled, and where they have one, their cells are simulated as well.
	Recorded bool
	// Clusters reports whether hardware may have node blocks.
	Clusters bool
	// Loses reports whether nodes can go away while jobs run, and others take their places, even if the file does not
	// mention it: its engines are then a supply.Provider.
	Loses bool
	// Changes reports whether nodes of a cluster can come and go as a fleet says that its engines are given: see
	// Task.Fleet. Features describe fleets: see Extend.
	Changes bool
}

// Kind is an engine as everything outside its package sees it. Functions that may be nil say so.
type Kind struct {
	// Name is what hardware calls it: engine = "…". Rank is its place in lists; equal ranks are in the order of names.
	Name string
	Rank int
	// Doc continues the engine's name in the reference of the language: "runs jobs as processes of this machine".
	// Example is a hardware block, in HCL.
	Doc, Example string

	Traits

	// Args and Blocks are the additional arguments and blocks of hardware of this engine, NodeArgs the additional
	// arguments of its node blocks. An argument that several engines read has one description.
	Args, NodeArgs []schema.Arg
	Blocks         []*schema.Block
	// Decode checks the engine's own arguments where they are written, and makes the engine's settings from them, which
	// only the engine reads. It may be nil.
	Decode func(Block) (settings any, problems []Problem)
	// Machine returns the defaults of a machine for arguments that its block does not set; zero fields have no default.
	// It may be nil.
	Machine func(Block, Host) scheduler.Node

	// Nodes returns the nodes of a hardware without node blocks; each is like the machine. If it is nil, the machine is
	// the only node.
	Nodes func(Block, scheduler.Node) []scheduler.Node

	// Capabilities returns the capabilities of the engine on a hardware. Policies that need more are refused when the
	// file is read.
	Capabilities func(*Hardware) scheduler.Capabilities
	// Check looks at a hardware, and CheckJob at a job on it, before anything runs. They may be nil.
	Check    func(*Hardware, Host) []Problem
	CheckJob func(*Hardware, *Job, Host) []Problem
	// Lines are the key lines of the engine's settings. It may be nil.
	Lines func(*Hardware) []KeyLine

	// Images looks for the container images that jobs need, and, if fetch is set, fetches the images that the settings
	// want fetched. It returns the identity of each image, for keys, or "" if unknown. The error, an *Unavailable,
	// names the first missing thing. Only engines whose jobs are Contained have it.
	Images func(ctx context.Context, needs []ImageNeed, fetch bool) (found []string, missing error)
	// Open prepares the engine for a run: it removes leftovers of an earlier run that was killed, and returns them as
	// phrases ("process 1234 (python3)"). Only real engines have it; it is called whether or not the run has cells for
	// them.
	Open func(Run) (site Session, removed []string, err error)
	// Batch returns the batch system that the engine belongs to, on which cells can run as tasks: tfexp run --on NAME. It
	// may be nil.
	Batch func() Batch
	// Beside returns how many cores of this machine a cell takes whose compared cells run at the same time, on other
	// cores; 0 if cells of the hardware run one at a time. It may be nil.
	Beside func(*Hardware) int
	// Records counts the jobs that an engine that is Recorded can replay on a hardware, each once.
	Records func(*Hardware) int
	// Simulate makes the engine of a simulated cell. Only engines that are not real have it.
	Simulate func(Simulation) (scheduler.Engine, error)

	// Doctor checks that the engine can run here. inUse reports whether a tfexp works in a folder of results. It may be
	// nil.
	Doctor func(ctx context.Context, inUse func(folder string) bool) []hardware.Check
}

// Hardware is a machine or cluster of an experiment.
type Hardware struct {
	Name    string
	Kind    *Kind
	Cluster scheduler.Cluster
	// Suspends reports whether paused jobs save their work and end, and are started again when they go on: PauseArg.
	Suspends bool
	// Settings is the result of the kind's Decode for the block.
	Settings any
	// Place says where the block is written, "shop.hcl line 12", for hints.
	Place string
}

// PauseArg is the argument of hardware that chooses how a paused job's programs are paused.
var PauseArg = schema.Arg{
	Name: "pause", Type: schema.String, Default: `"hold"`, Allowed: []string{"hold", Checkpointed}, Example: `"checkpoint"`,
	Doc: "What tfexp does to the programs of a paused job:\n- `hold`: they are stopped, and keep their memory and GPUs.\n" +
		"- `checkpoint`: they are asked to write a checkpoint and to end, and are started again when the job resumes, " +
		"perhaps on another node and other GPUs, as schedulers of clusters do.\n\nA program that ignores SIGTERM starts from " +
		"the beginning.",
}

// Checkpointed is the value of PauseArg with which paused jobs end.
const Checkpointed = "checkpoint"

// HasGPUs reports whether some node has GPUs.
func (h *Hardware) HasGPUs() bool {
	return slices.ContainsFunc(h.Cluster.Nodes, func(n scheduler.Node) bool { return n.GPUs > 0 })
}

// Job is a job of an experiment on a hardware.
type Job struct {
	Name                 string
	Threads, GPUs, Nodes int
	Memory               int64 // bytes; 0: not limited
	// Roles reports whether the job has roles: its parts are separate programs.
	Roles     bool
	Container *launch.Container
}

// Host has the facts of this machine that engines use.
type Host struct {
	Threads     int
	MemoryBytes int64 // 0: not known
	GPUs        int
	GPUType     string
	NoGPUs      string // why there are no GPUs; empty if there are some
}

// ImageNeed is the image of a container on a hardware.
type ImageNeed struct {
	Hardware *Hardware
	Image    string
}

// Line is a line of a key's description. Lines of a hardware are labeled "hardware.…".
type KeyLine = schema.KeyLine

// Block is a hardware block as its kind decodes it.
type Block struct {
	Values
	// Base is the folder of the experiment file, to which paths are relative.
	Base  string
	Nodes []NodeBlock
}

// NodeBlock is a node block in it.
type NodeBlock struct {
	Name  string
	Count int
	Values
}

// Values are the arguments of a block, by name: the values in the file, and the defaults. Their types follow the types
// in the schema: String string, Integer int, Number float64, Bool bool, Duration time.Duration, Size int64, Strings
// []string, StringMap map[string]string.
type Values struct {
	All map[string]any
	// Set has the names that the file itself sets, rightly or not.
	Set map[string]bool
}

// Fill fills the fields of a struct whose tags name arguments.
func (v Values) Fill(into any) { schema.Fill(into, v.All) }

// Get returns a value; the zero value if it is not set.
func Get[T any](v Values, name string) T {
	value, _ := v.All[name].(T)
	return value
}

// Problem is an error in a file. The language shows it where the argument is written.
type Problem struct {
	// Node counts the node blocks from 1; 0 is the hardware block. Arg is empty for the block itself.
	Node int
	Arg  string
	// Summary is a heading, Detail a sentence or two.
	Summary, Detail string
	// Unavailable marks an experiment that is right, but cannot run on this machine (exit status 6).
	Unavailable bool
}

// Lost is the code of warnings of jobs that ended because the engine lost them, and not by themselves: their cell says
// nothing about them.
const Lost = "engine_lost"

// Unavailable is returned when an engine, or something that it needs, is not available.
type Unavailable struct {
	Engine string
	Err    error
	// Hint suggests a remedy.
	Hint string
}

func (e *Unavailable) Error() string { return "engine " + e.Engine + ": " + e.Err.Error() }
func (e *Unavailable) Unwrap() error { return e.Err }
