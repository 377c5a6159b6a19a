package stages

import (
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/launch"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Property is a property of jobs that a feature brings: a block within job blocks, and what it changes of the jobs that
// have it. Its values are part of their keys; what a report needs of them goes into the plan (see Ask).
type Property struct {
	Block *schema.Block
	// Request changes what the scheduler knows of a job, Work how long it takes by the run time that the file gives it,
	// and Launch how its program is started, in samples as well. Each may be nil.
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
