package stages

import (
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/validate"
	"github.com/tfexp/tfexp/stages/experiment"
)

// SupplyPart is a part of hardware whose nodes can be lost and added.
type SupplyPart interface {
	// Supply describes when nodes are available in a replicate; replicates count from 1.
	Supply(replicate int) Supply
}

// Supply describes when nodes are available in a cell. Its type must be registered with encoding/gob. It may implement
// KeyPart, for values that differ among replicates.
type Supply interface {
	// Fleet returns the nodes of a run on a cluster, drawn with a seed.
	Fleet(c scheduler.Cluster, seed int64) (simulated.Fleet, error)
	// Meter returns a meter of the cost of nodes.
	Meter(*measure.Setup) measure.NodeMeter
}

// Methods of parts of jobs that are about saved work.
type (
	// SavesPart says when a simulated job saves its work.
	SavesPart interface {
		Saves(*experiment.Job) *simulated.Checkpoint
	}
	// RuntimeKeyPart has lines for the keys of cells in which the job is simulated.
	RuntimeKeyPart interface{ RuntimeLines(prefix string) []KeyLine }
	// StartPart changes how the job's program is started in a cell, according to the cell's hardware.
	StartPart interface{ Start(Starting, *launch.Job) }
)

// Starting is a job of a cell that is started for real.
type Starting struct {
	Job      *experiment.Job
	Hardware *experiment.Hardware
	// Parts returns the parts of a job with roles on the nodes where it would start alone.
	Parts func() []scheduler.Part
}

// View is a cell whose jobs are about to be shown to its policy.
type View struct {
	experiment.Cell
	// Jobs are the jobs as the policy sees them.
	Jobs []scheduler.Job
	// Block returns the job block of a job; nil for a job of a trace without a block.
	Block func(job int) *experiment.Job
}

var traceRules []func(*Task) validate.Rule

// RegisterTraceRule registers a check of the traces of cells. of returns nil for a cell that need not be checked.
func RegisterTraceRule(of func(*Task) validate.Rule) { traceRules = append(traceRules, of) }

// TraceRules returns the checks of features for the trace of a cell.
func TraceRules(t *Task) (rules []validate.Rule) {
	for _, of := range traceRules {
		if r := of(t); r != nil {
			rules = append(rules, r)
		}
	}
	return rules
}

var views []func(View) []scheduler.Job

// RegisterView registers a function that changes how policies see the jobs of a cell. change returns other jobs, or
// View.Jobs.
func RegisterView(change func(View) []scheduler.Job) { views = append(views, change) }

// ShownJobs returns the jobs after the changes of all features.
func (v View) ShownJobs() []scheduler.Job {
	for _, change := range views {
		v.Jobs = change(v)
	}
	return v.Jobs
}
