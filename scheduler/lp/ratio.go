package lp

import (
	"fmt"
	"math"
	"slices"
)

// Part is one job of a min-max ratio problem: it has the time x_j on each device type j.
type Part struct {
	// Speed is how fast it is on each type, in proportion to where it is fastest; it has no time where this is 0.
	Speed []float64
	// Uses is the number of devices of each type that it takes while it runs there.
	Uses []float64
	// Age is the time that has passed, Left the remaining time at full speed, and Whole the reference time of its
	// ratio; Left and Whole are positive.
	Age, Left, Whole float64
}

// LeastRatio divides the time of device types among jobs so that the greatest of the ratios
//
//	ρ_i = (Age_i + Left_i/Σ_j Speed_ij x_ij) / Whole_i,  with  x ≥ 0, Σ_j x_ij ≤ 1, Σ_i Uses_ij x_ij ≤ Limits_j,
//
// is the least possible one, to a relative 1e-8. Where several divisions are optimal it returns one near the
// middle: with t_i ≥ 1/speed_i as cones of second order the program is convex (min ρ with Age_i + Left_i t_i ≤ ρ
// Whole_i), and the division is near the middle of its optima, to which central paths lead. The path uses the pace
// σ = 1/ρ in place of ρ; a job must then be at least as fast as g_i(σ) = Left_i σ/(Whole_i − Age_i σ). As the best
// t_i is known for given speeds and σ, the point of the path that belongs to a weight minimizes
//
//	−weight·log σ − Σ_i (3/2·log(speed_i − g_i(σ)) − log speed_i)
//	   − Σ log x_ij − Σ_i log(1 − Σ_j x_ij) − Σ_j log(Limits_j − Σ_i Uses_ij x_ij),
//
// which Newton's method finds. The error wraps ErrNoOptimum.
func LeastRatio(parts []Part, limits []float64) (x [][]float64, ratio float64, err error) {
	if len(parts) == 0 {
		return nil, 0, nil
	}
	p, err := newPath(parts, limits)
	if err != nil {
		return nil, 0, err
	}
	for p.weight = p.terms; ; p.weight *= growth {
		p.centre()
		if p.terms <= exact*p.weight {
			return p.division(), 1 / p.pace, nil
		}
	}
}

const (
	// exact is by which part the greatest ratio may be above the least.
	exact = 1e-8
	// growth is the growth factor of the objective's weight per step.
	growth = 20
	// central is Newton's decrement with which a point counts as one of the path.
	central = 1e-7
	// mostCentring is the greatest number of steps for one weight. It ends steps that only rounding prolongs: of the
	// centres of 3,000 drawn divisions one took as many, and its decrement was 1.01e-7.
	mostCentring = 100
)

// path is a point near the central path of a least ratio, and a step from it.
type path struct {
	limits []float64
	blocks []ratioBlock
	free   []float64 // of each limit
	pace   float64   // σ
	weight float64   // the weight of log σ
	terms  float64   // of the barrier: log σ is within these, over the weight, of the optimum

	dpace  float64
	shared dense // of σ and the limits
}

// ratioBlock is a job in a path, with the types alone that it can run on.
type ratioBlock struct {
	*Part
	types       []int
	speed, uses []float64
	x, dx       []float64
	idle        float64 // 1 − Σ x
	fast        float64 // Σ speed·x
	spare       float64 // fast − g(σ)
	need, grows float64 // the first and the second derivative of g

	chol   []float64 // of its part of Newton's matrix
	border []float64 // chol⁻¹ times the columns of σ and of its types
}

// newPath returns a point with all inequalities strict, halfway to an even division.
func newPath(parts []Part, limits []float64) (*path, error) {
	p := &path{
		limits: slices.Clone(limits), blocks: make([]ratioBlock, len(parts)), free: make([]float64, len(limits)),
		shared: newDense(len(limits) + 1), terms: float64(len(limits)),
	}
	demand := make([]float64, len(limits))
	for i := range parts {
		b := &p.blocks[i]
		b.Part = &parts[i]
		for j, s := range b.Speed {
			if s > 0 && limits[j] > 0 {
				b.types, b.speed, b.uses = append(b.types, j), append(b.speed, s), append(b.uses, b.Uses[j])
				demand[j] += b.Uses[j]
			}
		}
		n := len(b.types)
		if n == 0 || !(b.Left > 0) || !(b.Whole > 0) {
			return nil, fmt.Errorf("%w: job %d can run nowhere, or has nothing left", ErrNoOptimum, i)
		}
		b.x, b.dx, b.chol, b.border = make([]float64, n), make([]float64, n), make([]float64, n*n), make([]float64, n*(n+1))
		p.terms += float64(n) + 3
	}
	ratio := 0.0
	for i := range p.blocks {
		b := &p.blocks[i]
		for k, j := range b.types {
			b.x[k] = min(1/float64(len(b.types)), limits[j]/demand[j]) / 2
		}
		ratio = max(ratio, 2*(b.Age+b.Left/dot(b.speed, b.x))/b.Whole)
	}
	p.pace = 1 / ratio
	for j, d := range demand {
		if d == 0 {
			p.limits[j] = 1 // no job asks for it
		}
	}
	p.settle()
	return p, nil
}

// settle computes the values that follow from x and σ, and reports whether all inequalities are strict.
func (p *path) settle() bool {
	copy(p.free, p.limits)
	strict := p.pace > 0
	for i := range p.blocks {
		b := &p.blocks[i]
		b.idle, b.fast = 1, 0
		for k, x := range b.x {
			strict = strict && x > 0
			b.idle -= x
			b.fast += b.speed[k] * x
			p.free[b.types[k]] -= b.uses[k] * x
		}
		until := b.Whole - b.Age*p.pace
		b.spare = b.fast - b.Left*p.pace/until
		b.need = b.Left * b.Whole / (until * until)
		b.grows = 2 * b.need * b.Age / until
		strict = strict && b.idle > 0 && until > 0 && b.spare > 0
	}
	for _, f := range p.free {
		strict = strict && f > 0
	}
	return strict
}

// centre goes to the point of the path for the present weight, as near as rounding lets it.
func (p *path) centre() {
	for range mostCentring {
		decrement := p.newton()
		if !(decrement > central) || !p.search() {
			return
		}
	}
}

// newton sets the step dx, dσ of Newton's method, and returns its decrement: minus the slope of the objective
// along it. With λ_j the product of the step and the gradient of the free part of limit j, over its square, the
// matrix is made of the jobs' blocks, bordered by σ and by λ.
func (p *path) newton() float64 {
	p.shared.clear()
	right := p.shared.right
	clear(right)
	for j, f := range p.free {
		p.shared.add(j+1, j+1, -f*f)
	}
	slope := -p.weight / p.pace // by σ
	p.shared.add(0, 0, p.weight/(p.pace*p.pace))
	for i := range p.blocks {
		b := &p.blocks[i]
		p.eliminate(b)
		slope += 1.5 * b.need / b.spare
		n := len(b.x)
		for k := range n {
			for c := range n + 1 {
				right[b.column(c)] -= b.border[k*(n+1)+c] * b.dx[k]
			}
		}
	}
	right[0] -= slope
	p.shared.factor()
	p.shared.solve()
	p.dpace = right[0]
	decrement := -slope * p.dpace
	for i := range p.blocks {
		b := &p.blocks[i]
		n := len(b.x)
		for k := range n {
			for c := range n + 1 {
				b.dx[k] -= b.border[k*(n+1)+c] * right[b.column(c)]
			}
		}
		backward(b.chol, n, b.dx)
		for k := range n {
			decrement -= p.slope(b, k) * b.dx[k]
		}
	}
	return decrement
}

// column is the place of a column of the border in the shared system.
func (b *ratioBlock) column(c int) int {
	if c == 0 {
		return 0
	}
	return b.types[c-1] + 1
}

// slope returns the derivative of the objective with respect to the time on the kth type.
func (p *path) slope(b *ratioBlock, k int) float64 {
	return (1/b.fast-1.5/b.spare)*b.speed[k] - 1/b.x[k] + 1/b.idle + b.uses[k]/p.free[b.types[k]]
}

// eliminate takes the block of a job apart, and leaves chol⁻¹ times minus the gradient in dx.
func (p *path) eliminate(b *ratioBlock) {
	n := len(b.x)
	bend := 1.5/(b.spare*b.spare) - 1/(b.fast*b.fast)
	mixed := -1.5 * b.need / (b.spare * b.spare)
	for k := range n {
		for t := range k + 1 {
			b.chol[k*n+t] = bend*b.speed[k]*b.speed[t] + 1/(b.idle*b.idle)
		}
		b.chol[k*n+k] += 1 / (b.x[k] * b.x[k])
		row := b.border[k*(n+1) : (k+1)*(n+1)]
		clear(row)
		row[0], row[k+1] = mixed*b.speed[k], b.uses[k]
		b.dx[k] = -p.slope(b, k)
	}
	cholesky(b.chol, n)
	forward(b.chol, n, b.dx, 1)
	for c := range n + 1 {
		forward(b.chol, n, b.border[c:], n+1)
	}
	p.shared.add(0, 0, 1.5*(b.need*b.need/b.spare+b.grows)/b.spare)
	for c := range n + 1 {
		for d := range c + 1 {
			sum := 0.0
			for k := range n {
				sum += b.border[k*(n+1)+c] * b.border[k*(n+1)+d]
			}
			p.shared.add(max(b.column(c), b.column(d)), min(b.column(c), b.column(d)), -sum)
		}
	}
}

// search takes a step, a little longer or shorter than which is no better. It reports whether there was one.
func (p *path) search() bool {
	before, pace := p.barrier(), p.pace
	at := 0.0
	gain := func(step float64) float64 {
		p.move(step - at)
		at = step
		if !p.settle() {
			return math.Inf(-1)
		}
		return before - p.barrier() + p.weight*math.Log1p(step*p.dpace/pace)
	}
	best, most := 0.0, 0.0
	for step := 1.0; step > 1e-10; step /= 2 {
		g := gain(step)
		if g <= most && best > 0 {
			break
		}
		if g > most {
			best, most = step, g
		}
	}
	gain(best)
	return best > 0
}

func (p *path) move(step float64) {
	p.pace += step * p.dpace
	for i := range p.blocks {
		b := &p.blocks[i]
		for k, d := range b.dx {
			b.x[k] += step * d
		}
	}
}

// barrier returns the objective without the weighted log σ.
func (p *path) barrier() float64 {
	sum := 0.0
	for i := range p.blocks {
		b := &p.blocks[i]
		sum -= 1.5*math.Log(b.spare) - math.Log(b.fast) + math.Log(b.idle)
		for _, x := range b.x {
			sum -= math.Log(x)
		}
	}
	for _, f := range p.free {
		sum -= math.Log(f)
	}
	return sum
}

func (p *path) division() [][]float64 {
	out := make([][]float64, len(p.blocks))
	for i := range p.blocks {
		b := &p.blocks[i]
		out[i] = make([]float64, len(p.limits))
		for k, x := range b.x {
			out[i][b.types[k]] = x
		}
	}
	return out
}
