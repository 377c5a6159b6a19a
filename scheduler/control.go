// Control has the controllers of jobs. A controller stands beside one job
// (or several) while it trains. It is asked at each report of progress, sees what
// a program may know, and answers with what is to change: the settings of the
// program, its allotment, its model; or that it is to stop. Tuners and agents are
// controllers.
//
// A controller is told the past and never the clock, so the same reports give the
// same answers: it drives real jobs, simulated jobs and recorded tables alike.

package scheduler

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
)

// Choice is a controller that experiments can choose.
type ControllerChoice struct {
	// Name is what users write: controller "agent" {}.
	Name string
	// Doc is its entry in the reference of the language.
	Doc string
	// Args are the arguments of its block.
	Args []schema.Arg
	// New makes the controller of one run of one cell.
	New func(ControllerOptions) (Controller, error)
}

// Options are what a controller is made from.
type ControllerOptions struct {
	// Values has the arguments of its block that have a value, by their names, in
	// the Go types of their schema types: int, float64, string, time.Duration and so on.
	Values map[string]any
	// Seed is the root of its random numbers.
	Seed int64
}

var registry []ControllerChoice

// Register adds a controller. It is called from init functions, and panics when
// the name is taken.
func RegisterController(c ControllerChoice) {
	if _, ok := FindController(c.Name); ok {
		panic(fmt.Sprintf("control: two controllers are called %q", c.Name))
	}
	registry = append(registry, c)
	slices.SortFunc(registry, func(a, b ControllerChoice) int { return strings.Compare(a.Name, b.Name) })
}

// Find returns the controller of a name.
func FindController(name string) (ControllerChoice, bool) {
	i := slices.IndexFunc(registry, func(c ControllerChoice) bool { return c.Name == name })
	if i < 0 {
		return ControllerChoice{}, false
	}
	return registry[i], true
}

// All lists the controllers by their names.
func Controllers() []ControllerChoice { return slices.Clone(registry) }
