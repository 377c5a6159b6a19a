package stages

import (
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/validate"
	"github.com/tfexp/tfexp/stages/experiment"
)

// SupplyPart is a part of hardware whose nodes come and go.
type SupplyPart interface {
	// Supply is how they come and go in a replicate, counted from 1.
	Supply(replicate int) Supply
}

// Supply is how the nodes of a cell come and go. Its type is registered with encoding/gob. It may be a KeyPart, for
// what differs among replicates.
type Supply interface {
	// Fleet returns the fleet of a run on a cluster, by a seed.
	Fleet(c scheduler.Cluster, seed int64) (simulated.Fleet, error)
	// Meter measures the cost of the nodes.
	Meter(*measure.Setup) measure.NodeMeter
}

// Methods of parts of jobs that have to do with saved work.
type (
	// SavesPart is when a simulated job saves its work.
	SavesPart interface {
		Saves(*experiment.Job) *simulated.Checkpoint
	}
	// RuntimeKeyPart has lines for the keys of cells in which the job is simulated.
	RuntimeKeyPart interface{ RuntimeLines(prefix string) []KeyLine }
	// StartPart changes how the job's program is started in cells, by their hardware.
	StartPart interface{ Start(Starting, *launch.Job) }
)

// Starting is a job of a cell that is to be started for real.
type Starting struct {
	Job      *experiment.Job
	Hardware *experiment.Hardware
	// Parts returns the parts of a job with roles on the nodes on which it starts alone.
	Parts func() []scheduler.Part
}

// View is a cell whose jobs are about to be shown to its policy.
type View struct {
	experiment.Cell
	// Jobs are the policy's view of the jobs.
	Jobs []scheduler.Job
	// Block returns the block of a job; nil for one of a trace without a block.
	Block func(job int) *experiment.Job
}

var traceRules []func(*Task) validate.Rule

// RegisterTraceRule lets a feature check the traces of cells. of returns nil for a cell that it does not check.
func RegisterTraceRule(of func(*Task) validate.Rule) { traceRules = append(traceRules, of) }

// TraceRules returns the rules of features for the trace of a cell.
func TraceRules(t *Task) (rules []validate.Rule) {
	for _, of := range traceRules {
		if r := of(t); r != nil {
			rules = append(rules, r)
		}
	}
	return rules
}

var views []func(View) []scheduler.Job

// RegisterView lets a feature change a policy's view of the jobs of cells. change returns other jobs, or View.Jobs.
func RegisterView(change func(View) []scheduler.Job) { views = append(views, change) }

// ShownJobs returns the jobs as all features show them.
func (v View) ShownJobs() []scheduler.Job {
	for _, change := range views {
		v.Jobs = change(v)
	}
	return v.Jobs
}
