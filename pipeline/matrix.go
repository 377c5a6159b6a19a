package pipeline

import (
	"context"
	"slices"

	"github.com/tfexp/tfexp/pipeline/instantiate"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/experiment"
)

// matrix holds the cells of an experiment's matrix. Selections, such as a bisection, hold back some cells until
// results show that they are needed.
type matrix struct {
	cells      []*instantiate.Cell
	given      []bool // by index of cells: it was added to the plan
	selections []stages.Selection
}

// newMatrix returns the matrix of spec with all its cells, none of them given yet.
func newMatrix(spec *experiment.Spec, cells []*instantiate.Cell) *matrix {
	m := &matrix{cells: cells, given: make([]bool, len(cells))}
	refs := make([]record.CellRef, len(cells))
	for i, c := range cells {
		refs[i] = c.Ref
	}
	experiment.EachPart(spec.Parts, func(p stages.SelectPart) {
		if s := p.Select(refs); s != nil {
			m.selections = append(m.selections, s)
		}
	})
	return m
}

// next returns the cells to add to the plan: first the cells that no selection holds back, then the cells that
// selections need.
func (m *matrix) next(over func(string) (record.Cell, bool)) (cells []*instantiate.Cell) {
	give := func(i int) {
		if !m.given[i] {
			m.given[i] = true
			cells = append(cells, m.cells[i])
		}
	}
	for i := range m.cells {
		if !slices.ContainsFunc(m.selections, func(s stages.Selection) bool { return s.Holds(i) }) {
			give(i)
		}
	}
	for _, s := range m.selections {
		for before := len(cells); len(cells) == before; { // another selection may have added the same cells
			needed := s.Next(over)
			if len(needed) == 0 {
				break
			}
			for _, i := range needed {
				give(i)
			}
		}
	}
	return cells
}

// Expect returns the results that parts of the file expect before the run.
func (p *Plan) Expect(ctx context.Context) (all []stages.Expectation) {
	known := stages.Known{Over: func(cell string) (c record.Cell, ok bool) {
		if i, planned := p.numbers[cell]; planned && p.Work[i].Reuse {
			return p.over(cell)
		}
		return c, false
	}}
	if e, ok := p.source.(*everything); ok {
		for _, c := range e.matrix.cells {
			known.Refs, known.Cells = append(known.Refs, c.Ref), append(known.Cells, c)
		}
	}
	experiment.EachPart(p.x.Spec.Parts, func(part stages.ExpectPart) {
		if one := part.Expect(ctx, known); one.Value != nil {
			all = append(all, one)
		}
	})
	return all
}

// ahead returns an upper bound on the number of cells that selections may still add.
func (m *matrix) ahead() (n int) {
	for _, s := range m.selections {
		n += s.Ahead()
	}
	return n
}
