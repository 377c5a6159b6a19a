package language

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Beyond creates cells beyond the matrix, from a feature's blocks of one kind.
type Beyond struct {
	// Kind is the name of the feature's block.
	Kind string
	// Names returns names that such a block adds to the axes. Other blocks can read them as each.<name>.
	Names func(*eval.Node) []string
	// Begin checks the blocks while the values of axes are unknown. add is called later, when the cells of the matrix
	// are known.
	Begin func(*Decoder, Matrix) (add func(*experiment.Spec))
}

// Matrix is the matrix of a file, for a feature that creates cells beyond it.
type Matrix interface {
	// Unknown is the scope in which the values of axes and added names are unknown.
	Unknown() *eval.Env
	// ReadAxis reports whether the matrix has an axis of this name, and marks the axis as read.
	ReadAxis(name string) bool
	// Decoded records that a block was decoded in the unknown scope. reports is the number of diagnostics before that.
	Decoded(n *eval.Node, reports int)
	// Broken reports whether a block has an error.
	Broken(*eval.Node) bool
	// Each calls visit once for each hardware and each combination of the axes that the hardware or one of the blocks
	// reads. If visit is nil, Each only marks these axes as read.
	Each(blocks []*eval.Node, visit func(Point))
}

// Point is a hardware block with values of axes.
type Point struct {
	Hardware *eval.Node
	Axes     []schema.Setting
	Values   map[string]cty.Value
}

// beyonds returns the extensions of files that create cells beyond the matrix.
func beyonds() (list []Beyond) {
	for _, x := range of(File) {
		if x.beyond.Begin != nil {
			list = append(list, x.beyond)
		}
	}
	return list
}

// NamesBeyond returns the names that a file's blocks add to the axes.
func NamesBeyond(root *eval.Node) (names []string) {
	for _, b := range beyonds() {
		for _, n := range root.All(b.Kind) {
			names = append(names, b.Names(n)...)
		}
	}
	return names
}

// Beyond lets features check the blocks from which they create cells. It returns the functions that add the cells.
func (d *Decoder) Beyond(m Matrix) (adds []func(*experiment.Spec)) {
	for _, b := range beyonds() {
		adds = append(adds, b.Begin(d, m))
	}
	return adds
}

// FirstCome returns the policy for cells beyond the matrix, which have one job each. n is the block that creates them.
func FirstCome(n *eval.Node) *experiment.Policy {
	p := &experiment.Policy{Name: "fcfs", Range: eval.RangeOf(n.Header), Estimates: "fitted",
		At: map[string]experiments.Range{}}
	p.Order = "fcfs"
	p.Policy = p.Complete()
	return p
}
