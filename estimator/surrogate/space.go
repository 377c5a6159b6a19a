package surrogate

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
)

// Dimension is an input of a search space, a setting or a context: a range of numbers, or a list of values.
type Dimension struct {
	Name string
	// Min and Max are the bounds of a number. Integer is set if it must be whole.
	Min, Max float64
	Integer  bool
	// Log is set if the logarithm of the number is searched; all values must be above 0.
	Log bool
	// Numbers are the only allowed values; Min and Max are then ignored.
	Numbers []float64
	// Categories is the number of values of a dimension without an order; its coordinate is the index of the value.
	// It is 0 for numbers.
	Categories int
	// Context marks an input that is not a setting but says how large a trial was, such as the size of the training
	// set. Only trials at the coordinate Goal count as results. Trials elsewhere are cheaper and only inform the
	// model.
	Context bool
	Goal    float64
}

// Size returns the number of values, or 0 for a continuous range.
func (d Dimension) Size() int {
	switch {
	case d.Categories > 0:
		return d.Categories
	case len(d.Numbers) > 0:
		return len(d.Numbers)
	case d.Integer:
		return int(d.Max) - int(d.Min) + 1
	}
	return 0
}

func (d Dimension) check() error {
	least, most := d.bounds()
	switch {
	case d.Categories > 0:
	case !(least <= most):
		return fmt.Errorf("setting %q: its smallest value %v is above its largest %v", d.Name, least, most)
	case d.Log && !(least > 0):
		return fmt.Errorf("setting %q: a logarithmic scale needs values above 0, not %v", d.Name, least)
	}
	return nil
}

// bounds returns the smallest and the largest number.
func (d Dimension) bounds() (least, most float64) {
	if len(d.Numbers) > 0 {
		return slices.Min(d.Numbers), slices.Max(d.Numbers)
	}
	return d.Min, d.Max
}

// Coordinate maps a number to the unit interval. The index of a category is not changed.
func (d Dimension) Coordinate(v float64) float64 {
	if d.Categories > 0 {
		return v
	}
	least, most := d.bounds()
	if most == least {
		return 0.5
	}
	if d.Log {
		return math.Log(v/least) / math.Log(most/least)
	}
	return (v - least) / (most - least)
}

// Value maps a coordinate of the unit interval back to the nearest allowed value.
func (d Dimension) Value(u float64) float64 {
	if d.Categories > 0 {
		return u
	}
	least, most := d.bounds()
	v := least + u*(most-least)
	if d.Log {
		v = least * math.Pow(most/least, u)
	}
	switch {
	case len(d.Numbers) > 0:
		return slices.MinFunc(d.Numbers, func(a, b float64) int {
			return cmp.Compare(math.Abs(d.Coordinate(a)-u), math.Abs(d.Coordinate(b)-u))
		})
	case d.Integer:
		v = math.Round(v)
	}
	return min(max(v, least), most)
}

// cell maps a number in [0, 1) to a coordinate of an allowed value; the values of a list have equal probability.
func (d Dimension) cell(u float64) float64 {
	switch {
	case d.Categories > 0:
		return math.Floor(u * float64(d.Categories))
	case len(d.Numbers) > 0:
		return d.Coordinate(d.Numbers[int(u*float64(len(d.Numbers)))])
	}
	return d.Coordinate(d.Value(u))
}

// Space is a list of dimensions that are searched together.
type Space []Dimension

// Check returns an error that describes a mistake in the space, or nil.
func (s Space) Check() error {
	if len(s) == 0 {
		return fmt.Errorf("there is no setting to search")
	}
	for _, d := range s {
		if err := d.check(); err != nil {
			return err
		}
	}
	return nil
}

// Size returns the number of points, or 0 if a dimension is continuous or there are more than most points.
func (s Space) Size(most int) int {
	n := 1
	for _, d := range s {
		k := d.Size()
		if k == 0 || n > most/k {
			return 0
		}
		n *= k
	}
	return n
}

// Grid returns all points of a finite space; the last dimension varies fastest.
func (s Space) Grid() [][]float64 {
	points := [][]float64{{}}
	for _, d := range s {
		var next [][]float64
		for _, p := range points {
			for i := range d.Size() {
				next = append(next, append(p[:len(p):len(p)], d.at(i)))
			}
		}
		points = next
	}
	return points
}

// All returns the coordinates of all values of a finite dimension.
func (d Dimension) All() []float64 {
	all := make([]float64, d.Size())
	for i := range all {
		all[i] = d.at(i)
	}
	return all
}

// at returns the coordinate of the i-th value.
func (d Dimension) at(i int) float64 {
	switch {
	case d.Categories > 0:
		return float64(i)
	case len(d.Numbers) > 0:
		return d.Coordinate(d.Numbers[i])
	}
	return d.Coordinate(d.Min + float64(i))
}

// Categorical reports, for each dimension, whether its values have no order.
func (s Space) Categorical() []bool {
	return schema.Each(s, func(d Dimension) bool { return d.Categories > 0 })
}

// Settings returns the number of dimensions that are settings.
func (s Space) Settings() int {
	n := 0
	for _, d := range s {
		if !d.Context {
			n++
		}
	}
	return n
}

// AtGoal reports whether all contexts of a point have the coordinate Goal.
func (s Space) AtGoal(p []float64) bool {
	for i, d := range s {
		if d.Context && math.Abs(p[i]-d.Goal) > 1e-9 {
			return false
		}
	}
	return true
}

// ToGoal returns the point with its contexts at the goal.
func (s Space) ToGoal(p []float64) []float64 {
	q := slices.Clone(p)
	for i, d := range s {
		if d.Context {
			q[i] = d.Goal
		}
	}
	return q
}

// ToCheapest returns the point with its contexts as far as possible from the goal.
func (s Space) ToCheapest(p []float64) []float64 {
	q := slices.Clone(p)
	for i, d := range s {
		if d.Context {
			q[i] = d.Cheapest()
		}
	}
	return q
}

// Cheapest returns the coordinate of a context that is farthest from its goal.
func (d Dimension) Cheapest() float64 {
	if n := d.Size(); n > 0 {
		far := d.at(0)
		for i := range n {
			if math.Abs(d.at(i)-d.Goal) > math.Abs(far-d.Goal) {
				far = d.at(i)
			}
		}
		return far
	}
	if d.Goal < 0.5 {
		return 1
	}
	return 0
}

// Draw returns a random point; all values of a list have the same probability.
func (s Space) Draw(r *rand.Rand) []float64 {
	return schema.Each(s, func(d Dimension) float64 { return d.cell(r.Float64()) })
}

// LatinHypercube returns n points. Each dimension is divided into n equal parts, and each part has one point, at its
// middle (centered).
func (s Space) LatinHypercube(n int, r *rand.Rand) [][]float64 {
	points := make([][]float64, n)
	for i := range points {
		points[i] = make([]float64, len(s))
	}
	for d := range s {
		for i, part := range r.Perm(n) {
			points[i][d] = s[d].cell((float64(part) + 0.5) / float64(n))
		}
	}
	return points
}

// Near returns the neighbors of a coordinate: the previous and the next value, or all other values without an order,
// or the coordinates one step away on a continuous range.
func (d Dimension) Near(u, step float64) []float64 {
	var out []float64
	switch n := d.Size(); {
	case d.Categories > 0:
		for i := range n {
			if float64(i) != u {
				out = append(out, float64(i))
			}
		}
	case n > 0:
		values := make([]float64, n)
		for i := range values {
			values[i] = d.at(i)
		}
		slices.Sort(values)
		i, _ := slices.BinarySearch(values, u)
		if i > 0 {
			out = append(out, values[i-1])
		}
		if i+1 < n {
			out = append(out, values[i+1])
		}
	default:
		for _, v := range []float64{u - step, u + step} {
			if v >= 0 && v <= 1 {
				out = append(out, v)
			}
		}
	}
	return out
}
