package stages

import (
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// Methods that the pipeline calls on parts of jobs (experiment.Parts). A part implements the ones that it needs.
type (
	// KeyPart adds lines to the keys of cells with the job. prefix is the beginning of their labels. A part of a cell
	// may implement it too.
	KeyPart interface{ KeyLines(prefix string) []KeyLine }
	// HeldPart adds lines about the resources that the job holds to the keys of cells and samples.
	HeldPart interface{ HeldLines(prefix string) []KeyLine }
	// WorkPart changes the simulated run time of a job.
	WorkPart interface{ Work(*simulated.Scaling) }
	// LaunchPart changes how the job's program is started, also in samples.
	LaunchPart interface{ Launch(*launch.Job) }
	// ProgramPart replaces the job's command. Program is the program's name, and ProgramLines are lines for keys.
	ProgramPart interface {
		Program() string
		ProgramLines(prefix string) []KeyLine
	}
	// OwnProgram is a ProgramPart whose program is a command of tfexp itself. If it runs in several parts, they have
	// the roles of the job contract.
	OwnProgram interface {
		ProgramPart
		// Arguments are the arguments with which tfexp runs it.
		Arguments() []string
		// Changeable returns the names of settings that can change during training.
		Changeable() []string
		// Deepens returns how many blocks of its network can be deepened during training; if none can, problem is the
		// reason.
		Deepens() (blocks int, problem string)
	}
	// ProgressPart reads the progress of programs that do not print the lines of the job contract. ProgressLines are
	// lines for keys.
	ProgressPart interface {
		Progress() launch.ProgressSource
		ProgressLines(prefix string) []KeyLine
	}
	// CellLaunchPart changes how the job's program is started in a cell, but not in samples.
	CellLaunchPart interface{ LaunchIn(*launch.Job) }
	// ForecastPart returns a forecast of the job's end from its reports, for policies with these estimates. It returns
	// nil if the estimates do not use it. real reports whether the job runs for real.
	ForecastPart interface {
		Forecast(j *experiment.Job, estimates string, real bool) EndForecast
	}
)

// Methods that the pipeline calls on parts of run times (experiment.Runtime.Parts).
type (
	// UnitPart has the time of a unit of the job alone on its request. It replaces experiment.Runtime.Epoch.
	UnitPart interface {
		UnitTime(*scheduler.Job) time.Duration
	}
	// CellWorkPart changes the work of a job in a cell, if it depends on the hardware or the policy.
	CellWorkPart interface {
		WorkIn(in experiment.Cell, block *experiment.Job, j *scheduler.Job, w *simulated.Scaling)
	}
	// TimesPart describes the time of units for keys. It replaces the unit's time and its speed-up.
	TimesPart interface{ Times() string }
)

// Property is a property of jobs: a block in job blocks whose values need no Go type. Values that the report needs are
// stored in the plan (see Ask).
type Property struct {
	Block *schema.Block
	// Request, Work and Launch work as experiment.RequestPart, WorkPart and LaunchPart. Each may be nil.
	Request func(schema.Settings, *scheduler.Job)
	Work    func(schema.Settings, *simulated.Scaling)
	Launch  func(schema.Settings, *launch.Job)
}

// property is the part of a job that has a property.
type property struct {
	of *Property
	schema.Settings
}

// RegisterProperty registers a property. It panics if one with the same block exists.
func RegisterProperty(p Property) *Property {
	language.Extend(p.Block.Name, language.Job, language.Extension[experiment.Job]{
		Blocks: func() []*schema.Block { return []*schema.Block{p.Block} },
		Decode: func(d *language.Decoder, b language.Block, j *experiment.Job) {
			for _, n := range b.Node.All(p.Block.Name) {
				j.Parts = append(j.Parts, property{&p, d.Values(n, b.Env)})
			}
		},
	})
	return &p
}

// Of returns the job's values of the property; false if the job lacks it.
func (p *Property) Of(j *experiment.Job) (schema.Settings, bool) {
	for _, part := range j.Parts {
		if own, ok := part.(property); ok && own.of == p {
			return own.Settings, true
		}
	}
	return schema.Settings{}, false
}

// KeyLines implements KeyPart.
func (p property) KeyLines(prefix string) []KeyLine { return p.Settings.Lines(prefix) }

// Request implements experiment.RequestPart.
func (p property) Request(j *scheduler.Job) {
	if p.of.Request != nil {
		p.of.Request(p.Settings, j)
	}
}

// Work implements WorkPart.
func (p property) Work(w *simulated.Scaling) {
	if p.of.Work != nil {
		p.of.Work(p.Settings, w)
	}
}

// Launch implements LaunchPart.
func (p property) Launch(j *launch.Job) {
	if p.of.Launch != nil {
		p.of.Launch(p.Settings, j)
	}
}
