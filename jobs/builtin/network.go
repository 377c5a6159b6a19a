package builtin

import (
	"math/rand/v2"

	"github.com/tfexp/tfexp/jobs/digits"
)

// network is a chain of layers from the pixels of an image to a score for
// each digit, and the loss that is trained on.
type network struct {
	layers []layer
	loss   loss
	// ends has, for each block, the index of its last layer, an activation.
	ends []int
}

// newNetwork builds the network of a program.
func newNetwork(c config) network {
	in := digits.Pixels
	net := network{loss: crossEntropy}
	add := func(l layer) {
		net.layers = append(net.layers, l)
		in = l.outputs()
	}
	depths := c.depths()
	// block adds a block: its first layer, and then layers of its size that make.
	block := func(first layer, make func() layer) {
		add(first)
		add(activation(c.activation, in))
		for range depths[len(net.ends)] - 1 {
			add(make())
			add(activation(c.activation, in))
		}
		net.ends = append(net.ends, len(net.layers)-1)
	}
	switch c.program {
	case "svm":
		net.loss = hinge
	case "cnn":
		side, channels := digits.Side, 1
		for i, filters := range c.filters {
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
	for _, units := range c.hidden {
		block(dense{in, units}, func() layer { return dense{units, units} })
	}
	add(dense{in, digits.Classes})
	return net
}

// params is the number of parameters of all layers.
func (net network) params() int {
	total := 0
	for _, l := range net.layers {
		w, b := l.params()
		total += w + b
	}
	return total
}

// products is the number of multiplications that forward makes for an image.
func (net network) products() int {
	total := 0
	for _, l := range net.layers {
		total += l.products()
	}
	return total
}

// initialize returns parameters drawn from the seed, each layer's from a
// stream of its own. The last layer starts at 0: no digit is favoured.
func (net network) initialize(seed uint64) []float64 {
	w := make([]float64, net.params())
	at := 0
	for i, l := range net.layers[:len(net.layers)-1] {
		weights, biases := l.params()
		l.initialize(w[at:at+weights], stream(seed, "weights", i))
		at += weights + biases
	}
	return w
}

// workspace is the memory in which one worker computes a shard.
type workspace struct {
	values  [][]float64 // the input, then each layer's output
	grads   [][]float64 // of the loss by values; none for the input
	scratch [][]float64
}

// newWorkspace makes room for shards of up to n images.
func (net network) newWorkspace(n int) *workspace {
	ws := &workspace{values: [][]float64{make([]float64, n*digits.Pixels)}, grads: [][]float64{nil}}
	for _, l := range net.layers {
		ws.values = append(ws.values, make([]float64, n*l.outputs()))
		ws.grads = append(ws.grads, make([]float64, n*l.outputs()))
		ws.scratch = append(ws.scratch, make([]float64, l.scratch(n)))
	}
	return ws
}

// forward returns the scores of the n images in ws.values[0].
func (net network) forward(w []float64, ws *workspace, n int) []float64 {
	at := 0
	for i, l := range net.layers {
		weights, biases := l.params()
		l.forward(w[at:at+weights+biases], ws.values[i], ws.values[i+1], n, ws.scratch[i])
		at += weights + biases
	}
	return ws.values[len(net.layers)][:n*digits.Classes]
}

// gradient returns the summed loss of the images in ws.values[0], of which
// labels has the digits, and leaves its gradient by the parameters in dw.
func (net network) gradient(w []float64, ws *workspace, labels []uint8, dw []float64) float64 {
	n := len(labels)
	scores := net.forward(w, ws, n)
	total := net.loss(scores, labels, ws.grads[len(net.layers)])
	end := len(w)
	for i := len(net.layers) - 1; i >= 0; i-- {
		weights, biases := net.layers[i].params()
		at := end - weights - biases
		net.layers[i].backward(w[at:end], ws.values[i], ws.values[i+1], ws.grads[i+1], ws.grads[i],
			dw[at:end], n, ws.scratch[i])
		end = at
	}
	return total
}

// stream is the random numbers for one purpose: they come from the seed, the
// purpose's name and a number, and from nothing else.
func stream(seed uint64, name string, number int) *rand.Rand {
	return rand.New(rand.NewPCG(seed, streamID(name, number)))
}

func streamID(name string, number int) uint64 {
	// FNV-1a over the name, then the number.
	h := uint64(14695981039346656037)
	for _, b := range []byte(name) {
		h = (h ^ uint64(b)) * 1099511628211
	}
	return (h ^ uint64(number)) * 1099511628211
}
