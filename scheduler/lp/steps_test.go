package lp

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// drawn returns n random numbers with a normal distribution.
func drawn(rng *rand.Rand, n int) []float64 {
	a := make([]float64, n)
	for i := range a {
		a[i] = rng.NormFloat64()
	}
	return a
}

// Symmetric systems are solved for any values on their diagonals. Rows are ordered so that rounding errors do not grow.
func TestDense(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	for n := 1; n <= 7; n++ {
		for range 40 {
			d := newDense(n)
			d.add(n-1, 0, 5)
			d.clear()
			a := drawn(rng, n*n)
			for i := range n {
				if rng.IntN(2) == 0 {
					a[i*n+i] = 0
				}
				for j := range i + 1 {
					d.add(i, j, 1)
					d.add(i, j, a[i*n+j]-1)
					a[j*n+i] = a[i*n+j]
				}
			}
			want := drawn(rng, n)
			for i := range n {
				d.right[i] = dot(a[i*n:(i+1)*n], want)
			}
			d.factor()
			most := 0.0
			for i := range n {
				for j := range i {
					most = max(most, math.Abs(d.lu[i*n+j]))
				}
			}
			least := math.Inf(1)
			for i := range n {
				least = min(least, math.Abs(d.lu[i*n+i]))
			}
			d.solve()
			for i, x := range d.right {
				if math.Abs(x-want[i]) > 1e-10/min(least, 1) || most > 1 {
					t.Fatalf("%d×%d: x[%d] is %g, want %g; with factors up to %g", n, n, i, x, want[i], most)
				}
			}
		}
	}
}

// L is lower triangular, and L Lᵀ is the matrix. Systems with either are solved. A zero pivot is replaced by a small
// positive value relative to the matrix.
func TestCholesky(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 2))
	for n := 1; n <= 6; n++ {
		root := drawn(rng, n*n)
		a := make([]float64, n*n)
		for i := range n {
			for j := range n {
				a[i*n+j] = dot(root[i*n:(i+1)*n], root[j*n:(j+1)*n])
			}
		}
		l := append([]float64(nil), a...)
		cholesky(l, n)
		want, b := drawn(rng, n), make([]float64, 2*n)
		for i := range n {
			b[2*i] = dot(a[i*n:(i+1)*n], want)
			for j := range i + 1 {
				if sum := dot(l[i*n:i*n+j+1], l[j*n:j*n+j+1]); math.Abs(sum-a[i*n+j]) > 1e-10 {
					t.Errorf("n %d: L Lᵀ has %g at %d, %d, want %g", n, sum, i, j, a[i*n+j])
				}
			}
		}
		forward(l, n, b, 2)
		x := make([]float64, n)
		for i := range x {
			x[i] = b[2*i]
		}
		backward(l, n, x)
		for i := range x {
			if math.Abs(x[i]-want[i]) > 1e-6 {
				t.Errorf("n %d: x[%d] is %g, want %g", n, i, x[i], want[i])
			}
		}
	}
	singular := []float64{4, 0, 2, 1}
	cholesky(singular, 2)
	if got, want := singular[3], math.Sqrt(1e-15); singular[0] != 2 || singular[2] != 1 || math.Abs(got/want-1) > 1e-9 {
		t.Errorf("the factor of a singular matrix is %g, want a last pivot of %g", singular, want)
	}
	nothing := []float64{0}
	if cholesky(nothing, 1); !(nothing[0] > 0) {
		t.Errorf("the root of nothing is %g", nothing[0])
	}
}

// sparse returns a program whose blocks list the limits that they use, and whose shared variable uses limits too. whole
// is the same program with all limits in each block.
func sparse(rng *rand.Rand, jobs, types int) (p, whole Problem) {
	p = draw(rng, jobs, types)
	for range types {
		p.Uses = append(p.Uses, rng.Float64())
	}
	p.Gain += 1
	whole = p
	whole.Blocks = append([]Block(nil), p.Blocks...)
	for i := range p.Blocks {
		b := &p.Blocks[i]
		b.Limits, b.Uses = []int32{}, make([][]float64, types)
		for l := types - 1; l >= 0; l-- {
			if rng.IntN(3) > 0 {
				b.Limits = append(b.Limits, int32(l))
			}
		}
		full := make([][]float64, types)
		for j := range types {
			full[j] = make([]float64, types)
			for _, l := range b.Limits {
				u := float64(rng.IntN(3))
				b.Uses[j], full[j][l] = append(b.Uses[j], u), u
			}
			if b.Uses[j] == nil {
				b.Uses[j] = []float64{}
			}
		}
		whole.Blocks[i].Uses = full
	}
	return p, whole
}

// A program whose blocks list their limits has the same optimum as the program with all limits. The limits also hold
// for the shared variable.
func TestLimitsOfBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 3))
	for n := range 40 {
		p, whole := sparse(rng, 1+rng.IntN(5), 1+rng.IntN(4))
		got, err := Solve(p)
		if err != nil {
			t.Fatalf("program %d: %v", n, err)
		}
		want, err := Solve(whole)
		if err != nil {
			t.Fatalf("program %d: %v", n, err)
		}
		used := make([]float64, len(p.Limits))
		value, worth := p.Gain*got.Z, 0.0
		for l := range used {
			used[l] = p.Uses[l] * got.Z
		}
		for i := range got.X {
			for j, x := range got.X[i] {
				value += x * p.Blocks[i].Gain[j]
				for l, u := range whole.Blocks[i].Uses[j] {
					used[l] += u * x
				}
			}
			for r, price := range got.Price[i] {
				row := &p.Blocks[i].Rows[r]
				worth += price * row.Most
				if left := row.Most - dot(row.X, got.X[i]) - row.Z*got.Z; math.Abs(left-got.Slack[i][r]) > 1e-6 {
					t.Errorf("program %d: row %d of block %d has %g left, and %g is returned", n, r, i, left, got.Slack[i][r])
				}
			}
		}
		for l, u := range used {
			worth += p.Limits[l] * got.Prices[l]
			if u > p.Limits[l]*(1+1e-6) || got.Prices[l] < 0 || got.Prices[l]*(p.Limits[l]-u) > 1e-5 {
				t.Errorf("program %d: %g of %g, at a price of %g", n, u, p.Limits[l], got.Prices[l])
			}
		}
		if math.Abs(got.Objective-want.Objective) > 1e-6 || math.Abs(got.Objective-value) > 1e-6 || math.Abs(got.Objective-worth) > 1e-6 {
			t.Errorf("program %d: %.9g; its variables are worth %.9g, its rows %.9g, and with all limits it is %.9g", n, got.Objective,
				value, worth, want.Objective)
		}
	}
}

// A step solves the equations of the method at any point and for any target, with and without the corrector. The
// returned length is the greatest that keeps all positive variables positive.
func TestStep(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 4))
	for n := range 30 {
		p, _ := sparse(rng, 1+rng.IntN(4), 1+rng.IntN(3))
		s := newSolver(&p)
		points := [][]float64{s.x, s.v, s.w, s.y}
		steps := [][]float64{s.dx, s.dv, s.dw, s.dy}
		for _, at := range points {
			for i := range at {
				at[i] = 0.1 + rng.ExpFloat64()
			}
		}
		s.residuals()
		corrected := n%2 == 1
		xv, wy := make([]float64, s.n), make([]float64, s.m) // target changes of the products
		target := rng.Float64()
		for _, by := range steps {
			copy(by, drawn(rng, len(by)))
		}
		for j := range xv {
			xv[j] = target - s.x[j]*s.v[j]
			if corrected {
				xv[j] -= s.dx[j] * s.dv[j]
			}
		}
		for i := range wy {
			wy[i] = target - s.w[i]*s.y[i]
			if corrected {
				wy[i] -= s.dw[i] * s.dy[i]
			}
		}
		s.factor()
		s.aim(target, corrected)
		s.direction()
		rp, rd := append([]float64(nil), s.h...), append([]float64(nil), s.c...) // G (x+dx) + w+dw = h, Gᵀ (y+dy) − (v+dv) = c
		for i := range rp {
			rp[i] -= s.w[i] + s.dw[i]
		}
		for j := range rd {
			rd[j] += s.v[j] + s.dv[j]
		}
		s.times(func(i, j int, a float64) {
			rp[i] -= a * (s.x[j] + s.dx[j])
			rd[j] -= a * (s.y[i] + s.dy[i])
		})
		for j := range xv {
			xv[j] -= s.x[j]*s.dv[j] + s.v[j]*s.dx[j]
		}
		for i := range wy {
			wy[i] -= s.w[i]*s.dy[i] + s.y[i]*s.dw[i]
		}
		if worst := max(norm(rp), norm(rd), norm(xv), norm(wy)); !(worst < 1e-7) {
			t.Errorf("program %d: the step misses its equations by %g, %g, %g, %g", n, norm(rp), norm(rd), norm(xv), norm(wy))
		}
		lengths(t, rng, s)
	}
}

// lengths checks the lengths of steps that the solver returns at a point.
func lengths(t *testing.T, rng *rand.Rand, s *solver) {
	points, steps := [][]float64{s.x, s.v, s.w, s.y}, [][]float64{s.dx, s.dv, s.dw, s.dy}
	least := func(length float64) float64 { // the greatest length that keeps all variables positive
		out := math.Inf(1)
		for k, at := range points {
			for i, v := range at {
				out = min(out, v+length*steps[k][i])
			}
		}
		return out
	}
	a, after := rng.Float64(), 0.0
	for j := range s.x {
		after += (s.x[j] + a*s.dx[j]) * (s.v[j] + a*s.dv[j])
	}
	for i := range s.w {
		after += (s.w[i] + a*s.dw[i]) * (s.y[i] + a*s.dy[i])
	}
	if got, want := s.muAfter(a), after/float64(s.n+s.m); math.Abs(got-want) > 1e-12*max(1, math.Abs(want)) {
		t.Errorf("μ is %g after a step of %g, want %g", got, a, want)
	}
	if got := s.muAfter(0); math.Abs(got-s.mu()) > 1e-12*s.mu() {
		t.Errorf("μ is %g and %g", got, s.mu())
	}
	longest := s.longest()
	if least(longest*(1-1e-9)) <= 0 || longest < 1/0.9 && least(longest*(1+1e-9)) > 0 || longest > 1/0.9 {
		t.Errorf("the longest step is %g", longest)
	}
	want := least(longest / 2)
	if moved := s.move(longest / 2); !moved || least(0) != want {
		t.Errorf("after a step (%v) the least is %g, want %g", moved, least(0), want)
	}
	before := s.x[0]
	if s.move(0) || s.move(1e-14) || s.x[0] != before {
		t.Error("a step of nothing is taken")
	}
	if s.dy[0] = math.NaN(); s.move(0.5) || s.x[0] != before {
		t.Error("a step to nowhere is taken")
	}
}

// The solver keeps the best point so far. It stops after a number of steps without a better point.
func TestKeep(t *testing.T) {
	one := Problem{Blocks: []Block{{Gain: []float64{1}, Uses: [][]float64{{1}}}}, Limits: []float64{1}}
	s := newSolver(&one)
	point := func(x, gap float64) bool { s.x[0] = x; return s.keep(gap) }
	if !point(1, 3) || !point(2, 1) || !point(3, 1) || !point(4, 2) || s.best.x[0] != 2 || s.best.merit != 1 {
		t.Errorf("of gaps of 3, 1, 1 and 2, %+v is kept", s.best)
	}
	if !point(5, 0.5) || s.best.x[0] != 5 {
		t.Errorf("of a gap of 0.5, %+v is kept", s.best)
	}
	for i := 1; i < patience; i++ {
		if !point(6, 1) {
			t.Errorf("it gives up after %d steps", i)
		}
	}
	if point(6, 1) {
		t.Errorf("it goes on after %d steps", patience)
	}
	if s.best.since = 0; point(7, math.NaN()) || s.best.x[0] != 5 {
		t.Error("it goes on from a point that is none")
	}
	s.best.since = 0
	s.rp[0] = 0.9 * s.scaleH
	if point(8, 0.1); s.best.merit != 0.5 {
		t.Errorf("a residual of the rows does not count: %+v", s.best)
	}
	s.rp[0], s.rd[0] = 0, 0.4*s.scaleC
	if point(9, 0.1); math.Abs(s.best.merit-0.4) > 1e-12 {
		t.Errorf("a residual of the variables is kept as %+v", s.best)
	}
}

// Programs whose parts do not match are refused.
func TestRefusedPrograms(t *testing.T) {
	nan := math.NaN()
	for want, change := range map[string]func(*Problem){
		"the shared variable has 1 coefficients for 2 limits": func(p *Problem) { p.Uses = []float64{1} },
		"but Uses has 1":                             func(p *Problem) { p.Blocks[0].Uses = p.Blocks[0].Uses[:1] },
		"limit 2, but there are 2":                   func(p *Problem) { p.Blocks[0].Limits = []int32{0, 2} },
		"limit -1, but there are 2":                  func(p *Problem) { p.Blocks[0].Limits = []int32{-1, 0} },
		"of block 0 has 1 coefficients for 2 limits": func(p *Problem) { p.Blocks[0].Uses[1] = []float64{1} },
		"has 2 coefficients for 1 limits":            func(p *Problem) { p.Blocks[0].Limits = []int32{1} },
		"has 1 coefficients for 2 variables":         func(p *Problem) { p.Blocks[0].Rows[0].X = []float64{1} },
		"not finite: limit":                          func(p *Problem) { p.Limits[0] = math.Inf(1) },
		"not finite: gain":                           func(p *Problem) { p.Gain = nan },
		"not finite: uses":                           func(p *Problem) { p.Uses = []float64{0, nan} },
		"not finite: block's gain":                   func(p *Problem) { p.Blocks[0].Gain[0] = nan },
		"not finite: block's uses":                   func(p *Problem) { p.Blocks[0].Uses[0][1] = math.Inf(-1) },
		"not finite: row":                            func(p *Problem) { p.Blocks[0].Rows[0].X[1] = nan },
		"not finite: z":                              func(p *Problem) { p.Blocks[0].Rows[0].Z = nan },
		"not finite: most":                           func(p *Problem) { p.Blocks[0].Rows[0].Most = nan },
		"":                                           func(*Problem) {},
	} {
		p := Problem{Limits: []float64{1, 1}, Blocks: []Block{
			{Gain: []float64{1, 1}, Uses: [][]float64{{1, 0}, {0, 1}}, Rows: []Row{{X: []float64{1, 1}, Most: 1}}},
			{Gain: []float64{1, 1}, Uses: [][]float64{{1, 0}, {0, 1}}, Rows: []Row{{X: []float64{1, 1}, Most: 1}}},
		}}
		change(&p)
		text, _, _ := strings.Cut(want, ":")
		_, err := Solve(p)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// The objective and the barrier of the least ratio have the same slopes. At the end of Newton's step, a linear
// extrapolation of the slopes is 0.
func TestRatioStep(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 5))
	for n := range 30 {
		parts, limits := drawParts(rng, 1+rng.IntN(5), 1+rng.IntN(3))
		p, err := newPath(parts, limits)
		if err != nil {
			t.Fatal(err)
		}
		p.weight = 1 + 10*rng.Float64()
		value := func() float64 { p.settle(); return p.barrier() - p.weight*math.Log(p.pace) }
		// computed slopes, by the pace and by each variable
		slopes := func() (all []float64) {
			p.settle()
			all = append(all, -p.weight/p.pace)
			for i := range p.blocks {
				b := &p.blocks[i]
				all[0] += 1.5 * b.need / b.spare
				for k := range b.x {
					all = append(all, p.slope(b, k))
				}
			}
			return all
		}
		places := []*float64{&p.pace}
		for i := range p.blocks {
			for k := range p.blocks[i].x {
				places = append(places, &p.blocks[i].x[k])
			}
		}
		at := slopes()
		for i, place := range places {
			kept := *place
			h := 1e-5 * kept
			*place = kept + h
			above := value()
			*place = kept - h
			below := value()
			*place = kept
			if by := (above - below) / (2 * h); math.Abs(by-at[i]) > 1e-4*(math.Abs(at[i])+1/kept) {
				t.Errorf("program %d: the slope by variable %d is %g, and %g by differences", n, i, at[i], by)
			}
		}
		p.settle()
		decrement := p.newton()
		step := []float64{p.dpace}
		for i := range p.blocks {
			step = append(step, p.blocks[i].dx...)
		}
		if want := -dot(at, step); math.Abs(decrement-want) > 1e-6*math.Abs(want) || decrement <= 0 {
			t.Errorf("program %d: the decrement is %g, want %g", n, decrement, want)
		}
		const h = 1e-6
		kept := make([]float64, len(places))
		for i, place := range places {
			kept[i] = *place
		}
		along := func(by float64) []float64 {
			for i, place := range places {
				*place = kept[i] + by*step[i]
			}
			return slopes()
		}
		above, below := along(h), along(-h)
		for i := range at {
			if change := (above[i] - below[i]) / (2 * h); math.Abs(change+at[i]) > 1e-3*(math.Abs(at[i])+1/kept[i]) {
				t.Errorf("program %d: the step changes slope %d by %g, want %g", n, i, change, -at[i])
			}
		}
	}
}
