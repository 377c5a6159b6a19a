package lp

import "math"

func dot(a, b []float64) float64 {
	sum := 0.0
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// norm returns the largest absolute value of a.
func norm(a []float64) float64 {
	most := 0.0
	for _, v := range a {
		if !(math.Abs(v) <= most) {
			most = math.Abs(v)
		}
	}
	return most
}

// cholesky replaces the lower triangle of a positive definite n×n matrix with its Cholesky factor. A pivot that
// rounding has made too small is replaced by the smallest value that is safe.
func cholesky(a []float64, n int) {
	for j := range n {
		least := 1e-15 * a[j*n+j]
		for i := j; i < n; i++ {
			sum := a[i*n+j]
			for t := range j {
				sum -= a[i*n+t] * a[j*n+t]
			}
			if i == j {
				a[j*n+j] = math.Sqrt(max(sum, least, 1e-300))
			} else {
				a[i*n+j] = sum / a[j*n+j]
			}
		}
	}
}

// forward solves L x = b in place, for a lower triangular L. The elements of b are stride apart.
func forward(l []float64, n int, b []float64, stride int) {
	for i := range n {
		sum := b[i*stride]
		for t := range i {
			sum -= l[i*n+t] * b[t*stride]
		}
		b[i*stride] = sum / l[i*n+i]
	}
}

// backward solves Lᵀ x = b in place, for a lower triangular L.
func backward(l []float64, n int, b []float64) {
	for i := n - 1; i >= 0; i-- {
		sum := b[i]
		for t := i + 1; t < n; t++ {
			sum -= l[t*n+i] * b[t]
		}
		b[i] = sum / l[i*n+i]
	}
}

// dense is a small symmetric linear system for the shared variable and the duals of the limits. Its matrix may be
// indefinite.
type dense struct {
	n     int
	a     []float64
	right []float64
	lu    []float64
	pivot []int
}

func newDense(n int) dense {
	return dense{n: n, a: make([]float64, n*n), right: make([]float64, n), lu: make([]float64, n*n), pivot: make([]int, n)}
}

func (d *dense) clear() { clear(d.a) }

// add adds v to an element of the lower triangle.
func (d *dense) add(i, j int, v float64) { d.a[i*d.n+j] += v }

// factor computes the LU factors of the matrix, with partial pivoting.
func (d *dense) factor() {
	n := d.n
	for i := range n {
		for j := range n {
			d.lu[i*n+j] = d.a[max(i, j)*n+min(i, j)]
		}
	}
	for k := range n {
		p := k
		for i := k + 1; i < n; i++ {
			if math.Abs(d.lu[i*n+k]) > math.Abs(d.lu[p*n+k]) {
				p = i
			}
		}
		d.pivot[k] = p
		if p != k {
			for j := range n {
				d.lu[k*n+j], d.lu[p*n+j] = d.lu[p*n+j], d.lu[k*n+j]
			}
		}
		if d.lu[k*n+k] == 0 {
			d.lu[k*n+k] = 1e-300
		}
		for i := k + 1; i < n; i++ {
			d.lu[i*n+k] /= d.lu[k*n+k]
			for j := k + 1; j < n; j++ {
				d.lu[i*n+j] -= d.lu[i*n+k] * d.lu[k*n+j]
			}
		}
	}
}

// solve replaces right with the solution of the system.
func (d *dense) solve() {
	n := d.n
	for k := range n {
		p := d.pivot[k]
		d.right[k], d.right[p] = d.right[p], d.right[k]
	}
	for i := range n {
		for j := range i {
			d.right[i] -= d.lu[i*n+j] * d.right[j]
		}
	}
	for i := n - 1; i >= 0; i-- {
		for j := i + 1; j < n; j++ {
			d.right[i] -= d.lu[i*n+j] * d.right[j]
		}
		d.right[i] /= d.lu[i*n+i]
	}
}
