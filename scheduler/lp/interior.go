package lp

import (
	"fmt"
	"math"
)

// solver is a primal-dual interior point method with predictor and corrector (S. Mehrotra, SIAM Journal on
// Optimization 2, 1992). The rows have slacks w and duals y, and the variables have duals v. From a point with x, w,
// y, v > 0, each step goes towards a solution of
//
//	G x + w = h,   Gᵀ y − v = c,   x·v = w·y = μ,
//
// for a μ that decreases to 0. Variables and rows are stored block after block. The shared variable z is the last
// variable, and the limits are the last rows.
type solver struct {
	p    *Problem
	vars []int32 // index of the first variable of each block, and the number of all
	rows []int32
	n, m int // numbers of variables and rows in all
	k    int // number of limits
	c, h []float64
	iterate
	step
	targets
	scaleC  float64
	scaleH  float64
	factors []factor
	shared  dense // for z and the duals of limits
	best    best
}

// iterate is the present point.
type iterate struct {
	x, v []float64 // variables, and their duals
	w, y []float64 // slacks and duals of the rows
}

// step is the change of each part of the iterate.
type step struct{ dx, dv, dw, dy []float64 }

// targets are the residuals that a step should remove.
type targets struct {
	rd, rp []float64
	rx, rw []float64 // wanted changes of the products x·v and w·y
}

// factor is the part of the linear system that belongs to one block.
type factor struct {
	chol   []float64 // Cholesky factor of the block's matrix, lower triangle
	border []float64 // chol⁻¹ × the columns of z and of the block's limits
	limits []int32   // indexes of the block's limits
}

func newSolver(p *Problem) *solver {
	s := &solver{p: p, k: len(p.Limits)}
	s.vars, s.rows = make([]int32, len(p.Blocks)+1), make([]int32, len(p.Blocks)+1)
	sizes := 0
	all := make([]int32, s.k) // indexes of all limits
	for l := range all {
		all[l] = int32(l)
	}
	s.factors = make([]factor, len(p.Blocks))
	for i := range p.Blocks {
		b := &p.Blocks[i]
		limits := b.Limits
		if limits == nil {
			limits = all
		}
		s.factors[i].limits = limits
		s.vars[i+1] = s.vars[i] + int32(len(b.Gain))
		s.rows[i+1] = s.rows[i] + int32(len(b.Rows))
		sizes += len(b.Gain) * (len(b.Gain) + len(limits) + 1)
	}
	s.n, s.m = int(s.vars[len(p.Blocks)])+1, int(s.rows[len(p.Blocks)])+s.k
	space := make([]float64, 6*s.n+7*s.m+sizes)
	take := func(n int) []float64 {
		part := space[:n:n]
		space = space[n:]
		return part
	}
	s.c, s.x, s.v, s.dx, s.dv, s.rd = take(s.n), take(s.n), take(s.n), take(s.n), take(s.n), take(s.n)
	s.h, s.w, s.y, s.dw, s.dy, s.rp = take(s.m), take(s.m), take(s.m), take(s.m), take(s.m), take(s.m)
	s.rw = take(s.m)
	s.rx = make([]float64, s.n)
	for i := range p.Blocks {
		b := &p.Blocks[i]
		copy(s.c[s.vars[i]:], b.Gain)
		for r := range b.Rows {
			s.h[int(s.rows[i])+r] = b.Rows[r].Most
		}
		d := len(b.Gain)
		f := &s.factors[i]
		f.chol, f.border = take(d*d), take(d*(len(f.limits)+1))
	}
	s.c[s.n-1] = p.Gain
	copy(s.h[s.m-s.k:], p.Limits)
	s.shared = newDense(s.k + 1)
	s.scaleC, s.scaleH = 1+norm(s.c), 1+norm(s.h)
	return s
}

// times calls f for each nonzero coefficient: a is the coefficient of a variable in a row.
func (s *solver) times(f func(row, variable int, a float64)) {
	z := s.n - 1
	for i := range s.p.Blocks {
		b := &s.p.Blocks[i]
		at, row := int(s.vars[i]), int(s.rows[i])
		for r := range b.Rows {
			for j, a := range b.Rows[r].X {
				f(row+r, at+j, a)
			}
			f(row+r, z, b.Rows[r].Z)
		}
		limits := s.factors[i].limits
		for j, u := range b.Uses {
			for l, a := range u {
				f(s.m-s.k+int(limits[l]), at+j, a)
			}
		}
	}
	for l, a := range s.p.Uses {
		f(s.m-s.k+l, z, a)
	}
}

func (s *solver) solve() (Solution, error) {
	for j := range s.x {
		s.x[j], s.v[j] = 1, s.scaleC
	}
	for i := range s.w {
		s.w[i], s.y[i] = max(1, s.h[i]), s.scaleC
	}
	centred := 0
	for range mostSteps {
		s.residuals()
		mu := s.mu()
		primal, dual := dot(s.c, s.x), dot(s.h, s.y)
		gap := math.Abs(primal-dual) / (1 + math.Abs(primal))
		if !s.keep(gap) {
			break
		}
		done := norm(s.rp) <= tolerance*s.scaleH && norm(s.rd) <= tolerance*s.scaleC && gap <= tolerance*100
		if done {
			// The corrector leads away from the central path. Steps at the same μ lead back to it, and so to the
			// middle of the optima.
			if centred++; centred > 3 {
				return s.solution(), nil
			}
			s.factor()
			s.aim(mu, false)
			s.direction()
			if !s.move(min(1, 0.9*s.longest())) {
				return s.solution(), nil
			}
			continue
		}
		s.factor()
		s.aim(0, false)
		s.direction()
		affine := s.longest()
		after := s.muAfter(affine)
		sigma := math.Pow(after/mu, 3)
		s.aim(sigma*mu, true)
		s.direction()
		if !s.move(min(1, 0.995*s.longest())) {
			break
		}
	}
	if s.best.merit <= good {
		copy(s.x, s.best.x)
		copy(s.w, s.best.w)
		copy(s.y, s.best.y)
		return s.solution(), nil
	}
	return Solution{}, fmt.Errorf("%w (to %.1g)", ErrNoOptimum, s.best.merit)
}

// good is the tolerance within which a point counts as optimal when rounding prevents a better one.
const good = 1e-6

// best is the best point so far.
type best struct {
	merit   float64 // the greatest of its residuals and its gap, relative to the data
	x, w, y []float64
	since   int // number of steps since this point
}

// keep records the present point if it is the best so far. It reports whether the solver should continue.
func (s *solver) keep(gap float64) bool {
	merit := max(norm(s.rp)/s.scaleH, norm(s.rd)/s.scaleC, gap)
	if math.IsNaN(merit) {
		return false
	}
	if s.best.x != nil && merit >= s.best.merit {
		s.best.since++
		return s.best.since < patience
	}
	b := &s.best
	b.merit, b.since = merit, 0
	b.x, b.w, b.y = append(b.x[:0], s.x...), append(b.w[:0], s.w...), append(b.y[:0], s.y...)
	return true
}

// residuals sets rp = h − G x − w and rd = c − Gᵀ y + v.
func (s *solver) residuals() {
	for i := range s.rp {
		s.rp[i] = s.h[i] - s.w[i]
	}
	for j := range s.rd {
		s.rd[j] = s.c[j] + s.v[j]
	}
	s.times(func(i, j int, a float64) {
		s.rp[i] -= a * s.x[j]
		s.rd[j] -= a * s.y[i]
	})
}

// mu returns the mean of the products x·v and w·y.
func (s *solver) mu() float64 { return (dot(s.x, s.v) + dot(s.w, s.y)) / float64(s.n+s.m) }

// muAfter returns mu after a step of length a in the present direction.
func (s *solver) muAfter(a float64) float64 {
	sum := 0.0
	for j := range s.x {
		sum += (s.x[j] + a*s.dx[j]) * (s.v[j] + a*s.dv[j])
	}
	for i := range s.w {
		sum += (s.w[i] + a*s.dw[i]) * (s.y[i] + a*s.dy[i])
	}
	return sum / float64(s.n+s.m)
}

// aim sets the wanted changes of the products, so that they reach target. If corrected is true, it subtracts the
// second-order term of the last direction.
func (s *solver) aim(target float64, corrected bool) {
	for j := range s.x {
		s.rx[j] = target - s.x[j]*s.v[j]
		if corrected {
			s.rx[j] -= s.dx[j] * s.dv[j]
		}
	}
	for i := range s.w {
		s.rw[i] = target - s.w[i]*s.y[i]
		if corrected {
			s.rw[i] -= s.dw[i] * s.dy[i]
		}
	}
}

// factor computes the factors of the matrix of a step, block by block. Without the rows of a block, the matrix is H
// = diag(v/x) + Σ_rows (y/w) a aᵀ, with a border for z and for the duals of the limits.
func (s *solver) factor() {
	z, first := s.n-1, s.m-s.k
	s.shared.clear()
	s.shared.add(0, 0, s.v[z]/s.x[z])
	for l := range s.k {
		s.shared.add(l+1, l+1, -s.w[first+l]/s.y[first+l])
	}
	for l, a := range s.p.Uses {
		s.shared.add(l+1, 0, a)
	}
	for i := range s.p.Blocks {
		b, f := &s.p.Blocks[i], &s.factors[i]
		d, at, row := len(b.Gain), int(s.vars[i]), int(s.rows[i])
		width := len(f.limits) + 1
		clear(f.chol)
		clear(f.border)
		for j := range d {
			f.chol[j*d+j] = s.v[at+j] / s.x[at+j]
			copy(f.border[j*width+1:], b.Uses[j])
		}
		for r := range b.Rows {
			q := s.y[row+r] / s.w[row+r]
			a := &b.Rows[r]
			for j := range d {
				if a.X[j] == 0 {
					continue
				}
				for t := range j + 1 {
					f.chol[j*d+t] += q * a.X[j] * a.X[t]
				}
				f.border[j*width] += q * a.X[j] * a.Z
			}
			s.shared.add(0, 0, q*a.Z*a.Z)
		}
		cholesky(f.chol, d)
		for t := range width {
			forward(f.chol, d, f.border[t:], width)
		}
		for t := range width {
			for u := range t + 1 {
				sum := 0.0
				for j := range d {
					sum += f.border[j*width+t] * f.border[j*width+u]
				}
				s.shared.add(max(f.at(t), f.at(u)), min(f.at(t), f.at(u)), -sum)
			}
		}
	}
	s.shared.factor()
}

// at returns the index in the shared system of a column of the border: 0 for z, then the block's limits.
func (f *factor) at(column int) int {
	if column == 0 {
		return 0
	}
	return int(f.limits[column-1]) + 1
}

// direction computes the step that removes the residuals and changes the products as aim has set.
func (s *solver) direction() {
	z, first := s.n-1, s.m-s.k
	// Right-hand side: rd + rx/x + Gᵀ (y rp − rw)/w over the rows of blocks, and rp − rw/y for the limits.
	for j := range s.dx {
		s.dx[j] = s.rd[j] + s.rx[j]/s.x[j]
	}
	for i := range s.p.Blocks {
		b := &s.p.Blocks[i]
		at, row := int(s.vars[i]), int(s.rows[i])
		for r := range b.Rows {
			q := (s.y[row+r]*s.rp[row+r] - s.rw[row+r]) / s.w[row+r]
			for j, a := range b.Rows[r].X {
				s.dx[at+j] += q * a
			}
			s.dx[z] += q * b.Rows[r].Z
		}
	}
	right := s.shared.right
	right[0] = s.dx[z]
	for l := range s.k {
		right[l+1] = s.rp[first+l] - s.rw[first+l]/s.y[first+l]
	}
	for i := range s.p.Blocks {
		f := &s.factors[i]
		at, d := int(s.vars[i]), len(s.p.Blocks[i].Gain)
		forward(f.chol, d, s.dx[at:], 1)
		width := len(f.limits) + 1
		for t := range width {
			for j := range d {
				right[f.at(t)] -= f.border[j*width+t] * s.dx[at+j]
			}
		}
	}
	s.shared.solve()
	s.dx[z] = right[0]
	copy(s.dy[first:], right[1:])
	for i := range s.p.Blocks {
		f := &s.factors[i]
		at, d := int(s.vars[i]), len(s.p.Blocks[i].Gain)
		width := len(f.limits) + 1
		for j := range d {
			for t := range width {
				s.dx[at+j] -= f.border[j*width+t] * right[f.at(t)]
			}
		}
		backward(f.chol, d, s.dx[at:])
	}
	s.rest()
}

// rest computes the other parts of the step from dx and the duals of the limits.
func (s *solver) rest() {
	first := s.m - s.k
	z := s.dx[s.n-1]
	for i := range s.p.Blocks {
		b := &s.p.Blocks[i]
		at, row := int(s.vars[i]), int(s.rows[i])
		for r := range b.Rows {
			g := b.Rows[r].Z * z
			for j, a := range b.Rows[r].X {
				g += a * s.dx[at+j]
			}
			s.dw[row+r] = s.rp[row+r] - g
			s.dy[row+r] = (s.rw[row+r] - s.y[row+r]*s.dw[row+r]) / s.w[row+r]
		}
	}
	for l := range s.k {
		i := first + l
		s.dw[i] = (s.rw[i] - s.w[i]*s.dy[i]) / s.y[i]
	}
	for j := range s.dv {
		s.dv[j] = (s.rx[j] - s.v[j]*s.dx[j]) / s.x[j]
	}
}

// longest returns the greatest length, at most 1/0.9, of a step that keeps the point positive.
func (s *solver) longest() float64 {
	a := 1 / 0.9
	shorten := func(at, by []float64) {
		for i, d := range by {
			if d < 0 {
				a = min(a, -at[i]/d)
			}
		}
	}
	shorten(s.x, s.dx)
	shorten(s.v, s.dv)
	shorten(s.w, s.dw)
	shorten(s.y, s.dy)
	return a
}

// move takes a step of length a in the present direction. It returns false if rounding has left the system without a
// solution.
func (s *solver) move(a float64) bool {
	if math.IsNaN(dot(s.dx, s.dx)+dot(s.dv, s.dv)+dot(s.dw, s.dw)+dot(s.dy, s.dy)) || !(a > 1e-14) {
		return false
	}
	along := func(at, by []float64) {
		for i, d := range by {
			at[i] += a * d
		}
	}
	along(s.x, s.dx)
	along(s.v, s.dv)
	along(s.w, s.dw)
	along(s.y, s.dy)
	return true
}

func (s *solver) solution() Solution {
	out := Solution{
		X: make([][]float64, len(s.p.Blocks)), Z: s.x[s.n-1], Objective: dot(s.c, s.x),
		Prices: s.y[s.m-s.k:], Slack: make([][]float64, len(s.p.Blocks)), Price: make([][]float64, len(s.p.Blocks)),
	}
	for i := range out.X {
		out.X[i] = s.x[s.vars[i]:s.vars[i+1]]
		out.Slack[i], out.Price[i] = s.w[s.rows[i]:s.rows[i+1]], s.y[s.rows[i]:s.rows[i+1]]
	}
	return out
}
