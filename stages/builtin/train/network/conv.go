package network

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
)

// In convolutional layers, values are ordered by channel: the first channels of all images, then their second channels,
// and so on. A row of a matrix product then has all pixels of a shard, which is fast.

// kernel is the width and height of filters, in pixels. Images are padded with zeros, so that they keep their size.
const kernel = 3

// conv is a two-dimensional convolution with square filters, computed as a matrix product: W (filters ×
// channels·kernel²) · columns. A column has the input pixels that one output pixel depends on.
type conv struct {
	channels, filters, side int
}

func (c conv) outputs() int { return c.filters * c.side * c.side }

// taps returns the number of inputs of one output pixel.
func (c conv) taps() int                            { return c.channels * kernel * kernel }
func (c conv) Params() (int, int)                   { return c.filters * c.taps(), c.filters }
func (c conv) Products() int                        { return c.outputs() * c.taps() }
func (c conv) Initialize(w []float64, r *rand.Rand) { heNormal(w, c.taps(), r) }
func (c conv) scratch(n int) int                    { return c.taps() * n * c.side * c.side }

func (c conv) Forward(w, x, y []float64, n int, columns []float64) {
	pixels := n * c.side * c.side
	c.each(func(row, channel, dy, dx int) {
		to := columns[row*pixels : (row+1)*pixels]
		c.shift(to, x[channel*pixels:(channel+1)*pixels], n, dy, dx)
	})
	for f, bias := range w[c.filters*c.taps():] {
		out := y[f*pixels : (f+1)*pixels]
		for i := range out {
			out[i] = bias
		}
	}
	multiply(blas.NoTrans, blas.NoTrans, matrix(c.filters, c.taps(), w), matrix(c.taps(), pixels, columns), 1,
		matrix(c.filters, pixels, y))
}

func (c conv) backward(w, _, _, dy, dx, dw []float64, n int, columns []float64) {
	pixels := n * c.side * c.side
	multiply(blas.NoTrans, blas.Trans, matrix(c.filters, pixels, dy), matrix(c.taps(), pixels, columns), 0,
		matrix(c.filters, c.taps(), dw))
	for f := range c.filters {
		sum := 0.0
		for _, g := range dy[f*pixels : (f+1)*pixels] {
			sum += g
		}
		dw[c.filters*c.taps()+f] = sum
	}
	if dx == nil {
		return
	}
	multiply(blas.Trans, blas.NoTrans, matrix(c.filters, c.taps(), w), matrix(c.filters, pixels, dy), 0,
		matrix(c.taps(), pixels, columns))
	clear(dx[:c.channels*pixels])
	c.each(func(row, channel, y, x int) {
		c.unshift(dx[channel*pixels:(channel+1)*pixels], columns[row*pixels:(row+1)*pixels], n, y, x)
	})
}

// each calls f for every row of the columns, with the row's channel and its distance from the output pixel.
func (c conv) each(f func(row, channel, dy, dx int)) {
	row := 0
	for channel := range c.channels {
		for ky := range kernel {
			for kx := range kernel {
				f(row, channel, ky-kernel/2, kx-kernel/2)
				row++
			}
		}
	}
}

// shift copies one channel of n images, moved by (dy, dx): to[y][x] =
// from[y+dy][x+dx], and 0 where that is outside of the image.
func (c conv) shift(to, from []float64, n, dy, dx int) {
	lo, hi := max(0, -dx), c.side-max(0, dx)
	for y := range n * c.side {
		row := to[y*c.side : (y+1)*c.side]
		if in := y%c.side + dy; in < 0 || in >= c.side {
			clear(row)
			continue
		}
		source := from[(y+dy)*c.side : (y+dy+1)*c.side]
		clear(row[:lo])
		for x := lo; x < hi; x++ {
			row[x] = source[x+dx]
		}
		clear(row[hi:])
	}
}

// unshift adds the transpose of shift: to[y+dy][x+dx] += from[y][x].
func (c conv) unshift(to, from []float64, n, dy, dx int) {
	lo, hi := max(0, -dx), c.side-max(0, dx)
	for y := range n * c.side {
		if in := y%c.side + dy; in < 0 || in >= c.side {
			continue
		}
		row, source := to[(y+dy)*c.side:(y+dy+1)*c.side], from[y*c.side:(y+1)*c.side]
		for x := lo; x < hi; x++ {
			row[x+dx] += source[x]
		}
	}
}

// pool returns the greatest of each 2×2 pixels.
type pool struct {
	channels, side int // of the input
}

func (p pool) outputs() int                       { return p.channels * p.side * p.side / 4 }
func (pool) Params() (int, int)                   { return 0, 0 }
func (pool) Initialize(_ []float64, _ *rand.Rand) {}
func (pool) Products() int                        { return 0 }
func (pool) scratch(int) int                      { return 0 }

func (p pool) Forward(_, x, y []float64, n int, _ []float64) {
	p.each(n, func(out, in int) {
		y[out] = max(x[in], x[in+1], x[in+p.side], x[in+p.side+1])
	})
}

func (p pool) backward(_, x, y, dy, dx, _ []float64, n int, _ []float64) {
	clear(dx[:n*p.channels*p.side*p.side])
	p.each(n, func(out, in int) {
		// Of equal pixels, the first gets the whole gradient.
		for _, i := range [4]int{in, in + 1, in + p.side, in + p.side + 1} {
			if x[i] == y[out] {
				dx[i] = dy[out]
				return
			}
		}
	})
}

// each calls f for every output pixel, with the index of the first of its four input pixels.
func (p pool) each(n int, f func(out, in int)) {
	half := p.side / 2
	out := 0
	for y := range n * p.channels * half {
		for x := range half {
			f(out, 2*y*p.side+2*x)
			out++
		}
	}
}

// flatten reorders values that are ordered by channel into one row for each image.
type flatten struct {
	channels, pixels int
}

func (f flatten) outputs() int                       { return f.channels * f.pixels }
func (flatten) Params() (int, int)                   { return 0, 0 }
func (flatten) Initialize(_ []float64, _ *rand.Rand) {}
func (flatten) Products() int                        { return 0 }
func (flatten) scratch(int) int                      { return 0 }

func (f flatten) Forward(_, x, y []float64, n int, _ []float64) {
	f.each(n, func(image, channel int) { copy(y[image:image+f.pixels], x[channel:channel+f.pixels]) })
}

func (f flatten) backward(_, _, _, dy, dx, _ []float64, n int, _ []float64) {
	f.each(n, func(image, channel int) { copy(dx[channel:channel+f.pixels], dy[image:image+f.pixels]) })
}

// each calls do for every channel of every image, with its offset in both orders.
func (f flatten) each(n int, do func(byImage, byChannel int)) {
	for c := range f.channels {
		for i := range n {
			do((i*f.channels+c)*f.pixels, (c*n+i)*f.pixels)
		}
	}
}
