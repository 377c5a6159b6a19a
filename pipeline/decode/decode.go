// Package decode reads experiment files. It has the tables of the language: its blocks, their arguments and the meaning
// of these. Blocks become values of package experiment, and the matrix becomes cells. Additions of engines, policies,
// trace formats, metrics, pictures and stages come from their registries, each time that a table is requested.
package decode

import (
	"path/filepath"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/stages/experiment"
	"github.com/tfexp/tfexp/stages/language"
)

// Decoder turns the blocks of one file into a Spec. Every method that decodes
// a block returns false when the block has an error (which is reported) or
// depends on something that has.
type Decoder struct {
	*language.Decoder
}

// Experiment decodes the blocks that are not part of a cell, if they do not
// depend on the cells.
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

// Views decodes the questions about the cells: comparisons, pictures, thresholds.
func (d *Decoder) Views(s *experiment.Spec) {
	s.Compares = d.compares(s.Cells)
	s.Plots = d.plots(s.Axes)
	s.Thresholds = d.thresholds(s.Cells)
	d.AfterCells(s)
}

// base is where relative paths of a file begin, absolute if possible.
func base(filename string) string {
	dir := filepath.Dir(filename)
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}
