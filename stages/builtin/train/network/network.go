// Package network is the networks that the training programs train: layers, the
// losses and the optimizers, on gonum.
package network

import (
	"math/rand/v2"

	"github.com/tfexp/tfexp/jobs/digits"
)

// MaxParams bounds a network: each of a step's shards has a gradient as large.
const MaxParams = 1 << 23

// Network is a chain of layers from the pixels of an image to a score for
// each digit, and the loss that is trained on.
type Network struct {
	Layers []layer
	loss   loss
	// Ends has, for each block, the index of its last layer, an activation.
	Ends []int
}

// Shape lists the layers of a network: convolutions, where it has filters, then
// hidden layers, then a score for each digit.
type Shape struct {
	Filters, Hidden []int
	// Depths is the number of layers in each block: convolutions, then hidden layers.
	Depths     []int
	Activation string // tanh; anything else: relu
	Hinge      bool   // trained on the hinge loss, not on cross entropy
}

// New builds the network of a shape.
func New(s Shape) Network {
	in := digits.Pixels
	net := Network{loss: crossEntropy}
	if s.Hinge {
		net.loss = hinge
	}
	add := func(l layer) {
		net.Layers = append(net.Layers, l)
		in = l.outputs()
	}
	// block adds a block: its first layer, and then layers of its size that make.
	block := func(first layer, make func() layer) {
		add(first)
		add(activation(s.Activation, in))
		for range s.Depths[len(net.Ends)] - 1 {
			add(make())
			add(activation(s.Activation, in))
		}
		net.Ends = append(net.Ends, len(net.Layers)-1)
	}
	if len(s.Filters) > 0 {
		side, channels := digits.Side, 1
		for i, filters := range s.Filters {
			size := side
			block(conv{channels, filters, size}, func() layer { return conv{filters, filters, size} })
			if i == 0 {
				add(pool{filters, side})
				side /= 2
			}
			channels = filters
		}
		add(flatten{channels, side * side})
	}
	for _, units := range s.Hidden {
		block(dense{in, units}, func() layer { return dense{units, units} })
	}
	add(dense{in, digits.Classes})
	return net
}

// Params is the number of parameters of all layers.
func (net Network) Params() int {
	total := 0
	for _, l := range net.Layers {
		w, b := l.Params()
		total += w + b
	}
	return total
}

// Products is the number of multiplications that forward makes for an image.
func (net Network) Products() int {
	total := 0
	for _, l := range net.Layers {
		total += l.Products()
	}
	return total
}

// Initialize returns parameters drawn from the seed, with a separate random
// stream for each layer. The last layer starts at 0: no digit is favored.
func (net Network) Initialize(seed uint64) []float64 {
	w := make([]float64, net.Params())
	at := 0
	for i, l := range net.Layers[:len(net.Layers)-1] {
		weights, biases := l.Params()
		l.Initialize(w[at:at+weights], Stream(seed, "weights", i))
		at += weights + biases
	}
	return w
}

// Workspace is the memory in which one worker computes a shard.
type Workspace struct {
	Values  [][]float64 // the input, then each layer's output
	grads   [][]float64 // of the loss by values; none for the input
	scratch [][]float64
}

// NewWorkspace makes room for shards of up to n images.
func (net Network) NewWorkspace(n int) *Workspace {
	ws := &Workspace{Values: [][]float64{make([]float64, n*digits.Pixels)}, grads: [][]float64{nil}}
	for _, l := range net.Layers {
		ws.Values = append(ws.Values, make([]float64, n*l.outputs()))
		ws.grads = append(ws.grads, make([]float64, n*l.outputs()))
		ws.scratch = append(ws.scratch, make([]float64, l.scratch(n)))
	}
	return ws
}

// Forward returns the scores of the n images in ws.values[0].
func (net Network) Forward(w []float64, ws *Workspace, n int) []float64 {
	at := 0
	for i, l := range net.Layers {
		weights, biases := l.Params()
		l.Forward(w[at:at+weights+biases], ws.Values[i], ws.Values[i+1], n, ws.scratch[i])
		at += weights + biases
	}
	return ws.Values[len(net.Layers)][:n*digits.Classes]
}

// Gradient returns the summed loss of the images in ws.values[0], whose digits
// are in labels. It writes the gradient with respect to the parameters to dw.
func (net Network) Gradient(w []float64, ws *Workspace, labels []uint8, dw []float64) float64 {
	n := len(labels)
	scores := net.Forward(w, ws, n)
	total := net.loss(scores, labels, ws.grads[len(net.Layers)])
	end := len(w)
	for i := len(net.Layers) - 1; i >= 0; i-- {
		weights, biases := net.Layers[i].Params()
		at := end - weights - biases
		net.Layers[i].backward(w[at:end], ws.Values[i], ws.Values[i+1], ws.grads[i+1], ws.grads[i],
			dw[at:end], n, ws.scratch[i])
		end = at
	}
	return total
}

// Stream is the random numbers for one purpose: they come from the seed, the
// purpose's name and a number, and from nothing else.
func Stream(seed uint64, name string, number int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, streamID(name, number)))
}

// streamID is the second word of a stream's seed.
func streamID(name string, number int) uint64 {
	// FNV-1a over the name, then the number.
	h := uint64(14695981039346656037)
	for _, b := range []byte(name) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return (h ^ uint64(number)) * 1099511628211
}

// A network is deepened as in Chen, Goodfellow, Shlens: "Net2Net: Accelerating
// Learning via Knowledge Transfer" (2016), Net2DeeperNet: the new layer computes
// the identity on the output of an idempotent activation, so the network's
// output does not change.

// Identity fills the parameters of a layer, which are 0, so that its outputs
// are its inputs.
func Identity(l layer, w []float64) {
	switch l := l.(type) {
	case dense:
		for i := range l.out {
			w[i*l.out+i] = 1
		}
	case conv:
		const centre = kernel * kernel / 2
		for f := range l.filters {
			w[f*l.taps()+f*kernel*kernel+centre] = 1
		}
	}
}
