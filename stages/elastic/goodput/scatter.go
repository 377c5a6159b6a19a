package goodput

import "math"

// scatter has measurements at scattered points: numbers of nodes, GPUs, and samples on each GPU.
type scatter struct {
	points []point
	rows   []timing
}

type point [3]float64

// dims is the number of equations of the linear program: one for each coordinate, and one for the sum of the weights.
const dims = 4

// at interpolates at a point, linearly within a simplex of the Delaunay triangulation. ok is false if the point is
// outside of the hull of the measurements.
//
// The weights of the simplex's corners minimize Σ wᵢ|pᵢ−x|² with Σ wᵢpᵢ = x, Σ wᵢ = 1, w ≥ 0: they lie on the lower
// hull of the points lifted to a paraboloid (K. Q. Brown, "Voronoi diagrams from convex hulls", 1979). This linear
// program has four equations, and is solved by the simplex method with an explicit inverse.
func (s *scatter) at(x point) (step, sync float64, ok bool) {
	n := len(s.points)
	columns := make([][dims]float64, n)
	cost := make([]float64, n)
	farthest := 0.0
	for i, p := range s.points {
		for k := range p {
			columns[i][k] = p[k] - x[k]
			cost[i] += columns[i][k] * columns[i][k]
		}
		columns[i][dims-1] = 1
		farthest = max(farthest, cost[i])
	}
	// cost of weight on an artificial point, so great that only points outside of the hull use it
	outside := 1e4 * (farthest + 1)
	var basis [dims]int // indices of columns; indices from n on are artificial points
	var inverse [dims][dims]float64
	value := [dims]float64{dims - 1: 1}
	for k := range basis {
		basis[k], inverse[k][k] = n+k, 1
	}
	priceOf := func(i int) float64 {
		if i >= n {
			return outside
		}
		return cost[i]
	}
	for round := range 5000 {
		var dual [dims]float64
		for k := range dual {
			for r := range basis {
				dual[k] += priceOf(basis[r]) * inverse[r][k]
			}
		}
		enters, least := -1, -1e-7
		for i := range columns {
			reduced := cost[i]
			for k := range dual {
				reduced -= dual[k] * columns[i][k]
			}
			if reduced < least*(1+cost[i]) {
				enters, least = i, reduced/(1+cost[i])
				if round > 300 { // take the first column, which prevents cycles (R. G. Bland, 1977)
					break
				}
			}
		}
		if enters < 0 {
			break
		}
		if !pivot(&basis, &inverse, &value, columns[enters], enters) {
			return 0, 0, false
		}
	}
	for k, i := range basis {
		switch {
		case i < n:
			step += value[k] * s.rows[i].step
			sync += value[k] * s.rows[i].sync
		case value[k] > 1e-7:
			return 0, 0, false
		}
	}
	return step, sync, true
}

// pivot exchanges a column of the basis for another one.
func pivot(basis *[dims]int, inverse *[dims][dims]float64, value *[dims]float64, column [dims]float64,
	enters int) bool {
	var d [dims]float64
	leaves, least := -1, math.Inf(1)
	for r := range d {
		for k := range column {
			d[r] += inverse[r][k] * column[k]
		}
		if d[r] <= 1e-10 {
			continue
		}
		if ratio := value[r] / d[r]; ratio < least-1e-12 || ratio < least+1e-12 && basis[r] > basis[leaves] {
			leaves, least = r, ratio
		}
	}
	if leaves < 0 {
		return false
	}
	for k := range inverse[leaves] {
		inverse[leaves][k] /= d[leaves]
	}
	value[leaves] /= d[leaves]
	for r := range inverse {
		if r == leaves {
			continue
		}
		for k := range inverse[r] {
			inverse[r][k] -= d[r] * inverse[leaves][k]
		}
		value[r] = max(value[r]-d[r]*value[leaves], 0)
	}
	basis[leaves] = enters
	return true
}
