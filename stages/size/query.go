package size

import (
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Query asks for the smallest value of an axis at which the mean of a metric keeps a bound. A bound that is nil does
// not apply.
type Query struct {
	Axis   string   `json:"axis"`
	Metric string   `json:"metric"`
	Min    *float64 `json:"min,omitempty"`
	Max    *float64 `json:"max,omitempty"`
	// Bisect omits the values that a bisection does not need. Values is then the number of all values.
	Bisect bool `json:"bisect,omitempty"`
	Values int  `json:"values,omitempty"`
}

// Keeps reports whether a mean keeps the bound; an unknown mean (NaN) does not.
func (s *Query) Keeps(v float64) bool {
	return (s.Max == nil || v <= *s.Max) && (s.Min == nil || v >= *s.Min)
}

// Bound returns the query's bound: Min or Max.
func (s *Query) Bound() float64 {
	if s.Max != nil {
		return *s.Max
	}
	return *s.Min
}

// At returns the value of the axis among a cell's settings, as a number and as text, and the other settings. ok is
// false if the cell does not read the axis.
func (s *Query) At(axes []schema.Setting) (value float64, text string, others []schema.Setting, ok bool) {
	i := slices.IndexFunc(axes, func(a schema.Setting) bool { return a.Name == s.Axis })
	if i < 0 {
		return 0, "", axes, false
	}
	value, ok = schema.AxisNumber(axes[i].Value)
	return value, axes[i].Value, slices.Delete(slices.Clone(axes), i, i+1), ok
}

// ValuesIn returns how many values of the axis the cells have; 0 if a value is not a number.
func (s *Query) ValuesIn(cells []experiment.Cell) int {
	seen := map[float64]bool{}
	for i := range cells {
		value, text, _, ok := s.At(cells[i].Axes)
		if !ok && text != "" {
			return 0
		}
		if ok {
			seen[value] = true
		}
	}
	return len(seen)
}
