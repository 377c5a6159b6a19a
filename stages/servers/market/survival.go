package market

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"time"

	"gonum.org/v1/gonum/optimize"
)

// Observation is the observed life of one server.
type Observation struct {
	Time time.Duration
	// Taken reports whether the server was revoked at that time. Otherwise its user returned it, and its life is only
	// known to be longer (a censored observation).
	Taken bool
}

// Measured is a survival curve estimated from measured lives: a step function.
type Measured struct {
	// Name is the source of the measurements, for messages.
	Name string
	// Times ascend. Survivals[i] is the part of the servers that live longer than Times[i].
	Times     []time.Duration
	Survivals []float64
}

// KaplanMeier estimates the survival curve of lives; some lives may be censored (E. L. Kaplan and P. Meier,
// Nonparametric Estimation from Incomplete Observations, 1958). It is the product of (1 − d/n) over the times at which
// d of the n servers still observed were revoked. A server that is returned at such a time counts as still observed.
func KaplanMeier(name string, seen []Observation) (*Measured, error) {
	if len(seen) == 0 {
		return nil, errors.New("the file has no lifetimes")
	}
	seen = slices.Clone(seen)
	slices.SortStableFunc(seen, func(a, b Observation) int { return cmp.Compare(a.Time, b.Time) })
	m := &Measured{Name: name}
	s := 1.0
	for i := 0; i < len(seen); {
		if seen[i].Time < 0 {
			return nil, fmt.Errorf("a lifetime of %s is negative", seen[i].Time)
		}
		at, taken, left := seen[i].Time, 0, len(seen)-i
		for ; i < len(seen) && seen[i].Time == at; i++ {
			if seen[i].Taken {
				taken++
			}
		}
		if taken > 0 {
			s *= 1 - float64(taken)/float64(left)
			m.Times, m.Survivals = append(m.Times, at), append(m.Survivals, s)
		}
	}
	return m, nil
}

// NewMeasured returns a survival curve with the given points. A mistake in a point is a PointError with its index from
// 0.
func NewMeasured(name string, times []time.Duration, survivals []float64) (*Measured, error) {
	before, last := time.Duration(-1), 1.0
	for i, s := range survivals {
		switch {
		case times[i] <= before:
			return nil, &PointError{i, fmt.Sprintf("the time %s does not come after %s", times[i], before)}
		case !(s >= 0 && s <= 1):
			return nil, &PointError{i, fmt.Sprintf("a survival of %g is not within 0 and 1", s)}
		case s > last:
			return nil, &PointError{i, fmt.Sprintf("the survival increases from %g to %g: a survival curve cannot increase", last, s)}
		}
		before, last = times[i], s
	}
	return &Measured{Name: name, Times: times, Survivals: survivals}, nil
}

// PointError is returned for a point that contradicts the point before it, or is out of range.
type PointError struct {
	Point int
	Text  string
}

func (e *PointError) Error() string { return e.Text }

// Survival implements Life.
func (m *Measured) Survival(t time.Duration) float64 {
	i := sort.Search(len(m.Times), func(i int) bool { return m.Times[i] > t })
	if i == 0 {
		return 1
	}
	return m.Survivals[i-1]
}

// Quantile implements Life. Servers that outlive all observations live Forever; only the provider's limit can end them.
func (m *Measured) Quantile(u float64) time.Duration {
	i := sort.Search(len(m.Survivals), func(i int) bool { return m.Survivals[i] <= 1-u && m.Survivals[i] < 1 })
	if i == len(m.Survivals) {
		return Forever
	}
	return m.Times[i]
}

func (m *Measured) String() string { return fmt.Sprintf("survival(%q)", m.Name) }

// BathtubOf fits a bathtub to a measured curve up to its last point, by least squares over time. It also returns the
// root mean square difference.
func BathtubOf(m *Measured) (Bathtub, float64, error) {
	if len(m.Times) < 4 {
		return Bathtub{}, 0, errors.New("a bathtub needs at least four lifetimes that ended")
	}
	const points = 400
	last := m.Times[len(m.Times)-1]
	unit := float64(last)
	at := make([]time.Duration, points)
	want := make([]float64, points)
	for i := range at {
		at[i] = time.Duration((float64(i) + 0.5) / points * unit)
		want[i] = m.Survival(at[i])
	}
	of := func(x []float64) Bathtub {
		return Bathtub{A: math.Exp(x[0]), Tau1: max(duration(math.Exp(x[1])*unit), 1),
			Tau2: max(duration(math.Exp(x[2])*unit), 1), End: duration(math.Exp(x[3]) * unit)}
	}
	loss := func(x []float64) float64 {
		b, sum := of(x), 0.0
		for i := range at {
			d := b.Survival(at[i]) - want[i]
			sum += d * d
		}
		return sum
	}
	best, found := math.Inf(1), []float64(nil)
	dead := math.Max(1-m.Survivals[len(m.Survivals)-1], 0.05)
	for _, tau := range []float64{0.02, 0.1, 0.4} {
		x, err := minimum(loss, []float64{math.Log(dead / 1.5), math.Log(tau), math.Log(0.05), 0})
		if err != nil {
			return Bathtub{}, 0, fmt.Errorf("fit a bathtub: %w", err)
		}
		if l := loss(x); l < best {
			best, found = l, x
		}
	}
	return of(found), math.Sqrt(best / points), nil
}

// minimum returns the point at which a function is least, by the simplex method of Nelder and Mead.
func minimum(f func([]float64) float64, start []float64) ([]float64, error) {
	for range 3 { // start again from the last result
		r, err := optimize.Minimize(optimize.Problem{Func: f}, start, &optimize.Settings{FuncEvaluations: 4000},
			&optimize.NelderMead{})
		if err != nil {
			return nil, err
		}
		start = r.X
	}
	return start, nil
}
