// Package check has the rules for parts that must fit together: jobs and
// hardware, policies and engines, blocks and the cells that use them. Each rule
// is written once.
package check

import (
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Checker finds mistakes that only whole cells show: requests beyond the
// hardware, policies that need a missing capability of an engine, blocks that
// change nothing.
type Checker struct {
	*eval.Reporter
	spec  *experiment.Spec
	facts experiments.HostFacts
	seen  map[[4]any]bool
	whole bool // every block that cells need is there
}

// New returns a checker of the cells of spec, which reports to r. Real hardware
// is checked against the facts of the host.
func New(r *eval.Reporter, spec *experiment.Spec, host experiments.HostFacts) *Checker {
	return &Checker{Reporter: r, spec: spec, facts: host, seen: map[[4]any]bool{}}
}

// Cells reports the mistakes in the cells of the matrix, each once, at its
// line.
func (c *Checker) Cells() {
	c.whole = !c.Failed()
	for _, cell := range c.allCells() {
		w, h, p := cell.Workload, cell.Hardware, cell.Policy
		if c.first(h) {
			c.onEngine(h)
		}
		if c.first(w) {
			c.late(w)
		}
		c.records(w, h)
		if h.Kind().Contained {
			c.inContainers(w, h)
		}
		if c.first(w, h) {
			for _, j := range w.JobBlocks() {
				c.elastic(j, h)
			}
			for _, submit := range w.Submits {
				if c.first(submit.Job, h) {
					c.clusterSpeed(submit.Job, h)
				}
			}
			c.resizes(w, h)
			c.targets(w, h)
		}
		c.programs(w, h)
		for _, submit := range w.Submits {
			if c.first(submit.Job, h, p.Divides()) {
				c.fits(submit.Job, h, p.Divides())
			}
		}
		if c.first(p, h) {
			c.pauses(p, h)
			c.divides(p, h)
			c.blind(p, h)
			c.oracle(p, h)
		}
		if c.first(w, h, p) {
			c.misfits(w, h, p)
			c.malleable(w, h, p)
			c.alternatives(w, p)
			c.lossCurves(w, p)
			c.provisioning(w, h, p)
			c.trains(w, h, p)
			c.requested(p, w)
			c.packing(w, h, p)
			c.profiling(w, h, p)
		}
	}
	if !c.Failed() {
		c.beyondSamples()
	}
}

// allCells are the cells of the matrix, and some of the trials of tunings.
func (c *Checker) allCells() []experiment.Cell {
	cells := slices.Clone(c.spec.Cells)
	for _, t := range c.spec.Tunings {
		cells = append(cells, t.Probes...)
	}
	for _, trained := range c.spec.Deepened {
		cells = append(cells, trained...)
	}
	return cells
}

// first reports whether a thing, or a combination of things, is checked for the first time.
func (c *Checker) first(what ...any) bool {
	var key [4]any
	copy(key[:], what)
	seen := c.seen[key]
	c.seen[key] = true
	return !seen
}

// fail reports an error.
func (c *Checker) fail(at experiments.Range, summary, detail string, args ...any) {
	c.Add(experiments.ErrorAt(at, summary, detail, args...))
}

// place returns where the file sets an argument, or else the block.
func place(at map[string]experiments.Range, argument string, block experiments.Range) experiments.Range {
	if r, ok := at[argument]; ok {
		return r
	}
	return block
}

// lacks reports that an engine lacks a needed capability.
func (c *Checker) lacks(at experiments.Range, h *experiment.Hardware, capability, need string) {
	summary, detail := lacking(h, capability, need)
	c.fail(at, summary, "%s", detail)
}

func lacking(h *experiment.Hardware, capability, need string) (summary, detail string) {
	summary = fmt.Sprintf("The engine of %q lacks %q", h.Name, capability)
	if slices.Contains(h.Lacks, capability) {
		return summary, fmt.Sprintf("%s, but the hardware %q says that its engine lacks %q.", need, h.Name, capability)
	}
	return summary, fmt.Sprintf("%s, but the engine %q of the hardware %q lacks %q.", need, h.Engine, h.Name,
		capability)
}
