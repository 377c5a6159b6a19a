// Package control has the controllers of jobs. A controller stands beside one job
// (or several) while it trains. It is asked at each report of progress, sees what
// a program may know, and answers with what is to change: the settings of the
// program, its allotment, its model; or that it is to stop. Tuners and agents are
// controllers.
//
// A controller is told the past and never the clock, so the same reports give the
// same answers: it drives real jobs, simulated jobs and recorded tables alike.
package control

import (
	"fmt"
	"slices"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
)

// Report is what a controller sees when a job reports progress.
type Report struct {
	// Job is the number of the job among those of the cell.
	Job int
	// Epoch and Step count what is finished. The first report of a job, before it
	// has trained, has neither.
	Epoch, Step int
	// Loss and Accuracy are NaN where the program does not report them.
	Loss, Accuracy float64
	// Used is the service time so far, Left what is left of the budget; Left is
	// NoBudget for a job without one.
	Used, Left time.Duration
	// Allotment is what the job holds, Settings what its program is set to.
	Allotment Allotment
	Settings  []Setting
}

// NoBudget is Report.Left of a job that may train for as long as it takes.
const NoBudget time.Duration = -1

// Allotment is what a job holds, on all its nodes together.
type Allotment struct{ Threads, GPUs int }

// Setting is a setting of a program by its name, with its value in the form in
// which an experiment writes it.
type Setting struct{ Name, Value string }

// Action is a controller's answer. Its zero value changes nothing; fields may be
// given together, and are then carried out in their order.
type Action struct {
	// Settings are those that change.
	Settings []Setting
	// Allotment is asked of the scheduler, which may refuse; nil asks for nothing.
	Allotment *Allotment
	// Deepen names the block of the network, from 0, that gets another layer; nil
	// leaves the model as it is.
	Deepen *int
	// Stop ends the job: what it has learned so far is its result.
	Stop bool
	// Reason is for people: it is written beside the decision.
	Reason string
}

// Nothing reports whether an action changes nothing.
func (a Action) Nothing() bool {
	return len(a.Settings) == 0 && a.Allotment == nil && a.Deepen == nil && !a.Stop
}

// Controller decides for the jobs of one run of one cell.
type Controller interface {
	// Decide answers a report. Reports of a job come in the order of its progress.
	Decide(Report) Action
}

// Choice is a controller that experiments can choose.
type Choice struct {
	// Name is what users write: controller "agent" {}.
	Name string
	// Doc is its entry in the reference of the language.
	Doc string
	// Args are the arguments of its block.
	Args []schema.Arg
	// New makes the controller of one run of one cell.
	New func(Options) (Controller, error)
}

// Options are what a controller is made from.
type Options struct {
	// Values has the arguments of its block that have a value, by their names, in
	// the Go types of their schema types: int, float64, string, time.Duration and so on.
	Values map[string]any
	// Seed is the root of its random numbers.
	Seed int64
}

var registry []Choice

// Register adds a controller. It is called from init functions, and panics when
// the name is taken.
func Register(c Choice) {
	if _, ok := Find(c.Name); ok {
		panic(fmt.Sprintf("control: two controllers are called %q", c.Name))
	}
	registry = append(registry, c)
	slices.SortFunc(registry, func(a, b Choice) int {
		if a.Name < b.Name {
			return -1
		}
		return 1
	})
}

// Find returns the controller of a name.
func Find(name string) (Choice, bool) {
	i := slices.IndexFunc(registry, func(c Choice) bool { return c.Name == name })
	if i < 0 {
		return Choice{}, false
	}
	return registry[i], true
}

// All lists the controllers by their names.
func All() []Choice { return slices.Clone(registry) }
