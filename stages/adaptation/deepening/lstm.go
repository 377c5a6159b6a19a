package deepening

import "math"

// lstm is a layer of long short-term memory (S. Hochreiter and J. Schmidhuber, 1997) with hidden units. One dense layer
// reads the input and the last output. It returns the input, forget and output gates and the candidate.
type lstm struct {
	gates  dense
	hidden int
}

func newLSTM(at, in, hidden int) lstm {
	return lstm{gates: dense{at: at, in: in + hidden, out: 4 * hidden}, hidden: hidden}
}

func (l lstm) size() int { return l.gates.size() }

// lstmTrace has the values of a forward pass that the backward pass needs, one row for each step of the sequence.
type lstmTrace struct {
	input         [][]float64 // the input, followed by the last output
	gates         [][]float64 // after their activations: input, forget, output, candidate
	cell, outputs [][]float64
}

// forward runs the layer over a sequence. The outputs of the result have one row for each step.
func (l lstm) forward(w []float64, inputs [][]float64) *lstmTrace {
	t := &lstmTrace{}
	h := l.hidden
	cell, out := make([]float64, h), make([]float64, h)
	for _, x := range inputs {
		in := append(append(make([]float64, 0, l.gates.in), x...), out...)
		g := make([]float64, 4*h)
		l.gates.forward(w, in, g)
		next, y := make([]float64, h), make([]float64, h)
		for i := range h {
			g[i], g[h+i], g[2*h+i], g[3*h+i] = sigmoid(g[i]), sigmoid(g[h+i]), sigmoid(g[2*h+i]), math.Tanh(g[3*h+i])
			next[i] = g[h+i]*cell[i] + g[i]*g[3*h+i]
			y[i] = g[2*h+i] * math.Tanh(next[i])
		}
		t.input, t.gates = append(t.input, in), append(t.gates, g)
		t.cell, t.outputs = append(t.cell, next), append(t.outputs, y)
		cell, out = next, y
	}
	return t
}

// backward returns the gradient of the inputs, given the gradient of the outputs. It appends the factors of the
// weights' gradient to pairs.
func (l lstm) backward(w []float64, t *lstmTrace, dOut [][]float64, pairs *[]pair) [][]float64 {
	h := l.hidden
	width := l.gates.in - h
	dCell, dLast := make([]float64, h), make([]float64, h)
	dIn := make([][]float64, len(dOut))
	for s := len(dOut) - 1; s >= 0; s-- {
		g, dg := t.gates[s], make([]float64, 4*h)
		for i := range h {
			dy := dOut[s][i] + dLast[i]
			tc := math.Tanh(t.cell[s][i])
			dc := dCell[i] + dy*g[2*h+i]*(1-tc*tc)
			before := 0.0
			if s > 0 {
				before = t.cell[s-1][i]
			}
			dg[i] = dc * g[3*h+i] * g[i] * (1 - g[i])
			dg[h+i] = dc * before * g[h+i] * (1 - g[h+i])
			dg[2*h+i] = dy * tc * g[2*h+i] * (1 - g[2*h+i])
			dg[3*h+i] = dc * g[i] * (1 - g[3*h+i]*g[3*h+i])
			dCell[i] = dc * g[h+i]
		}
		dx := make([]float64, l.gates.in)
		l.gates.back(w, dg, dx)
		*pairs = append(*pairs, pair{t.input[s], dg})
		dIn[s] = dx[:width]
		copy(dLast, dx[width:])
	}
	return dIn
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
