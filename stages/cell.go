package stages

import (
	"errors"
	"time"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
)

// ErrNoEstimate is wrapped when a job has neither a known run time nor samples.
var ErrNoEstimate = errors.New("there is no estimate")

// Cell is a cell of the matrix.
type Cell interface {
	// Task returns all data needed to run the cell. The error wraps ErrNoEstimate if the run time of a simulated job is
	// unknown; the task is then complete except for the jobs.
	Task(Folders) (Task, error)
	// Twin returns the simulation of a real cell, with fitted estimates and the machine's measured speed, and the
	// description of its key. The error wraps ErrNoEstimate if a job has no estimate.
	Twin(Seen) (Task, string, error)
	// Estimated returns the current estimates of the cell's jobs.
	Estimated() []record.Estimated
	// Beside returns how many cores of this machine the cell needs when cells of the same replicate, workload and
	// hardware run at the same time. It returns 0 if the cell must run alone.
	Beside() int
}

// Seen has the observations of the machine while a real cell ran.
type Seen struct {
	// Estimated are the estimates that policies used when the cell began. Estimates of other jobs come from the
	// samples.
	Estimated []record.Estimated
}

// SeenBy returns the observations from a cell's record.
func SeenBy(c *record.Cell) Seen { return Seen{Estimated: c.Estimated} }

// Folders are the folders of a cell. Dir receives its records. Scratch has control files and checkpoints of real jobs,
// and is deleted after the cell.
type Folders struct {
	Dir, Scratch string
	// Listed requests a task without functions, which can be written to a file for another process.
	Listed bool
}

// Task has all the data that are needed to run a cell, in this process or another one.
type Task struct {
	Folders
	// Logs is the folder of the jobs' output, "<job>.log"; empty for cells with simulated jobs.
	Logs  string
	Setup record.Setup
	// Supply is set if nodes can be lost and added during the cell.
	Supply  Supply
	Records record.Records
	Policy  policy.Policy
	// Base is the absolute path of the experiment file's folder, if the policy is a program.
	Base    string
	Resizes []scheduler.Resize
	// Until is the time at which the cell ends, finished or not; 0 for no limit.
	Until time.Duration
	// Online is set if predictions are updated from the progress of jobs.
	Online *Online
	// Speeds has the predicted work of each job, for a policy that divides cores; otherwise it is nil.
	Speeds   []simulated.Scaling
	Hardware Hardware
	// Launches describes how to start each job of a real cell.
	Launches []launch.Job
	// Simulation is set for simulated cells.
	Simulation *Simulation
	// Parts are the parts of features, in the order in which they are applied.
	Parts []TaskPart
}

// Hardware is a machine or cluster and the name of its engine.
type Hardware struct {
	Name, Kind string
	// Settings, Suspends and Place have the same meaning as in engine.Hardware.
	Settings any
	Suspends bool
	Place    string
}

// ForEngine returns the task's hardware in the form that its engine needs.
func (t *Task) ForEngine() *engine.Hardware {
	return &engine.Hardware{
		Name: t.Hardware.Name, Kind: engine.Find(t.Hardware.Kind), Cluster: t.Setup.Cluster,
		Settings: t.Hardware.Settings, Place: t.Hardware.Place, Suspends: t.Hardware.Suspends,
	}
}

// AloneOn returns how long a simulated job runs alone with one of its alternatives. It is used as
// measure.Setup.AloneOn.
func (t *Task) AloneOn(job, alternative int) time.Duration {
	j := &t.Setup.Jobs[job]
	alone := t.Simulation.Work[job].Alternatives()[alternative].RunTime(j.Alternatives()[alternative].Threads)
	alone = time.Duration(float64(alone) * t.Simulation.Options.Factor(j.Name))
	if j.Budget() != nil {
		alone = min(alone, *j.Budget())
	}
	return alone
}

// Simulation describes the behavior of simulated jobs.
type Simulation struct {
	// Jobs are the jobs of the workload with their actual run times, not the policy's estimates. Work is the work of
	// each job.
	Jobs []scheduler.Job
	Work []simulated.Scaling
	// DrawnWork is used instead of Work for jobs of measure.Setup.Drawn; otherwise it is nil. Its result is valid until
	// the next call.
	DrawnWork func(job int) simulated.Work
	Options   simulated.Options
	// Contention describes how jobs slow each other down; nil if they do not.
	Contention *Contention
	// Finals are the last reports of finished jobs, by job; nil if no job reports.
	Finals []measure.Final
}

// Contention describes how the jobs on a node slow each other down.
type Contention struct {
	Law estimator.Contention
	// Threads is the number of cores that the jobs of a node share; 0 means the node's own number.
	Threads int
}

// Online has the data for predictions that are updated from the progress of jobs.
type Online struct {
	// Units is the number of epochs or steps of each job; 0 if it reports none.
	Units []int
	// Block is the index into Blocks of each job's block. Blocks has the estimate of each job block before it runs.
	Block  []int32
	Blocks []Estimate
	// Work describes how the speed of each job depends on its threads.
	Work []simulated.Scaling
	// Errors are factors that make the first estimates wrong, for experiments about wrong estimates. Sigma is the
	// standard deviation of their logarithms. They are nil and 0 if not used.
	Errors []float64
	Sigma  float64
}

// Estimate is the estimate for a job block with its full request.
type Estimate struct {
	Threads int
	// Length is the largest number of epochs or steps.
	Length int
	// Fitted is the estimate from samples if Known is set; otherwise only Work is used.
	Fitted estimator.Estimate
	Known  bool
	// Ends forecasts when jobs end, if they can end before all their work is done; otherwise it is nil.
	Ends EndForecast
}

// EndForecast forecasts from reported losses when jobs end. Tasks with it are written to files, so it must be encodable
// by gob.
type EndForecast interface {
	// Begin returns the forecast of a job that begins.
	Begin() JobForecast
}

// JobForecast forecasts the end of one job.
type JobForecast interface {
	// Left predicts the remaining units of the job after it has finished units. The prediction does not exceed most.
	// losses are the losses reported since the last call.
	Left(units int, most float64, losses []scheduler.Loss) float64
}

// LatestReport is the last report of a running job's program. Loss and Accuracy are NaN if not reported.
type LatestReport struct {
	Job            string
	Epoch, Step    int // last finished
	Loss, Accuracy float64
}

// Unit is a job on one number of threads whose run time is sampled.
type Unit struct {
	// Name is the name for its files: the name of the job block, with a number appended if the block has several units.
	// Block is the name of the job block.
	Name, Block string
	// Key describes everything that the samples depend on. Hash is the hash of Key, under which they are stored.
	Key, Hash string
	// Job is the name of the job block.
	Job                   string
	Threads, Inter, Intra int
	GPUs                  int
	GPUType               string
	// Lengths are the lengths of the samples in epochs or, with Steps, in steps. Each is taken Repeats times.
	Lengths []int
	Steps   bool
	Repeats int
	// Total is the length of the whole job; 0 if the experiment file lists the lengths of samples.
	Total int
	// Limit is the time limit of one sample.
	Limit time.Duration
	// Copies is how many copies of the job run at once in a sample. Cores is the number of cores of the node that they
	// share. Both are 0 if the job runs alone.
	Copies, Cores int
	// Asked is set if a job requests this number of threads. Other units are sampled only for the speed-up curve.
	Asked bool
	// Pick selects one of several time-writer lines of a program.
	Pick contract.Pick
	// Relatives are the indices of the units that are fitted together, including this one, sorted by threads.
	Relatives []int
	// Engine runs the samples. It is the engine of the job's hardware; for simulated jobs it is the first engine that
	// runs programs on this machine. Hardware is nil for this machine.
	Engine   *engine.Kind
	Hardware *engine.Hardware
	// Launch describes how to start the job for a sample of length epochs or steps. logs is the folder of its log, and
	// scratch of its other files.
	Launch func(name string, length int, logs, scratch string) launch.Job
}

// LengthUnit is "epochs" or "steps".
func (u *Unit) LengthUnit() string {
	if u.Steps {
		return "steps"
	}
	return "epochs"
}

// Sampling has the methods of an experiment that a stage needs to take and fit samples.
type Sampling interface {
	// SampledUnits returns the units to sample, in the order of the file.
	SampledUnits() []*Unit
	// Budget returns the largest total time of sampling, as a fraction of the real cells' predicted time; 0 means no
	// limit.
	Budget() float64
	// Within returns the wanted precision of predictions: half the width of their interval divided by the run time.
	Within() float64
	// HostPrint returns the fingerprint of the machine.
	HostPrint() string
	// Samples returns the samples with this hash, and whether they are known. SetSamples stores them.
	Samples(hash string) ([]estimator.Sample, bool)
	SetSamples(hash string, samples []estimator.Sample)
}

// PastRuns has the methods of an experiment for models that use earlier runs.
type PastRuns interface {
	// UsesHistory reports whether a model uses earlier runs. SetHistory sets these runs.
	UsesHistory() bool
	SetHistory([]estimator.Run)
}
