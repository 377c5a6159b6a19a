// Package matrix expands the matrix of a file: axes into points, points into
// cells. The blocks of a cell are evaluated by what implements Blocks.
package matrix

import (
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
)

// matrixKinds are the axes that every matrix has.
var matrixKinds = []string{"workload", "hardware", "policy"}

// Blocks evaluates the blocks of a cell. Its methods return false when the block
// has an error, which is reported, or depends on something that has.
type Blocks interface {
	Job(*eval.Node, *eval.Env) (*experiments.Job, bool)
	Workload(*eval.Node, *eval.Env) (Draft, bool)
	Hardware(*eval.Node, *eval.Env) (*experiments.Hardware, bool)
	Policy(*eval.Node, *eval.Env) (*experiments.Policy, bool)
	Tune(*eval.Node, *eval.Env) (*Tune, bool)
	// Measured returns the settings that the table of a job with recorded outcomes
	// has, with a value for each name; nil for other jobs. RecordedSettings are the
	// settings by which such a job chooses its row.
	Measured(job *eval.Node, e *eval.Env, names []string) [][]string
	RecordedSettings(job *eval.Node, e *eval.Env) []string
}

// Draft is a workload whose jobs are known by name only, because they may read
// axes that the workload itself does not read.
type Draft interface {
	// Jobs returns the names of the job blocks, some more than once.
	Jobs() []string
	// With returns the workload with its jobs: one for each name.
	With(jobs []*experiments.Job) *experiments.Workload
}

// matrix is the matrix block with its axes evaluated.
type matrix struct {
	*eval.Reporter
	root     *eval.Node
	node     *eval.Node // the matrix block, or an empty one
	global   *eval.Env
	blocks   Blocks
	axes     []*axis
	factors  [][]int // axes that advance together, the first factor slowest
	excludes []*exclude
	includes []*eval.Node
}

// Expanded is what a matrix comes to: its cells in the order of the file, each
// once, the searches for settings, and the names of the axes that they read.
type Expanded struct {
	Cells   []experiments.Cell
	Tunings []*experiments.Tuning
	Axes    []string
}

// Expand expands a file's matrix. Errors are reported to r.
func Expand(r *eval.Reporter, root *eval.Node, global *eval.Env, blocks Blocks) Expanded {
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
