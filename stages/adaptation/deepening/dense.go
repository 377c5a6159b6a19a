package deepening

// dense is a layer y = W·x + b with `in` inputs and `out` outputs. Its weights begin at index `at` of the network's
// weights: W row by row, then b.
type dense struct{ at, in, out int }

func (d dense) size() int { return d.out*d.in + d.out }

// row returns the weights of output o, one for each input.
func (d dense) row(w []float64, o int) []float64 { return w[d.at+o*d.in:][:d.in] }

// forward computes y. It computes four rows at a time, so that the processor can add their products in parallel.
func (d dense) forward(w, x, y []float64) {
	copy(y[:d.out], w[d.at+d.out*d.in:])
	o := 0
	for ; o+4 <= d.out; o += 4 {
		a, b, c, e := d.row(w, o), d.row(w, o+1), d.row(w, o+2), d.row(w, o+3)
		x := x[:len(a)]
		b, c, e = b[:len(a)], c[:len(a)], e[:len(a)]
		var s0, s1, s2, s3 float64
		for i, v := range x {
			s0 += v * a[i]
			s1 += v * b[i]
			s2 += v * c[i]
			s3 += v * e[i]
		}
		y[o] += s0
		y[o+1] += s1
		y[o+2] += s2
		y[o+3] += s3
	}
	for ; o < d.out; o++ {
		y[o] += dot(d.row(w, o), x)
	}
}

// back adds the gradient of the inputs to dx; dy is the gradient of the outputs.
func (d dense) back(w, dy, dx []float64) {
	combine(dy[:d.out], func(o int) []float64 { return d.row(w, o) }, dx[:d.in])
}

// pair is the input of a layer and the gradient of its output, for one step.
type pair struct{ x, dy []float64 }

// gradient adds the gradient of the weights over all pairs to dw. It writes each row of dw once for all pairs, which is
// faster than once for each pair.
func (d dense) gradient(pairs []pair, dw []float64) {
	by := make([]float64, len(pairs))
	for o := range d.out {
		sum := 0.0
		for i, p := range pairs {
			by[i] = p.dy[o]
			sum += p.dy[o]
		}
		dw[d.at+d.out*d.in+o] += sum
		combine(by, func(i int) []float64 { return pairs[i].x }, d.row(dw, o))
	}
}

// combine adds the rows to y, each multiplied by its factor in by. It skips rows with factor 0, and adds the others
// four at a time.
func combine(by []float64, row func(int) []float64, y []float64) {
	var rows [4][]float64
	var factors [4]float64
	n := 0
	for i, g := range by {
		if g == 0 {
			continue
		}
		rows[n], factors[n] = row(i), g
		if n++; n < 4 {
			continue
		}
		n = 0
		a, b, c, e := rows[0][:len(y)], rows[1][:len(y)], rows[2][:len(y)], rows[3][:len(y)]
		f0, f1, f2, f3 := factors[0], factors[1], factors[2], factors[3]
		for j := range y {
			y[j] += (f0*a[j] + f1*b[j]) + (f2*c[j] + f3*e[j])
		}
	}
	for i := range n {
		axpy(factors[i], rows[i][:len(y)], y)
	}
}

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

func axpy(g float64, x, y []float64) {
	for i, v := range x {
		y[i] += g * v
	}
}
