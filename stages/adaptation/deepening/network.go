// The policy network of the controller "agent". It learns by REINFORCE when to deepen a network that trains under a
// time budget.

package deepening

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
	encoded    = 16 // units of the second LSTM
	sines      = 8
	timeInputs = sines + 1
	wide       = 128
)

// DecisionState is the input of an agent at a decision.
type DecisionState struct {
	// Layers are the layers of the network in training, from its input on. A number identifies a layer; see
	// OutcomeTable.Layers.
	Layers []int
	// Time is the part of the budget that is used, from 0 to 1.
	Time float64
}

// Network is the policy network. It embeds the layers and reads them by a bidirectional LSTM and a second LSTM. Two
// dense layers compute the actions' logits from the last output and the time.
type Network struct {
	Vocabulary, Actions int
	// Weights are all weights of the network, layer by layer.
	Weights []float64

	forth, back, second lstm
	hidden1, hidden2    dense
	logits              dense
}

// NewNetwork returns a network with random weights, uniform within ±1/√inputs. vocabulary is the number of different
// layers that it can read.
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

// layout sets the offset of each layer in the weights, and returns the number of weights.
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

// RestoreNetwork returns a network with the given weights.
func RestoreNetwork(vocabulary, actions int, weights []float64) (*Network, error) {
	n := &Network{Vocabulary: vocabulary, Actions: actions}
	if want := n.layout(); want != len(weights) {
		return nil, fmt.Errorf("agent: %d weights, want %d for %d layers and %d actions", len(weights), want, vocabulary,
			actions)
	}
	n.Weights = weights
	return n, nil
}

// Clone returns a copy with its own weights.
func (n *Network) Clone() *Network {
	c := *n
	c.Weights = slices.Clone(n.Weights)
	return &c
}

// layerReading has the values of the LSTMs' forward pass over a network's layers, which the backward pass needs.
type layerReading struct {
	layers              []int
	forth, back, second *lstmTrace
	// slope is the gradient of the loss by the reading's output, which is the last output of the second LSTM. It is the
	// sum over all states with these layers.
	slope []float64
}

// output returns the output of the LSTMs for the layers.
func (r *layerReading) output() []float64 { return r.second.outputs[len(r.layers)-1] }

// pass has the values of the forward pass for one state, which the backward pass needs.
type pass struct {
	reading            *layerReading
	features           []float64 // output of the LSTMs, and the features of the time
	first, secondLayer []float64 // outputs of the dense layers, after ReLU
	logits             []float64
}

// timeFeatures sets out to 5·sin(2πi·t) for i = 1 … 8, and t. The sines alone do not distinguish 0, ½ and 1.
func timeFeatures(out []float64, t float64) []float64 {
	for i := 1; i <= sines; i++ {
		out = append(out, 5*math.Sin(2*math.Pi*float64(i)*t))
	}
	return append(out, t)
}

// read runs the LSTMs over the layers of a network.
func (n *Network) read(layers []int) *layerReading {
	r := &layerReading{layers: layers, slope: make([]float64, encoded)}
	length := len(layers)
	inputs := make([][]float64, length)
	for i, layer := range layers {
		inputs[i] = n.Weights[layer*embedding : (layer+1)*embedding]
	}
	r.forth = n.forth.forward(n.Weights, inputs)
	reversed := slices.Clone(inputs)
	slices.Reverse(reversed)
	r.back = n.back.forward(n.Weights, reversed)
	joined := make([][]float64, length)
	for i := range joined {
		joined[i] = append(append(make([]float64, 0, 2*both), r.forth.outputs[i]...), r.back.outputs[length-1-i]...)
	}
	r.second = n.second.forward(n.Weights, joined)
	return r
}

// forward computes the logits of the actions in a state whose layers were read.
func (n *Network) forward(r *layerReading, time float64) *pass {
	p := &pass{reading: r}
	p.features = timeFeatures(append(make([]float64, 0, encoded+timeInputs), r.output()...), time)
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

// backwardPass collects the factors of the weights' gradients, layer by layer.
type backwardPass struct {
	n                                                 *Network
	logits, hidden2, hidden1, forth, backward, second []pair
}

// pass runs the backward pass of one state, from the gradient of its logits to the slope of its reading.
func (w *backwardPass) pass(p *pass, dLogits []float64) {
	n := w.n
	d2, d1, df := make([]float64, wide), make([]float64, wide), make([]float64, encoded+timeInputs)
	n.logits.back(n.Weights, dLogits, d2)
	stop(d2, p.secondLayer)
	n.hidden2.back(n.Weights, d2, d1)
	stop(d1, p.first)
	n.hidden1.back(n.Weights, d1, df)
	axpy(1, df[:encoded], p.reading.slope)
	w.logits = append(w.logits, pair{p.secondLayer, dLogits})
	w.hidden2 = append(w.hidden2, pair{p.first, d2})
	w.hidden1 = append(w.hidden1, pair{p.features, d1})
}

// reading runs the backward pass of the LSTMs, after all states with these layers. It adds the gradient of the
// embeddings to grad.
func (w *backwardPass) reading(r *layerReading, grad []float64) {
	n, length := w.n, len(r.layers)
	dSecond := make([][]float64, length)
	nothing := make([]float64, encoded)
	for i := range dSecond {
		dSecond[i] = nothing
	}
	dSecond[length-1] = r.slope
	dJoined := n.second.backward(n.Weights, r.second, dSecond, &w.second)
	dForth, dBack := make([][]float64, length), make([][]float64, length)
	for i, d := range dJoined {
		dForth[i], dBack[length-1-i] = d[:both], d[both:]
	}
	inForth := n.forth.backward(n.Weights, r.forth, dForth, &w.forth)
	inBack := n.back.backward(n.Weights, r.back, dBack, &w.backward)
	for i, layer := range r.layers {
		row := grad[layer*embedding : (layer+1)*embedding]
		axpy(1, inForth[i], row)
		axpy(1, inBack[length-1-i], row)
	}
}

// end adds the gradients of the weights to grad.
func (w *backwardPass) end(grad []float64) {
	n := w.n
	n.logits.gradient(w.logits, grad)
	n.hidden2.gradient(w.hidden2, grad)
	n.hidden1.gradient(w.hidden1, grad)
	n.second.gates.gradient(w.second, grad)
	n.forth.gates.gradient(w.forth, grad)
	n.back.gates.gradient(w.backward, grad)
}

// stop sets the gradient of units to 0 where ReLU has set their output to 0.
func stop(d, y []float64) {
	for i, v := range y {
		if v <= 0 {
			d[i] = 0
		}
	}
}

// Probabilities returns the probability of each action in a state. A temperature above 1 makes them more equal; 1
// changes nothing.
func (n *Network) Probabilities(s DecisionState, temperature float64) []float64 {
	return softmax(n.forward(n.read(s.Layers), s.Time).logits, temperature)
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
