package decode

import (
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/pipeline/experiment"
)

// matrixKinds are the axes that every matrix has.
var matrixKinds = []string{"workload", "hardware", "policy"}

// matrix is the matrix block with its axes evaluated.
type matrix struct {
	*eval.Reporter
	root     *eval.Node
	node     *eval.Node // the matrix block, or an empty one
	global   *eval.Env
	blocks   *Decoder
	axes     []*axis
	factors  [][]int // axes that advance together, the first factor slowest
	excludes []*exclude
	includes []*eval.Node
}

// Expanded is what a matrix comes to: its cells in the order of the file, each
// once, the searches for settings, and the names of the axes that they read.
type Expanded struct {
	Cells   []experiment.Cell
	Tunings []*experiment.Tuning
	Axes    []string
}

// Expand expands a file's matrix. Errors are reported to r.
func Expand(r *eval.Reporter, root *eval.Node, global *eval.Env, blocks *Decoder) Expanded {
	m := &matrix{Reporter: r, root: root, node: root.First("matrix"), global: global, blocks: blocks}
	if m.node == nil {
		m.node = &eval.Node{}
	}
	good := m.declareAxes()
	x := newExpander(m)
	if !good {
		return Expanded{}
	}
	points, good := m.points()
	if !good {
		return Expanded{}
	}
	cells, tunings := x.expand(points), x.tunings(points)
	return Expanded{cells, tunings, x.axesRead()}
}
