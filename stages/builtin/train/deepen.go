package train

import (
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/stages/builtin/train/network"
)

// deepenable returns the reason why block i of a network cannot be deepened; nil if it can.
func (c config) deepenable(i int) error {
	depths := c.depths()
	switch {
	case i < 0 || i > len(depths):
		return refusal(fmt.Sprintf("there is no block %d: the network has %d, counted from 0", i, len(depths)))
	case c.activation == "tanh":
		return refusal("its activation is tanh: an added layer keeps the output unchanged only with relu")
	case depths[i] >= maxDepth:
		return refusal(fmt.Sprintf("block %d has %d layers already", i, depths[i]))
	}
	return nil
}

// deepen adds a layer that computes the identity to block i. The new layer starts with the initial state of the
// optimizer; other layers keep theirs. Callers handle −1 and the number of blocks, which mean no layer.
func (tr *trainer) deepen(i int) error {
	c := tr.config
	if err := c.deepenable(i); err != nil {
		return err
	}
	c.blocks = slices.Clone(c.depths())
	c.blocks[i]++
	next := network.New(c.shape())
	if n := next.Params(); n > network.MaxParams {
		return refusal(fmt.Sprintf("the network would have %d parameters; at most %d are "+
			"allowed", n, network.MaxParams))
	}
	at := tr.net.Ends[i] + 1 // index of the new layer; its activation follows it
	offset, s := 0, &tr.state
	for _, l := range tr.net.Layers[:at] {
		weights, biases := l.Params()
		offset += weights + biases
	}
	weights, biases := next.Layers[at].Params()
	fresh := make([]float64, weights+biases)
	s.M = slices.Insert(slices.Clone(s.M), offset, fresh...)
	if s.V != nil {
		s.V = slices.Insert(slices.Clone(s.V), offset, fresh...)
	}
	network.Identity(next.Layers[at], fresh)
	s.Weights = slices.Insert(slices.Clone(s.Weights), offset, fresh...)
	if s.Born == nil {
		s.Born = make([]int, len(tr.net.Layers))
	}
	s.Born = slices.Insert(slices.Clone(s.Born), at, s.Steps, s.Steps)
	s.Blocks = c.blocks
	if c.restartRate > 0 {
		s.Rate, s.RateEpoch = c.restartRate, s.epochs(c.passes)
	}
	tr.restore(*s)
	return nil
}

// nothing reports whether an action adds no layer: −1, or the number of blocks.
func (c config) nothing(block int) bool { return block == -1 || block == len(c.depths()) }

// deepen implements training.
func (l local) deepen(block int) (contract.Deepened, error) {
	if len(l.config.depths()) == 0 {
		return contract.Deepened{},
			refusal("the network has no block: no layer can be added after its last linear layer")
	}
	if l.config.nothing(block) {
		return contract.Deepened{}, nil
	}
	before := l.accuracy()
	if err := l.trainer.deepen(block); err != nil {
		return contract.Deepened{}, err
	}
	return contract.Deepened{
		Block: block, Layers: l.state.Blocks[block], AccuracyBefore: before, AccuracyAfter: l.accuracy(),
	}, nil
}
