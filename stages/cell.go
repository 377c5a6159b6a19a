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

// ErrNoEstimate is wrapped when a job has neither a run time nor samples.
var ErrNoEstimate = errors.New("there is no estimate")

// Cell is a cell of the matrix.
type Cell interface {
	// Task describes the cell in plain values. The error wraps ErrNoEstimate when
	// the run time of a simulated job is not known; the task then has all but the
	// jobs.
	Task(Folders) (Task, error)
	// Twin describes the simulation of a real cell from the fitted estimates, at the speed that the machine had, and
	// returns the description of its key. The error wraps ErrNoEstimate when a job
	// has no estimate.
	Twin(Seen) (Task, string, error)
	// Estimated are the estimates of its jobs that are in force now.
	Estimated() []record.Estimated
	// Beside is how many cores of this machine the cell takes if the cells of its replicate, on its workload and
	// hardware, run at the same time; 0 if it runs alone.
	Beside() int
}

// Seen holds the observations of the machine while a real cell ran.
type Seen struct {
	// Estimated are the estimates that were in force when it began; the estimates of other jobs come from the
	// samples.
	Estimated []record.Estimated
}

// SeenBy returns the observations of the machine from a cell's record.
func SeenBy(c *record.Cell) Seen { return Seen{Estimated: c.Estimated} }

// Folders are where a cell works: Dir receives its records, Scratch holds the
// control files and checkpoints of real jobs until the cell is over.
type Folders struct {
	Dir, Scratch string
	// Listed asks for a task without functions that draw its jobs: it is for another process.
	Listed bool
}

// Task is a cell in plain values: all that is needed to run it, in this process
// or, written down, in another.
type Task struct {
	Folders
	// Logs is the folder with the jobs' output, "<job>.log"; empty for cells
	// whose jobs do not run.
	Logs  string
	Setup record.Setup
	// Supply is set if nodes come and go.
	Supply  Supply
	Records record.Records
	Policy  policy.Policy
	// Base is the folder of the experiment's file, absolute, where the policy is a program.
	Base    string
	Resizes []scheduler.Resize
	// Until is the horizon at which the cell is closed; 0 for none.
	Until time.Duration
	// Online is set when predictions follow the reports of jobs.
	Online *Online
	// Speeds is set for a policy that divides cores: the predicted work of each job.
	Speeds   []simulated.Scaling
	Hardware Hardware
	// Launches are how the jobs of a real cell are started.
	Launches []launch.Job
	// Simulation is set for the others.
	Simulation *Simulation
	// Parts are of features, in the order in which they take part.
	Parts []TaskPart
}

// Hardware is a machine or cluster, with its engine by name.
type Hardware struct {
	Name, Kind string
	// Settings, Suspends and Place are as in engine.Hardware.
	Settings any
	Suspends bool
	Place    string
}

// ForEngine returns the hardware of the task as its engine sees it.
func (t *Task) ForEngine() *engine.Hardware {
	return &engine.Hardware{
		Name: t.Hardware.Name, Kind: engine.Find(t.Hardware.Kind), Cluster: t.Setup.Cluster,
		Settings: t.Hardware.Settings, Place: t.Hardware.Place, Suspends: t.Hardware.Suspends,
	}
}

// AloneOn returns how long a simulated job takes alone in one of its alternatives; it is the AloneOn of
// measure.Setup.
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
	// Jobs are the jobs of the workload, without the estimates of the policy; Work
	// is the run time of each.
	Jobs []scheduler.Job
	Work []simulated.Scaling
	// DrawnWork, if it is not nil, takes the place of Work, for the jobs of measure.Setup.Drawn. Its result is valid until the
	// next call.
	DrawnWork func(job int) simulated.Work
	Options   simulated.Options
	// Contention is how jobs slow each other down; nil if they do not.
	Contention *Contention
	// Finals are the last reports of finished jobs, by job; nil without any.
	Finals []measure.Final
}

// Contention is how the jobs of a node slow each other down.
type Contention struct {
	Law estimator.Contention
	// Threads are the cores that the jobs of a node share; 0 for its own.
	Threads int
}

// Online holds the data for predictions that follow the progress of jobs.
type Online struct {
	// Units are the epochs or steps of each job; 0 for one that reports none.
	Units []int
	// Block is the job block of each job, Blocks the estimates for each before it
	// ran.
	Block  []int32
	Blocks []Estimate
	// Work is how the pace of each job changes with its threads.
	Work []simulated.Scaling
	// Errors are the factors by which the first estimates are wrong on purpose,
	// Sigma the standard deviation of their logarithms; nil and 0 for none.
	Errors []float64
	Sigma  float64
}

// Estimate is the estimate for a job block on its full request.
type Estimate struct {
	Threads int
	// Length is its epochs or steps, at most.
	Length int
	// Fitted is the estimate from samples, if Known; else there is only Work.
	Fitted estimator.Estimate
	Known  bool
	// Ends forecasts when its jobs are done, where they may be before all their work; nil where predictions do not follow
	// that.
	Ends EndForecast
}

// EndForecast forecasts the ends of jobs by the losses that they report. It is in tasks that are written down.
type EndForecast interface {
	// Begin returns the forecast of a job at its beginning.
	Begin() JobForecast
}

// JobForecast is the forecast of a job.
type JobForecast interface {
	// Left predicts the remaining units of the job, at most most, when it has finished units of them. losses are those
	// that it has reported since the call before.
	Left(units int, most float64, losses []scheduler.Loss) float64
}

// LatestReport is the last report of a running job's program. Loss and Accuracy are NaN where it does not report
// them.
type LatestReport struct {
	Job            string
	Epoch, Step    int // finished
	Loss, Accuracy float64
}

// Unit is a job on one number of threads whose run time is to be sampled.
type Unit struct {
	// Name is the name of its files: the job block's, with a number from the
	// second form of one block on. Block is the name without the number.
	Name, Block string
	// Key describes all that the samples depend on, Hash is their address.
	Key, Hash string
	// Job is the job block.
	Job                   string
	Threads, Inter, Intra int
	GPUs                  int
	GPUType               string
	// Lengths of the samples, each taken Repeats times, in epochs or (with Steps)
	// in steps.
	Lengths []int
	Steps   bool
	Repeats int
	// Total is the length of the whole job; 0 where the file lists the lengths of the samples.
	Total int
	// Limit is how long one sample may take.
	Limit time.Duration
	// Copies is how many copies of the job run side by side in a sample, of as many threads as share Cores of a node; 0
	// where it runs alone.
	Copies, Cores int
	// Asked is set when a job requests this number of threads; the others are
	// sampled for the speed-up curve alone.
	Asked bool
	// Pick is the time-writer line that counts when the program prints several.
	Pick contract.Pick
	// Relatives are the indexes of the units whose samples are fitted with its own,
	// itself included, in the order of their threads.
	Relatives []int
	// Engine runs the samples: the engine of the job's hardware or, for jobs that
	// are simulated, the first that runs programs of this machine. Hardware is nil
	// for this machine.
	Engine   *engine.Kind
	Hardware *engine.Hardware
	// Launch returns the launch of the job for a sample of length epochs or steps,
	// with its log in one folder and its other files in another.
	Launch func(name string, length int, logs, scratch string) launch.Job
}

// LengthUnit is "epochs" or "steps".
func (u *Unit) LengthUnit() string {
	if u.Steps {
		return "steps"
	}
	return "epochs"
}

// Sampling is the part of an experiment that a stage needs to take and fit samples.
type Sampling interface {
	// SampledUnits are the jobs to sample, in the order of the file.
	SampledUnits() []*Unit
	// Budget bounds the time of sampling, as a part of the real cells' predicted
	// time; 0 for no bound.
	Budget() float64
	// Within is how narrow the intervals of predictions shall be: half of their width, relative to the run time.
	Within() float64
	// HostPrint is the fingerprint of the machine in a word.
	HostPrint() string
	// Samples returns the samples with a hash, if they are known; SetSamples makes
	// them known.
	Samples(hash string) ([]estimator.Sample, bool)
	SetSamples(hash string, samples []estimator.Sample)
}

// PastRuns is the part of an experiment that learns from earlier runs.
type PastRuns interface {
	// UsesHistory reports whether a model uses past runs, which SetHistory
	// provides.
	UsesHistory() bool
	SetHistory([]estimator.Run)
}
