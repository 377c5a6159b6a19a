package language

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Beyond is how a feature makes cells beyond the matrix, from blocks of a kind.
type Beyond struct {
	// Kind is the name of the feature's block.
	Kind string
	// Names are the names that such a block adds to those of the axes, for other blocks to read as each.<name>.
	Names func(*eval.Node) []string
	// Begin checks the blocks while the values of axes are not known. add is called later, when the cells of the matrix
	// are known.
	Begin func(*Decoder, Matrix) (add func(*experiment.Spec))
}

// Matrix is the matrix of a file, as a feature sees it that makes cells beyond it.
type Matrix interface {
	// Unknown is the scope in which the values of axes, and of added names, are not known.
	Unknown() *eval.Env
	// ReadAxis reports whether the matrix has an axis of a name, which then counts as read.
	ReadAxis(name string) bool
	// Decoded notes that a block was decoded in the unknown scope, and that the file had this number of reports before.
	Decoded(n *eval.Node, reports int)
	// Broken reports whether a block has an error.
	Broken(*eval.Node) bool
	// Each calls visit at each hardware and the values of the axes that it or one of the blocks reads, each combination
	// once. Without visit, these axes count as read alone.
	Each(blocks []*eval.Node, visit func(Point))
}

// Point is a hardware block at values of axes.
type Point struct {
	Hardware *eval.Node
	Axes     []schema.Setting
	Values   map[string]cty.Value
}

// beyonds are the extensions of files that make cells beyond the matrix.
func beyonds() (list []Beyond) {
	for _, x := range of(File) {
		if x.beyond.Begin != nil {
			list = append(list, x.beyond)
		}
	}
	return list
}

// NamesBeyond are the names that blocks of a file add to those of the axes.
func NamesBeyond(root *eval.Node) (names []string) {
	for _, b := range beyonds() {
		for _, n := range root.All(b.Kind) {
			names = append(names, b.Names(n)...)
		}
	}
	return names
}

// Beyond lets features check the blocks from which they make cells, and returns what adds these.
func (d *Decoder) Beyond(m Matrix) (adds []func(*experiment.Spec)) {
	for _, b := range beyonds() {
		adds = append(adds, b.Begin(d, m))
	}
	return adds
}

// FirstCome is the policy of cells beyond the matrix with one job each, for a block.
func FirstCome(n *eval.Node) *experiment.Policy {
	p := &experiment.Policy{Name: "fcfs", Range: eval.RangeOf(n.Header), Estimates: "fitted",
		At: map[string]experiments.Range{}}
	p.Order = "fcfs"
	p.Policy = p.Complete()
	return p
}
