// Package control has the interface of controllers, which change jobs while they train. Tuners and agents are
// controllers. A controller follows one or more jobs. At each report of a job's progress it decides: nothing, new
// settings of the program, other resources, a deeper model, or the end of the job.
//
// A controller sees only reports, and no clock. So the same reports always give the same decisions, from real jobs,
// simulated jobs and recorded tables.
package control

import (
	"fmt"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
)

// Choice is a kind of controller that an experiment can name.
type Choice struct {
	// Name is the label of the controller block: controller "agent" {}.
	Name string
	// New makes a controller for one run of a cell.
	New func(Options) (Controller, error)
}

// Options are the arguments for making a controller.
type Options struct {
	// Values has the arguments of the controller's block, by name. Each value has the Go type of its schema type,
	// such as int, float64, string or time.Duration. Arguments without a value are left out.
	Values map[string]any
}

var controllers = schema.NewRegistry("scheduler: controller", func(c Choice) string { return c.Name },
	schema.Unranked)

// Register registers a kind of controller, and returns it. It panics if the name is taken.
func Register(c Choice) Choice { return controllers.Add(c) }

// Find returns the kind of controller with a name.
func Find(name string) (Choice, bool) { return controllers.Find(name) }

// Report is a report of a job's progress, for its controller.
type Report struct {
	// Job is the number of the job in the cell.
	Job int
	// Epoch and Step are the numbers of finished epochs and steps. Both are 0 in the first report of a job, before
	// it trains.
	Epoch, Step int
	// Seconds is the time of the last epoch, or of the last step if the job's work is in steps. Loss, Accuracy and
	// Seconds are NaN if the program does not report them.
	Loss, Accuracy, Seconds float64
	// Used is the service time so far, and Left the remaining budget; NoBudget for a job without a budget.
	Used, Left time.Duration
	// Allotment is the resources that the job holds, or its request while it holds none. Settings are the present
	// settings of its program.
	Allotment Allotment
	Settings  []Setting
	// Took are settings that the program has adopted since the last report. Refused are settings that it cannot
	// adopt, with the reasons as their values. Impossible says that the job cannot have the settings of the last
	// action even after a restart.
	Took       []Setting
	Refused    []Setting
	Impossible bool
	// Crashed is the reason why the program failed before its first report with new settings; empty in other
	// reports. If the controller answers with other settings, the job restarts with them.
	Crashed string
	// Restarted says that the job was restarted since the last report, because its settings changed.
	Restarted bool
}

// NoBudget is the value of Report.Left for a job without a budget.
const NoBudget time.Duration = -1

// Allotment is numbers of threads and GPUs, over all nodes of a job together.
type Allotment struct{ Threads, GPUs int }

// Setting is a setting of a program: a name, and a value as experiments write it.
type Setting = schema.Setting

// SettingsText returns settings as a text such as "batch=32 ps=1".
func SettingsText(settings []Setting) string { return schema.SettingsText(settings, " ") }

// With returns settings with changes applied. New settings are appended.
func With(settings, changes []Setting) []Setting {
	all := append([]Setting(nil), settings...)
next:
	for _, c := range changes {
		for i := range all {
			if all[i].Name == c.Name {
				all[i].Value = c.Value
				continue next
			}
		}
		all = append(all, c)
	}
	return all
}

// Action is the decision of a controller. The zero value changes nothing. Several fields may be set; they are
// carried out in their order.
type Action struct {
	// Settings are the settings to change. If the program cannot change them while it runs, it writes a checkpoint
	// and restarts. Restart says that it restarts in any case.
	Settings []Setting
	Restart  bool
	// Allotment is the requested resources; nil for no change. The scheduler may not grant them.
	Allotment *Allotment
	// Deepen is the index of the block of the network that gets another layer; nil for no change.
	Deepen *int
	// Stop ends the job. Its model so far is its result.
	Stop bool
	// Reason is a text for users, which is recorded with the decision. A decision with a reason is recorded even if
	// it changes nothing.
	Reason string
	// Ignored are the names of settings of the last change that the program did not use, as far as the controller
	// can see.
	Ignored []string
	// Expected is the effect that the controller expects of the change; nil if it expects none.
	Expected *Expected
	// Probabilities has the probability of each possible action; nil if the controller does not draw actions at
	// random.
	Probabilities []float64
}

// Expected is the expected effect of a change, in seconds. Unknown values are NaN.
type Expected struct {
	// Gain is how much earlier the job would end if the change took no time. Cost is the time without training
	// because of the change. Left is the remaining time without the change, with the interval from Low to High. Sure
	// is the probability that the change saves time.
	Gain, Cost, Left, Low, High, Sure float64
}

// Nothing reports whether an action changes nothing.
func (a Action) Nothing() bool {
	return len(a.Settings) == 0 && a.Allotment == nil && a.Deepen == nil && !a.Stop
}

// Controller decides about the jobs of one run of a cell.
type Controller interface {
	// Decide returns the action after a report. Reports of a job come in the order of its progress. The first comes
	// when the job arrives, before it trains.
	Decide(Report) Action
}

// Decision is a decision of a controller, as an event of a trace.
type Decision struct {
	Report Report
	Action Action
	// Settings are the settings after the decision. Restart says that the job restarts to use them. Refused is the
	// reason why the decision could not be carried out; empty if it was.
	Settings []Setting
	Restart  bool
	Refused  string
}

// Progress is one report of a running job.
type Progress struct {
	Epoch, Step             int
	Loss, Accuracy, Seconds float64 // NaN if the program does not report it
	// Took and Refused are as in Report. The program has announced them since its last report.
	Took, Refused []Setting
}

// Name names the kinds of changes in an action: "settings and stop", "nothing".
func (a Action) Name() string {
	var parts []string
	if len(a.Settings) > 0 {
		parts = append(parts, "settings")
	}
	if a.Allotment != nil {
		parts = append(parts, "allotment")
	}
	if a.Deepen != nil {
		parts = append(parts, fmt.Sprintf("deepen %d", *a.Deepen))
	}
	if a.Stop {
		parts = append(parts, "stop")
	}
	if parts == nil {
		return "nothing"
	}
	return strings.Join(parts, " and ")
}

// String returns a text such as "settings: batch=64 (it pays)".
func (c *Decision) String() string {
	text := c.Action.Name()
	if len(c.Action.Settings) > 0 {
		text += ": " + SettingsText(c.Action.Settings)
	}
	if c.Refused != "" {
		return text + ": refused: " + c.Refused
	}
	if c.Action.Reason != "" {
		text += " (" + c.Action.Reason + ")"
	}
	return text
}
