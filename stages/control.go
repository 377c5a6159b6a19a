package stages

import (
	"errors"

	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/adaptation"
)

// Steered is a job of a cell beside which a controller stands.
type Steered struct {
	// Job is its number in the cell. Units is its work in epochs, or in steps with Steps.
	Job, Units int
	Steps      bool
	// Controller is the name of a registered control.Choice, Options what it is made from.
	Controller string
	Options    scheduler.ControllerOptions
	// Settings are those with which the job starts.
	Settings []scheduler.Setting
	// At returns the job at other settings; the error says why there is no such job. Without it no setting can change.
	At func(settings []scheduler.Setting) (Variant, error)
	// Losses and Accuracies are what a simulated job reports after each unit; what is missing is not reported.
	Losses, Accuracies []float64
}

// Variant is a job at some settings.
type Variant struct {
	// Threads and Roles are its request.
	Threads int
	Roles   []scheduler.Role
	// Launch is how it is started, if it runs for real. Live are the settings that its program takes on while it runs,
	// from its control file; it is started anew for others.
	Launch launch.Job
	Live   []string
	// Work is how long it takes in simulation.
	Work simulated.Scaling
}

// ErrSteered is returned when a cell with controllers is to be written down for another process.
var ErrSteered = errors.New("a cell with controllers runs within tfexp alone")

// Training is a real training of an adaptation, by what decides while it runs.
type Training struct {
	Folders
	// Study and Scenario are the indexes of the adaptation and of its scenario.
	Study, Scenario int
	Name            string
	Course          *adaptation.Course
	// Depends is what its result depends on beside its scenario: key lines.
	Depends []Line
}
