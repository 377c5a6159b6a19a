package analysis

import (
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
)

// Palette gives policies and classes of jobs their places among the colors: the same in all pictures of an experiment,
// in its report and in its window.
type Palette struct{ Policies, Classes []string }

// PaletteOf is the palette of an experiment. Policies are in the order of the plan; where there are more of them than
// colors, the best and the baseline come first. Classes are in the order of their names.
func PaletteOf(e *record.Experiment) Palette {
	var p Palette
	for _, o := range e.Plan.Policies {
		p.Policies = append(p.Policies, o.Name)
	}
	if len(p.Policies) > table.Hues {
		best, _ := BestPolicies(e.Plan, Variants(e), table.Hues)
		p.Policies = union(best, p.Policies)
	}
	for _, c := range e.Cells {
		for _, g := range c.Groups {
			if g.By == "class" && !slices.Contains(p.Classes, g.Name) {
				p.Classes = append(p.Classes, g.Name)
			}
		}
	}
	slices.Sort(p.Classes)
	return p
}

// Policy is the place of a policy.
func (p *Palette) Policy(name string) int { return locate(&p.Policies, name) }

// Class is the place of a class; classes that no cell counts come last.
func (p *Palette) Class(name string) int { return locate(&p.Classes, name) }

func locate(list *[]string, name string) int {
	*list = union(*list, []string{name})
	return slices.Index(*list, name)
}

// union appends to a list the members of another that it lacks.
func union(list, others []string) []string {
	for _, o := range others {
		list = schema.AddOnce(list, o)
	}
	return list
}
