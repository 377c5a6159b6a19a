package lp

import (
	"fmt"
	"math"
	"slices"
)

// Part is one job of the problem that LeastRatio solves. The job gets the time x_j on each device type j.
type Part struct {
	// Speed has the speed of the job on each type, relative to the fastest type. If it is 0, the job gets no time on
	// the type.
	Speed []float64
	// Uses has the number of devices of each type that the job uses while it runs on them.
	Uses []float64
	// Age is the time since the arrival, Left the remaining time at full speed, and Whole the time with which the
	// ratio is formed. Left and Whole are greater than 0.
	Age, Left, Whole float64
}

// LeastRatio divides the time of device types among jobs. It minimizes the greatest ratio ρ_i, with a relative error
// of 1e-8:
//
//	ρ_i = (Age_i + Left_i/Σ_j Speed_ij x_ij) / Whole_i,  with  x ≥ 0, Σ_j x_ij ≤ 1, Σ_i Uses_ij x_ij ≤ Limits_j.
//
// If several divisions are optimal, it returns one near their middle. With t_i ≥ 1/speed_i as second-order cones,
// the program is convex: min ρ with Age_i + Left_i t_i ≤ ρ Whole_i. The method follows its central path, which leads
// to the middle of the optima.
//
// Instead of ρ, the path uses the pace σ = 1/ρ. A job must then have at least the speed g_i(σ) = Left_i σ/(Whole_i −
// Age_i σ). The best t_i is known for given speeds and σ. So the point of the path for a weight minimizes
//
//	−weight·log σ − Σ_i (3/2·log(speed_i − g_i(σ)) − log speed_i)
//	   − Σ log x_ij − Σ_i log(1 − Σ_j x_ij) − Σ_j log(Limits_j − Σ_i Uses_ij x_ij).
//
// Newton's method finds this point. The error wraps ErrNoOptimum.
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
	// exact is the greatest relative error of the result.
	exact = 1e-8
	// growth is the factor by which the weight grows in each step.
	growth = 20
	// central is the Newton decrement below which a point counts as a point of the path.
	central = 1e-7
	// mostCentring is the greatest number of Newton steps for one weight; the last of them may only fight rounding.
	// Of 3,000 random problems, one needed them all, and its decrement was 1.01e-7.
	mostCentring = 100
)

// path is a point near the central path, and a step from it.
type path struct {
	limits []float64
	blocks []ratioBlock
	free   []float64 // free amount of each limit
	pace   float64   // σ = 1/ρ
	weight float64   // factor of log σ in the objective
	terms  float64   // log σ is at most terms/weight below the optimum

	dpace  float64
	shared dense // for σ and the limits
}

// ratioBlock is the state of one job, for the device types on which it can run.
type ratioBlock struct {
	*Part
	types       []int
	speed, uses []float64
	x, dx       []float64
	idle        float64 // 1 − Σ x
	fast        float64 // Σ speed·x
	spare       float64 // fast − g(σ)
	need, grows float64 // first and second derivative of g

	chol   []float64 // Cholesky factor of the job's part of the Newton matrix
	border []float64 // chol⁻¹ × the columns of σ and of the job's types
}

// newPath returns a start: a point at which all inequalities are strict, halfway to an even division.
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
			return nil, fmt.Errorf("%w: job %d cannot run on any device, or has no remaining work", ErrNoOptimum, i)
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
			p.limits[j] = 1 // no job uses this type
		}
	}
	p.settle()
	return p, nil
}

// settle computes all values that depend on x and σ. It reports whether all inequalities are strict.
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

// centre moves to the point of the path for the present weight, as precisely as rounding allows.
func (p *path) centre() {
	for range mostCentring {
		decrement := p.newton()
		if !(decrement > central) || !p.search() {
			return
		}
	}
}

// newton computes the Newton step dx, dσ. It returns the Newton decrement: minus the slope of the objective along
// the step. The unknown λ_j is the gradient of the free amount of limit j times the step, divided by the square of
// this amount. The matrix has a block for each job, with a border for σ and λ.
func (p *path) newton() float64 {
	p.shared.clear()
	right := p.shared.right
	clear(right)
	for j, f := range p.free {
		p.shared.add(j+1, j+1, -f*f)
	}
	slope := -p.weight / p.pace // derivative with respect to σ
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

// column returns the index in the shared system of a column of the border.
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

// eliminate factors the matrix of a job. It stores chol⁻¹ × the negative gradient in dx.
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

// search takes a step whose length is about the best. It returns false if no step makes the objective smaller.
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

// barrier returns the objective without the term of log σ.
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
