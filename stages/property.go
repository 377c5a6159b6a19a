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

// The methods of parts of jobs (experiment.Parts) that the pipeline asks for. A part has those that it needs.
type (
	// KeyPart has lines for the keys of cells with the job; prefix begins their labels. A part of a cell may have it too.
	KeyPart interface{ KeyLines(prefix string) []KeyLine }
	// HeldPart has lines for the keys of samples and cells about what the job holds.
	HeldPart interface{ HeldLines(prefix string) []KeyLine }
	// WorkPart changes the run time that the file gives a job in simulation.
	WorkPart interface{ Work(*simulated.Scaling) }
	// LaunchPart changes how the job's program is started, in samples as well.
	LaunchPart interface{ Launch(*launch.Job) }
	// ProgramPart takes the place of the job's command. Program is its name; ProgramLines are its lines for
	// keys.
	ProgramPart interface {
		Program() string
		ProgramLines(prefix string) []KeyLine
	}
	// OwnProgram is a ProgramPart whose program is a command of tfexp itself. Where it runs in several parts, these have the
	// roles of the contract between tfexp and programs.
	OwnProgram interface {
		ProgramPart
		// Arguments are the arguments of tfexp that run it.
		Arguments() []string
		// Changeable are the settings that can change while it trains.
		Changeable() []string
		// Deepens returns how many blocks of its network can be deepened while it trains; problem says why
		// none can be.
		Deepens() (blocks int, problem string)
	}
	// ProgressPart is how the job's program reports its progress, besides the lines of the job contract; ProgressLines are
	// its lines for keys.
	ProgressPart interface {
		Progress() launch.ProgressSource
		ProgressLines(prefix string) []KeyLine
	}
	// CellLaunchPart changes how the job's program is started in a cell, and not in samples.
	CellLaunchPart interface{ LaunchIn(*launch.Job) }
	// ForecastPart forecasts the ends of jobs from their reports, for policies with a source of estimates; nil where
	// the source does not ask for it. real says that the jobs' programs run.
	ForecastPart interface {
		Forecast(j *experiment.Job, estimates string, real bool) EndForecast
	}
)

// The methods of parts of run times (experiment.Runtime.Parts) that the pipeline asks for.
type (
	// UnitPart has the time of a unit of a job alone on its request, in place of experiment.Runtime.Epoch.
	UnitPart interface {
		UnitTime(*scheduler.Job) time.Duration
	}
	// CellWorkPart changes the work of a job of a block in a cell, where it depends on the hardware or the policy.
	CellWorkPart interface {
		WorkIn(in experiment.Cell, block *experiment.Job, j *scheduler.Job, w *simulated.Scaling)
	}
	// TimesPart describes how long units take, for keys, in place of the unit's time and its speed-up.
	TimesPart interface{ Times() string }
)

// Property is a property of jobs that is a block within job blocks, whose values need no Go type. Values for
// the report go into the plan (see Ask).
type Property struct {
	Block *schema.Block
	// Request, Work and Launch are as in experiment.RequestPart, WorkPart and LaunchPart. Each may be nil.
	Request func(schema.Settings, *scheduler.Job)
	Work    func(schema.Settings, *simulated.Scaling)
	Launch  func(schema.Settings, *launch.Job)
}

// property is the part of a job that has a property.
type property struct {
	of *Property
	schema.Settings
}

// RegisterProperty adds a property. It panics when one with a block of that name exists.
func RegisterProperty(p Property) *Property {
	language.Extend(p.Block.Name, language.Job, language.Extension[experiment.Job]{
		Blocks: func() []*schema.Block { return []*schema.Block{p.Block} },
		Decode: func(d *language.Decoder, b language.Block, j *experiment.Job) {
			for _, n := range b.Node.All(p.Block.Name) {
				j.Parts = append(j.Parts, property{&p, d.Values(n, b.Env, true)})
			}
		},
	})
	return &p
}

// Of returns the values of the property that a job has; false for one without it.
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
