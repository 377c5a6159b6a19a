// Package control has the controllers of jobs. A controller follows one job (or several)
// while it trains. It is asked at each report of progress, and sees only data
// that a program may know. It answers with changes: of the program's settings,
// its allotment or its model; or with a stop. Tuners and agents are controllers.
//
// A controller sees the past and never the clock, so the same reports give the
// same answers. It can drive real jobs, simulated jobs and recorded tables.
package control

import (
	"fmt"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
)

// Choice is a controller that experiments can choose.
type Choice struct {
	// Name is the name that users write: controller "agent" {}.
	Name string
	// New makes the controller of one run of one cell.
	New func(Options) (Controller, error)
}

// Options are the options for making a controller.
type Options struct {
	// Values has the arguments of its block that have a value, by their names, in
	// the Go types of their schema types: int, float64, string, time.Duration and so on.
	Values map[string]any
}

var controllers = schema.NewRegistry("scheduler: controller", func(c Choice) string { return c.Name },
	schema.Unranked)

// Register adds a controller. It panics when the name is taken.
func Register(c Choice) Choice { return controllers.Add(c) }

// Find returns the controller of a name.
func Find(name string) (Choice, bool) { return controllers.Find(name) }

// Report is the controller's view of a job when the job reports progress.
type Report struct {
	// Job is the number of the job in the cell.
	Job int
	// Epoch and Step count the finished epochs and steps. Both are 0 in a job's
	// first report, before training.
	Epoch, Step int
	// Loss and Accuracy are NaN where the program does not report them, and so is
	// Seconds, the time that its last epoch took (its last step, of a job of steps).
	Loss, Accuracy, Seconds float64
	// Used is the service time so far, Left the rest of the budget; Left is
	// NoBudget for a job without one.
	Used, Left time.Duration
	// Allotment is the job's holdings, or its request while it holds nothing. Settings
	// are the present settings of its program.
	Allotment Allotment
	Settings  []Setting
	// Took are settings that the program says it has taken on since the report before,
	// Refused those that it says it cannot, with the reasons as their values. With
	// Impossible the job cannot have the settings that were asked for last, however it is
	// started.
	Took       []Setting
	Refused    []Setting
	Impossible bool
	// Crashed is why the program failed before its first report with new settings; empty in
	// other reports. Other settings in the answer restart it.
	Crashed string
	// Restarted reports that the job was restarted since the last report, for a
	// change of its settings.
	Restarted bool
}

// NoBudget is Report.Left of a job that may train for as long as it takes.
const NoBudget time.Duration = -1

// Allotment is the threads and GPUs that a job holds, on all its nodes together.
type Allotment struct{ Threads, GPUs int }

// Setting is a setting of a program by its name, with its value in the form in
// which an experiment writes it.
type Setting = schema.Setting

// SettingsText lists settings: "batch=32 ps=1".
func SettingsText(settings []Setting) string { return schema.SettingsText(settings, " ") }

// With returns settings with some changed; those that are new come last.
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

// Action is a controller's answer. Its zero value changes nothing; fields may be
// given together, and are then carried out in their order.
type Action struct {
	// Settings are the changed settings. Settings that the program cannot change
	// while it runs need a checkpoint and a restart; with Restart, all of them do.
	Settings []Setting
	Restart  bool
	// Allotment is asked of the scheduler, which may refuse; nil asks for nothing.
	Allotment *Allotment
	// Deepen names the block of the network, from 0, that gets another layer; nil
	// leaves the model as it is.
	Deepen *int
	// Stop ends the job: its model so far is its result.
	Stop bool
	// Reason is for people: it is recorded with the decision. An answer with a reason
	// is written down even if it changes nothing.
	Reason string
	// Ignored names settings of the last change that the program did not use, as far as the
	// controller can see.
	Ignored []string
	// Expected is the effect that the controller expects of the change; nil if it expects
	// none.
	Expected *Expected
	// Probabilities are the probabilities of all possible actions, if the controller drew one.
	Probabilities []float64
}

// Expected is the predicted effect of a change, in seconds.
type Expected struct {
	// Gain is the time that the job ends earlier, before Cost. Cost is the time without
	// training because of the change. Left is the remaining time without the change,
	// Low and High its interval; Sure is the probability that the change pays. Unknown
	// values are NaN.
	Gain, Cost, Left, Low, High, Sure float64
}

// Nothing reports whether an action changes nothing.
func (a Action) Nothing() bool {
	return len(a.Settings) == 0 && a.Allotment == nil && a.Deepen == nil && !a.Stop
}

// Controller decides for the jobs of one run of one cell.
type Controller interface {
	// Decide answers a report. Reports of a job come in the order of its progress; the
	// first comes when the job arrives, before it has trained.
	Decide(Report) Action
}

// Decision is a controller's decision in a trace.
type Decision struct {
	Report Report
	Action Action
	// Settings are the settings after the decision. Restart says that the job is restarted
	// for them. Refused says why the decision was not carried out; empty where it was.
	Settings []Setting
	Restart  bool
	Refused  string
}

// Progress is one report of a running job.
type Progress struct {
	Epoch, Step             int
	Loss, Accuracy, Seconds float64 // NaN where the program does not say
	// Took and Refused are as in Report: news of the program that come with the progress
	// after them.
	Took, Refused []Setting
}

// Name describes the changes of an action: "settings and stop", "nothing".
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

// String is "settings: batch=64 (it pays)".
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
