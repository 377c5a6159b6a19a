package stages

import (
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Property is a property of jobs that a feature adds: a block within job blocks, and its effects on the jobs that
// have it. Its values are part of their keys; values for the report go into the plan (see Ask).
type Property struct {
	Block *schema.Block
	// Request changes the scheduler's view of a job, Work its run time from the one in the file, and Launch the
	// start of its program, in samples as well. Each may be nil.
	Request func(schema.Settings, *scheduler.Job)
	Work    func(schema.Settings, *simulated.Scaling)
	Launch  func(schema.Settings, *launch.Job)
}

// properties are by the names of their blocks.
var properties = map[string]*Property{}

// RegisterProperty adds a property. It panics when one with a block of that name exists.
func RegisterProperty(p Property) *Property {
	if properties[p.Block.Name] != nil {
		panic("stages: two properties of jobs are called " + p.Block.Name)
	}
	properties[p.Block.Name] = &p
	schema.BringInto("job", p.Block.Name, p.Block)
	return &p
}

// Of returns the values of the property that a job has; false for one without it.
func (p *Property) Of(j *experiment.Job) (schema.Settings, bool) {
	for _, v := range j.Properties {
		if v.Name == p.Block.Name {
			return v, true
		}
	}
	return schema.Settings{}, false
}

// EachProperty calls visit for each property that a job has, with its values.
func EachProperty(j *experiment.Job, visit func(*Property, schema.Settings)) {
	for _, v := range j.Properties {
		visit(properties[v.Name], v)
	}
}
