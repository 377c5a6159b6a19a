// Package agent decides when to deepen a network that trains under a time budget, by a
// policy network that has learned it (REINFORCE): the controller "agent".
package agent

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// The sizes of the policy network.
const (
	embedding  = 16
	both       = 50 // units of each direction of the first LSTM
	encoded    = 16 // units of the second
	sines      = 8
	timeInputs = sines + 1
	wide       = 128
)

// State is what the agent sees at a decision.
type State struct {
	// Layers are the layers of the network that trains, from the input on, as numbers
	// of a vocabulary.
	Layers []int
	// Time is the part of the budget that is used, from 0 to 1.
	Time float64
}

// Network is the policy network: layers are embedded and read by a bidirectional LSTM and
// a second LSTM; its last output and the time decide, through two dense layers, between
// the actions.
type Network struct {
	Vocabulary, Actions int
	// Weights are all parameters, in the order of the layers.
	Weights []float64

	forth, back, second lstm
	hidden1, hidden2    dense
	logits              dense
}

// NewNetwork returns a network with random weights (uniform within ±1/√inputs) for a
// vocabulary of layers and a number of actions.
func NewNetwork(vocabulary, actions int, r *rand.Rand) *Network {
	n := &Network{Vocabulary: vocabulary, Actions: actions}
	n.Weights = make([]float64, n.layout())
	for i := range n.Weights[:vocabulary*embedding] {
		n.Weights[i] = r.NormFloat64()
	}
	draw := func(at, size, inputs int) {
		bound := 1 / math.Sqrt(float64(inputs))
		for i := range size {
			n.Weights[at+i] = bound * (2*r.Float64() - 1)
		}
	}
	for _, l := range []lstm{n.forth, n.back, n.second} {
		draw(l.gates.at, l.size(), l.hidden)
	}
	for _, d := range []dense{n.hidden1, n.hidden2, n.logits} {
		draw(d.at, d.size(), d.in)
	}
	return n
}

// layout places the layers in the weights and returns their number.
func (n *Network) layout() int {
	at := n.Vocabulary * embedding
	place := func(in, hidden int) lstm {
		l := newLSTM(at, in, hidden)
		at += l.size()
		return l
	}
	n.forth, n.back = place(embedding, both), place(embedding, both)
	n.second = place(2*both, encoded)
	full := func(in, out int) dense {
		d := dense{at: at, in: in, out: out}
		at += d.size()
		return d
	}
	n.hidden1 = full(encoded+timeInputs, wide)
	n.hidden2 = full(wide, wide)
	n.logits = full(wide, n.Actions)
	return at
}

// Restore returns the network that had these weights.
func Restore(vocabulary, actions int, weights []float64) (*Network, error) {
	n := &Network{Vocabulary: vocabulary, Actions: actions}
	if want := n.layout(); want != len(weights) {
		return nil, fmt.Errorf("agent: %d weights, want %d for %d layers and %d actions", len(weights), want, vocabulary, actions)
	}
	n.Weights = weights
	return n, nil
}

// Clone returns a copy that shares nothing.
func (n *Network) Clone() *Network {
	c := *n
	c.Weights = slices.Clone(n.Weights)
	return &c
}

// pass is a pass over one state, kept for the way back.
type pass struct {
	state               State
	forth, back, second *trail
	features            []float64 // the second LSTM's last output and the time
	first, secondLayer  []float64 // after ReLU
	logits              []float64
}

// timeFeatures are 5·sin(2πi·t) for i = 1 … 8, and t itself: the sines alone cannot tell
// 0, ½ and 1 apart.
func timeFeatures(out []float64, t float64) []float64 {
	for i := 1; i <= sines; i++ {
		out = append(out, 5*math.Sin(2*math.Pi*float64(i)*t))
	}
	return append(out, t)
}

// forward computes the logits of a state's actions.
func (n *Network) forward(s State) *pass {
	p := &pass{state: s}
	length := len(s.Layers)
	inputs := make([][]float64, length)
	for i, layer := range s.Layers {
		inputs[i] = n.Weights[layer*embedding : (layer+1)*embedding]
	}
	p.forth = n.forth.forward(n.Weights, inputs)
	reversed := slices.Clone(inputs)
	slices.Reverse(reversed)
	p.back = n.back.forward(n.Weights, reversed)
	joined := make([][]float64, length)
	for i := range joined {
		joined[i] = append(append(make([]float64, 0, 2*both), p.forth.outputs[i]...), p.back.outputs[length-1-i]...)
	}
	p.second = n.second.forward(n.Weights, joined)
	p.features = timeFeatures(slices.Clone(p.second.outputs[length-1]), s.Time)
	p.first, p.secondLayer, p.logits = make([]float64, wide), make([]float64, wide), make([]float64, n.Actions)
	n.hidden1.forward(n.Weights, p.features, p.first)
	rectify(p.first)
	n.hidden2.forward(n.Weights, p.first, p.secondLayer)
	rectify(p.secondLayer)
	n.logits.forward(n.Weights, p.secondLayer, p.logits)
	return p
}

func rectify(x []float64) {
	for i, v := range x {
		x[i] = max(v, 0)
	}
}

// backward adds the gradient of the weights, given that of the logits, to grad.
func (n *Network) backward(p *pass, dLogits, grad []float64) {
	d2, d1, df := make([]float64, wide), make([]float64, wide), make([]float64, encoded+timeInputs)
	n.logits.backward(n.Weights, p.secondLayer, dLogits, grad, d2)
	stop(d2, p.secondLayer)
	n.hidden2.backward(n.Weights, p.first, d2, grad, d1)
	stop(d1, p.first)
	n.hidden1.backward(n.Weights, p.features, d1, grad, df)
	length := len(p.state.Layers)
	dSecond := make([][]float64, length)
	for i := range dSecond {
		dSecond[i] = make([]float64, encoded)
	}
	copy(dSecond[length-1], df[:encoded])
	dJoined := n.second.backward(n.Weights, p.second, dSecond, grad)
	dForth, dBack := make([][]float64, length), make([][]float64, length)
	for i, d := range dJoined {
		dForth[i], dBack[length-1-i] = d[:both], d[both:]
	}
	inForth := n.forth.backward(n.Weights, p.forth, dForth, grad)
	inBack := n.back.backward(n.Weights, p.back, dBack, grad)
	for i, layer := range p.state.Layers {
		row := grad[layer*embedding : (layer+1)*embedding]
		axpy(1, inForth[i], row)
		axpy(1, inBack[length-1-i], row)
	}
}

// stop clears the gradient of units that rectify has cut off.
func stop(d, y []float64) {
	for i, v := range y {
		if v <= 0 {
			d[i] = 0
		}
	}
}

// Probabilities returns how likely each action is in a state, at a temperature: 1 as the
// network says, above it more evenly.
func (n *Network) Probabilities(s State, temperature float64) []float64 {
	return softmax(n.forward(s).logits, temperature)
}

func softmax(logits []float64, temperature float64) []float64 {
	most := slices.Max(logits)
	p := make([]float64, len(logits))
	sum := 0.0
	for i, v := range logits {
		p[i] = math.Exp((v - most) / temperature)
		sum += p[i]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}
