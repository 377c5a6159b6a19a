// Package engine defines engines. A hardware block names the Kind that runs its jobs. Each engine is a
// package that registers its Kind. The language, keys, documentation, the pipeline and doctor use only kinds, and do
// not name engines. Package engine/all imports the engines of tfexp.
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

// Array is a job array of a batch system: tasks with different numbers that run the same command, in any order.
type Array struct {
	// Dir is the absolute path of a folder that all nodes can read and write. Tasks run in it. Name is the name of
	// the array, for users.
	Dir, Name string
	// Command is the command of each task. The number of the task is appended as the last argument.
	Command []string
	// Tasks are the numbers of the tasks, ascending, at least 0.
	Tasks []int
	// Threads is the number of cores of each task. Whole says that each task has a node for itself.
	Threads int
	Whole   bool
	// AtOnce is the greatest number of tasks that run at the same time; 0 means no limit.
	AtOnce int
	// Args are further arguments for the batch system.
	Args map[string]string
}

// MaxTasks is the greatest number of tasks in an array.
const MaxTasks = 1000

// Batch is a batch system that runs cells on other machines. If it cannot do a request, the error is an *Unavailable
// with a hint.
type Batch interface {
	// Check reports why an array could not run, without submitting it. If the array could not be checked because its
	// tasks must wait, waits is the reason.
	Check(context.Context, Array) (waits string, err error)
	// Submit submits an array and returns its job number.
	Submit(context.Context, Array) (job string, err error)
	// UnfinishedTasks returns the tasks that wait or run, by the job number of the array. It asks the batch system
	// once. After an error the caller should ask again later, because the system may be busy.
	UnfinishedTasks(ctx context.Context, jobs []string) (map[string][]int, error)
	// Cancel ends the unfinished tasks of arrays.
	Cancel(ctx context.Context, jobs []string) error
}

// Changer is an engine that can change the programs of jobs while a cell runs. Controllers need it.
type Changer interface {
	// Attend makes the engine give a notice for every report (scheduler.Notice.Progress) of the jobs for which
	// jobs[number] is true. It is called before the first job starts.
	Attend(jobs []bool)
	// Change replaces the program of a job from its next start on. The new program gets the files and the present
	// message of the old one.
	Change(job int, to launch.Job) error
	// Tell writes a message to a job's control file: at once if the job runs, and at every later start. The engine
	// adds the present state. If the request has no serial number, the engine gives it one.
	Tell(job int, m contract.Message) error
	// Restart makes a running job save its work and end. scheduler.JobEnded follows, with the state Stopped.
	Restart(job int) error
}

// Traits are the properties of an engine on which the language and the pipeline depend.
type Traits struct {
	// Real says that the engine runs programs in real time. Jobs then need programs and are sampled, and cells run
	// one at a time. Other engines simulate jobs.
	Real bool
	// Contained says that jobs run in containers, and need an image.
	Contained bool
	// Here says that jobs are descendants of this process. The hardware is then this machine with its GPUs, and the
	// CPU time of other programs can be measured.
	Here bool
	// Recorded says that the engine knows how long jobs take, from records of real runs. Jobs then need no run time
	// and are not sampled. If a job has a run time, its cell is also simulated.
	Recorded bool
	// Clusters says that hardware may have node blocks.
	Clusters bool
	// Loses says that nodes can be lost and replaced while jobs run, even if the experiment does not mention it.
	// Engines of this kind implement supply.Provider.
	Loses bool
	// Changes says that nodes can come and go as a fleet decides (Task.Fleet). Features describe fleets: see Extend.
	Changes bool
}

// Kind describes an engine for all code outside its package. Functions may be nil only if their comment says so.
type Kind struct {
	// Name is the name in hardware blocks: engine = "…". Rank is the position in lists; equal ranks are ordered by
	// name.
	Name string
	Rank int
	// Doc is the text after the engine's name in the language reference: "runs jobs as processes of this machine".
	// Example is a hardware block, in HCL.
	Doc, Example string

	Traits

	// Args and Blocks are further arguments and blocks of hardware blocks with this engine, and NodeArgs of their
	// node blocks. Engines that share an argument must describe it equally.
	Args, NodeArgs []schema.Arg
	Blocks         []*schema.Block
	// Decode checks the engine's own arguments and returns the settings that it makes from them. Only the engine
	// reads the settings. Decode may be nil.
	Decode func(Block) (settings any, problems []Problem)
	// Machine returns defaults for arguments of a machine that the block does not set. Zero fields mean no default.
	// Machine may be nil.
	Machine func(Block, Host) scheduler.Node

	// Nodes returns the nodes of hardware without node blocks. If Nodes is nil, the machine is the only node.
	Nodes func(Block, scheduler.Node) []scheduler.Node

	// Capabilities returns the capabilities of the engine on a hardware. Experiments with policies that need more are
	// refused.
	Capabilities func(*Hardware) scheduler.Capabilities
	// Check checks a hardware, and CheckJob a job on it, before anything runs. Both may be nil.
	Check    func(*Hardware, Host) []Problem
	CheckJob func(*Hardware, *Job, Host) []Problem
	// Lines returns the lines of cell keys for the engine's settings. It may be nil.
	Lines func(*Hardware) []KeyLine

	// Images returns the identity of each image that jobs need, for keys; "" if unknown. If fetch is true, it
	// fetches images as the settings say. The error, an *Unavailable, names the first missing image or daemon. Only
	// Contained engines have it.
	Images func(ctx context.Context, needs []ImageNeed, fetch bool) (found []string, missing error)
	// Open prepares the engine for a run. It removes leftovers of an earlier run that was killed, and returns them
	// as phrases ("process 1234 (python3)"). Only Real engines have it. It is called even if the run has no cells
	// for the engine.
	Open func(Run) (site Session, removed []string, err error)
	// Batch returns the batch system of the engine, on which cells can run as tasks (tfexp run --on NAME). It may be
	// nil.
	Batch func() Batch
	// Beside returns the number of this machine's cores that a cell uses, if compared cells run at the same time on
	// different cores; 0 if cells run one at a time. It may be nil.
	Beside func(*Hardware) int
	// Records returns the number of recorded runs that a Recorded engine can replay on a hardware. It replays each
	// once.
	Records func(*Hardware) int
	// Simulate makes the engine of a simulated cell. Only engines that are not Real have it.
	Simulate func(Simulation) (scheduler.Engine, error)

	// Doctor checks that the engine can run here. inUse reports whether a tfexp works in a folder of results. Doctor
	// may be nil.
	Doctor func(ctx context.Context, inUse func(folder string) bool) []hardware.Check
}

// Hardware is a hardware block of an experiment.
type Hardware struct {
	Name    string
	Kind    *Kind
	Cluster scheduler.Cluster
	// Suspends says that paused jobs save their work and end, and are started again when they resume: see PauseArg.
	Suspends bool
	// Settings is the result of Kind.Decode.
	Settings any
	// Place is the place of the block, for hints: "shop.hcl line 12".
	Place string
}

// PauseArg is the argument of hardware that says how jobs are paused.
var PauseArg = schema.Arg{
	Name: "pause", Type: schema.String, Default: `"hold"`, Allowed: []string{"hold", Checkpointed}, Example: `"checkpoint"`,
	Doc: "What tfexp does with the programs of a paused job:\n- `hold`: stops them; they keep their " +
		"memory and GPUs.\n- `checkpoint`: asks them to write a checkpoint and to end, and starts them again " +
		"when the job resumes. They may then run on another node and other GPUs, as with cluster " +
		"schedulers.\n\nA program that ignores SIGTERM starts from the beginning.",
}

// Checkpointed is the value of PauseArg with which a paused job saves its work and ends.
const Checkpointed = "checkpoint"

// HasGPUs reports whether any node has GPUs.
func (h *Hardware) HasGPUs() bool {
	return slices.ContainsFunc(h.Cluster.Nodes, func(n scheduler.Node) bool { return n.GPUs > 0 })
}

// Job is a job on a hardware, for checks.
type Job struct {
	Name                 string
	Threads, GPUs, Nodes int
	Memory               int64 // bytes; 0 means no limit
	// Roles says that the job has roles: each of its parts is a separate program.
	Roles     bool
	Container *launch.Container
}

// Host has the facts about this machine that engines use.
type Host struct {
	Threads     int
	MemoryBytes int64 // 0 means unknown
	GPUs        int
	GPUType     string
	NoGPUs      string // why there are no GPUs; empty if there are some
}

// ImageNeed is the need of a hardware for the image of a container.
type ImageNeed struct {
	Hardware *Hardware
	Image    string
}

// KeyLine is a line in the key of a cell. Lines about hardware are labeled "hardware.…".
type KeyLine = schema.KeyLine

// Block is the content of a hardware block, for Kind.Decode.
type Block struct {
	Values
	// Base is the folder of the experiment file. Paths are relative to it.
	Base  string
	Nodes []NodeBlock
}

// NodeBlock is the content of a node block.
type NodeBlock struct {
	Name  string
	Count int
	Values
}

// Values has the values of a block's arguments by name: from the file, or defaults. The Go types by schema type:
// String string, Integer int, Number float64, Bool bool, Duration time.Duration, Size int64, Strings []string,
// StringMap map[string]string.
type Values struct {
	All map[string]any
	// Set has the names of the arguments that the file sets, even wrongly.
	Set map[string]bool
}

// Fill sets the fields of a struct whose tags name arguments.
func (v Values) Fill(into any) { schema.Fill(into, v.All) }

// Get returns a value; the zero value if it is not set.
func Get[T any](v Values, name string) T {
	value, _ := v.All[name].(T)
	return value
}

// Problem is an error in an experiment file. It is reported at the line of the argument.
type Problem struct {
	// Node is the number of the node block, from 1; 0 means the hardware block. Arg is empty if the problem is about
	// the block itself.
	Node int
	Arg  string
	// Summary is a heading, and Detail one or two sentences.
	Summary, Detail string
	// Unavailable says that the experiment is correct, but cannot run on this machine (exit status 6).
	Unavailable bool
}

// Lost is the code of warnings about jobs that the engine has lost. The cell of such a job has no valid result.
const Lost = "engine_lost"

// Unavailable is the error if an engine, or something that it needs, is not available.
type Unavailable struct {
	Engine string
	Err    error
	// Hint is a remedy.
	Hint string
}

func (e *Unavailable) Error() string { return "engine " + e.Engine + ": " + e.Err.Error() }
func (e *Unavailable) Unwrap() error { return e.Err }
