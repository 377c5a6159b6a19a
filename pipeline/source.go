package pipeline

import (
	"encoding/json"

	"github.com/tfexp/tfexp/pipeline/realise"
	"github.com/tfexp/tfexp/pipeline/search"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
)

// Source gives the cells of an experiment, some of which may follow from the
// results of others.
type Source interface {
	// Next returns cells that were not there before, in the order in which they
	// stand in results; none when there are no more. It is called first before
	// anything has run, and again when all cells so far are over: over then returns
	// what a cell left that finished or failed.
	Next(over func(cell string) (record.Cell, bool)) ([]*realise.Cell, error)
}

// matrix is the source of all points of an experiment's matrix, at once.
type matrix struct{ x *realise.Experiment }

func (m *matrix) Next(func(string) (record.Cell, bool)) ([]*realise.Cell, error) {
	if m.x == nil {
		return nil, nil
	}
	cells := m.x.Cells()
	m.x = nil
	return cells, nil
}

// tuners is the source of an experiment with tunings: all points of its matrix,
// and trial after trial of each search.
type tuners struct {
	*matrix
	searches *search.Searches
}

func (t *tuners) Next(over func(string) (record.Cell, bool)) ([]*realise.Cell, error) {
	cells, err := t.matrix.Next(over)
	if err != nil {
		return nil, err
	}
	trials, err := t.searches.Next(over)
	return append(cells, trials...), err
}

// over reads what a cell left that is complete.
func (p *Plan) over(cell string) (c record.Cell, ok bool) {
	if at, ok := p.sharded(cell); ok {
		l, err := p.shards.Line(at)
		ok = err == nil && json.Unmarshal(l.Result, &c) == nil
		return c, ok
	}
	err := folder.ReadJSON(p.folder(cell), &c, record.CellFile)
	return c, err == nil
}

// ask asks the source for more cells, and adds them to the plan. It returns the
// indexes of the first and of the one after the last.
func (p *Plan) ask() (from, to int, err error) {
	from = len(p.Cells)
	if p.exhausted {
		return from, from, nil
	}
	cells, err := p.source.Next(p.over)
	if err != nil {
		return from, from, err
	}
	if _, ok := p.source.(*matrix); ok || len(cells) == 0 {
		p.exhausted = true
	}
	p.x.Added(cells)
	refs := make([]record.CellRef, len(cells))
	for i, c := range cells {
		k, err := c.Key()
		if err != nil {
			return from, from, err
		}
		c.Ref.Key = k.Hash()
		refs[i] = c.Ref
		p.numbers[c.Ref.Cell] = from + i
		p.keys = append(p.keys, k)
	}
	p.cells = append(p.cells, cells...)
	p.Cells = append(p.Cells, refs...)
	p.Work = append(p.Work, make([]CellWork, len(cells))...)
	for _, i := range realise.RunOrder(p.Seed, refs) {
		p.RunOrder = append(p.RunOrder, from+i)
	}
	return from, len(p.Cells), nil
}

// plan asks the source for cells and looks them up, until one of them has to run:
// what follows from its results is not known before.
func (p *Plan) askAll(v store.View, onDisk map[string]bool) error {
	for {
		from, to, err := p.ask()
		if err != nil || from == to {
			return err
		}
		if p.lookUpCells(v, from, to, onDisk) {
			return nil
		}
	}
}

// lookUpCells finds out which cells are there already, and reports whether some
// are not.
func (p *Plan) lookUpCells(v store.View, from, to int, onDisk map[string]bool) (some bool) {
	for i := from; i < to; i++ {
		p.Work[i] = p.lookUpCell(v, i, onDisk)
		delete(onDisk, p.Cells[i].Cell)
		if p.Work[i].Reuse {
			// What follows from a trial is known once it is back from the cache.
			some = some || p.Cells[i].Trial != nil && !record.Intact(p.folder(p.Cells[i].Cell))
			continue
		}
		some = true
		for _, h := range p.cells[i].Needs() {
			p.needed[h] = true
		}
	}
	return some
}
