// Package network has the neural networks that the training programs train: layers, losses and optimizers, with gonum.
package network

import (
	"math/rand/v2"

	"github.com/tfexp/tfexp/jobs/digits"
)

// MaxParams is the greatest number of parameters of a network. It bounds memory, since each shard of a step has a
// gradient of this size.
const MaxParams = 1 << 23

// Network is a chain of layers, from the pixels of an image to a score for each digit, with its loss.
type Network struct {
	Layers []layer
	loss   loss
	// Ends has the index of each block's last layer, which is an activation.
	Ends []int
}

// Shape describes the layers of a network: convolutions, if it has filters, then hidden layers, then the layer of
// scores.
type Shape struct {
	Filters, Hidden []int
	// Depths has the number of layers in each block: first the convolutions, then the hidden layers.
	Depths     []int
	Activation string // tanh; any other value means relu
	Hinge      bool   // train with the hinge loss instead of cross entropy
}

// New returns a network with the given shape.
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
	// block adds a block: its first layer, and then further layers made by make.
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

// Params returns the number of parameters of all layers.
func (net Network) Params() int {
	total := 0
	for _, l := range net.Layers {
		w, b := l.Params()
		total += w + b
	}
	return total
}

// Products returns the number of multiplications in Forward for an image.
func (net Network) Products() int {
	total := 0
	for _, l := range net.Layers {
		total += l.Products()
	}
	return total
}

// Initialize returns random parameters. Each layer has a random stream that comes from the seed. The last layer is 0,
// so that no digit is preferred.
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

// Workspace is the memory in which one worker computes a shard, which is a part of a batch.
type Workspace struct {
	Values  [][]float64 // the input, followed by the output of each layer
	grads   [][]float64 // gradients of the loss by the values; nil for the input
	scratch [][]float64
}

// NewWorkspace returns a workspace for shards of up to n images.
func (net Network) NewWorkspace(n int) *Workspace {
	ws := &Workspace{Values: [][]float64{make([]float64, n*digits.Pixels)}, grads: [][]float64{nil}}
	for _, l := range net.Layers {
		ws.Values = append(ws.Values, make([]float64, n*l.outputs()))
		ws.grads = append(ws.grads, make([]float64, n*l.outputs()))
		ws.scratch = append(ws.scratch, make([]float64, l.scratch(n)))
	}
	return ws
}

// Forward returns the scores of the n images in ws.Values[0].
func (net Network) Forward(w []float64, ws *Workspace, n int) []float64 {
	at := 0
	for i, l := range net.Layers {
		weights, biases := l.Params()
		l.Forward(w[at:at+weights+biases], ws.Values[i], ws.Values[i+1], n, ws.scratch[i])
		at += weights + biases
	}
	return ws.Values[len(net.Layers)][:n*digits.Classes]
}

// Gradient returns the sum of the losses of the images in ws.Values[0], and writes the gradient by the parameters to
// dw. labels has the images' digits.
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

// Stream returns random numbers for one purpose. They depend only on the seed, the purpose's name and a number.
func Stream(seed uint64, name string, number int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, streamID(name, number)))
}

// streamID returns the second word of a stream's seed.
func streamID(name string, number int) uint64 {
	// FNV-1a hash of the name, then of the number.
	h := uint64(14695981039346656037)
	for _, b := range []byte(name) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return (h ^ uint64(number)) * 1099511628211
}

// A network is deepened by Net2DeeperNet (Chen, Goodfellow, Shlens: "Net2Net: Accelerating Learning via Knowledge
// Transfer", 2016). The new layer computes the identity on the output of an idempotent activation, so the network's
// output does not change.

// Identity sets the parameters w of a layer, which must be 0, such that its output is its input.
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
