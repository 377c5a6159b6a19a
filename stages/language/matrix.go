package language

import (
	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/stages/experiment"
)

// FirstCome is the policy of cells beyond the matrix with one job each, for a block.
func FirstCome(n *eval.Node) *experiment.Policy {
	p := &experiment.Policy{Name: "fcfs", Range: eval.RangeOf(n.Header), Estimates: "fitted",
		At: map[string]experiments.Range{}}
	p.Order = "fcfs"
	p.Policy = p.Complete()
	return p
}
