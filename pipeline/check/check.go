// Package check has rules on how parts of an experiment fit together: jobs and hardware, policies and engines, blocks
// and the cells that use them. Each rule is written once.
package check

import (
	"slices"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// Checker finds mistakes that are visible only in a cell, where workload, hardware and policy meet. It applies the
// rules of the core and the rules that features have registered.
type Checker struct{ *language.Checker }

// New returns a checker of the cells of spec. It reports mistakes to r and compares real hardware with the facts of
// the host.
func New(r *eval.Reporter, spec *experiment.Spec, host experiments.HostFacts) *Checker {
	return &Checker{language.NewChecker(r, spec, host)}
}

// Cells reports the mistakes in the cells of the matrix, each once, at its
// line.
func (c *Checker) Cells() {
	c.Whole = !c.Failed()
	for _, cell := range c.allCells() {
		w, h, p := cell.Workload, cell.Hardware, cell.Policy
		if c.First(h) {
			c.onEngine(h)
		}
		if c.First(w) {
			c.submissionEnd(w)
		}
		c.records(w, h)
		if h.Kind().Contained {
			c.inContainers(w, h)
		}
		if c.First(w, h) {
			c.resizes(w, h)
		}
		c.programs(w, h)
		for _, submit := range w.Submits {
			if c.First(submit.Job, h, p.Divides()) {
				c.jobCapacity(submit.Job, h, p.Divides())
			}
		}
		if c.First(p, h) {
			c.pauses(p, h)
			c.jobDivision(p, h)
			c.gpuAssumptions(p, h)
			c.oracle(p, h)
		}
		if c.First(w, h, p) {
			c.misfits(w, h, p)
			c.malleable(w, h, p)
			c.alternatives(w, p)
			c.requested(p, w)
		}
		c.Check(cell)
	}
	if !c.Failed() {
		c.beyondSamples()
	}
}

// allCells returns the cells of the matrix and examples of cells of searches.
func (c *Checker) allCells() []experiment.Cell {
	cells := slices.Clone(c.Spec.Cells)
	c.Spec.EachProbe(func(probe experiment.Cell) { cells = append(cells, probe) })
	return cells
}
