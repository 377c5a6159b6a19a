package decode

import (
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/stages/experiment"
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

// expand turns the matrix into cells without repetitions, in the order of the file. It lets features add their cells,
// and stores the names of the axes that the cells read.
func (d *Decoder) expand(spec *experiment.Spec) {
	m := &matrix{Reporter: d.Reporter, root: d.Root, node: d.Root.First("matrix"), global: d.Global, blocks: d}
	if m.node == nil {
		m.node = &eval.Node{}
	}
	good := m.declareAxes()
	x := newExpander(m)
	beyond := &beyond{expander: x}
	more := d.Beyond(beyond)
	if !good {
		return
	}
	if points, good := m.points(); good {
		spec.Cells, beyond.points = x.expand(points), points
		for _, add := range more {
			add(spec)
		}
		spec.Axes = x.axesRead()
	}
}
