package instantiate

import (
	"math"

	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Add makes a cell outside the matrix, such as a trial of a search.
func (x *Experiment) Add(b stages.Beyond) *Cell {
	x.placeBeyond(&b.Point)
	c := x.cell(b.Point, b.Name, b.Replicate)
	c.Ref.Axes, c.Ref.Beyond, c.Place = b.Axes, b.Kept, math.MaxInt
	return c
}

// placeBeyond replaces the job blocks of a cell outside the matrix by separate ones if its hardware is not this
// machine. placed does the same for the matrix.
func (x *Experiment) placeBeyond(c *experiment.Cell) {
	if !c.Hardware.Real() || c.Hardware.Kind().Here {
		return
	}
	placed, places := placed(&experiment.Spec{Cells: []experiment.Cell{*c}})
	*c = placed.Cells[0]
	for j, p := range places {
		if j.Container != nil {
			p.Image = x.images[imageOn{j.Container.Image, p.On.Name}]
		}
		x.places[j] = p
	}
}

// complete lets the features that take part in the cell extend its task.
func (c *Cell) complete(task *stages.Task, dirs stages.Folders) (err error) {
	at := func(point experiment.Cell) (stages.Task, error) {
		c.x.placeBeyond(&point)
		other := &Cell{x: c.x, point: point, Ref: c.Ref}
		return other.Task(dirs)
	}
	experiment.EachPart(c.Parts, func(p stages.CellPart) {
		if err == nil {
			err = p.Complete(task, at)
		}
	})
	return err
}

// beyondAt identifies a point outside the matrix by its origin.
type beyondAt struct {
	workload *experiment.Workload
	hardware *experiment.Hardware
	policy   *experiment.Policy
}

// Beyond implements stages.Experiment.
func (x *Experiment) Beyond(c experiment.Cell, name string, depends []stages.KeyLine, dirs stages.Folders) (stages.Task,
	string, error) {
	of := beyondAt{c.Workload, c.Hardware, c.Policy}
	placed, ok := x.beyond[of]
	if !ok {
		placed = c
		x.placeBeyond(&placed)
		x.beyond[of] = placed
	}
	cell := x.cell(placed, name, 1)
	k, err := cell.Key()
	if err != nil {
		return stages.Task{}, "", err
	}
	k.AddAll(depends)
	task, err := cell.Task(dirs)
	return task, k.Description(), err
}
