// Package decode reads experiment files. It has the tables of the language: its blocks, their arguments and the
// meaning of each. It turns blocks into values of package experiment, and the matrix into cells. Registries add the
// engines, policies, trace formats, metrics, pictures and stages; decode reads the registries each time a table is
// requested.
package decode

import (
	"path/filepath"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// Decoder turns the blocks of one file into a Spec. Methods that decode a block return false after an error, which
// they have reported, and when the block depends on a block with an error.
type Decoder struct {
	*language.Decoder
}

// Experiment decodes the blocks that are not part of a cell and do not depend on the cells.
func (d *Decoder) Experiment() *experiment.Spec {
	s := &experiment.Spec{}
	if n := d.Root.First("experiment"); n != nil {
		a := d.Decode(n, d.Global, s)
		s.Name, s.Range = n.Label, eval.RangeOf(n.Header)
		d.DecodeInto(s, language.Experiment, language.Block{Args: a, Env: d.Global})
	}
	s.Lenient, s.Profile, s.Estimate, s.Stages = d.Lenient, d.profile(), d.estimate(), d.stages()
	d.DecodeInto(s, language.File, language.Block{Args: d.EvalArgs(d.Root, d.Global), Env: d.Global})
	return s
}

// Views decodes the blocks that evaluate the cells: comparisons, pictures, thresholds.
func (d *Decoder) Views(s *experiment.Spec) {
	s.Compares = d.compares(s.Cells)
	s.Plots = d.plots(s.Axes)
	s.Thresholds = d.thresholds(s.Cells)
	d.AfterCells(s)
}

// base returns the folder to which relative paths in a file refer, absolute if possible.
func base(filename string) string {
	dir := filepath.Dir(filename)
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}
