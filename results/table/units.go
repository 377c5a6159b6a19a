package table

import (
	"math"
	"slices"

	"github.com/tfexp/tfexp/results/stats"
)

// Unit is a unit for values that people read. Files keep the unit of the metric.
type Unit struct {
	Name string
	// Per is the value of one such unit, in the unit of the metric: 60 for minutes, if the metric is in seconds.
	Per float64
}

// larger has the units to choose from for values in the unit of a metric, the largest first. A unit fits values that
// are at least from.
var larger = map[string][]struct {
	Unit
	from float64
}{
	"s": {
		{Unit{"d", 86400}, 14 * 86400}, {Unit{"h", 3600}, 2 * 3600}, {Unit{"min", 60}, 2 * 60}, {Unit{"s", 1}, 0.1},
		{Unit{"ms", 1e-3}, 0},
	},
	"B":      {{Unit{"GB", 1e9}, 1e9}, {Unit{"MB", 1e6}, 1e6}, {Unit{"kB", 1e3}, 1e3}},
	"jobs":   {{Unit{"k jobs", 1e3}, 1e4}},
	"jobs/h": {{Unit{"k jobs/h", 1e3}, 1e4}},
}

// UnitFor returns the unit for values that are shown together, such as a column of a table. It is the unit that fits
// their median. Zeros and unknown values do not count.
func UnitFor(unit string, values ...float64) Unit {
	var known []float64
	for _, v := range values {
		if stats.Finite(v) && v != 0 {
			known = append(known, math.Abs(v))
		}
	}
	if len(known) > 0 {
		slices.Sort(known)
		for _, u := range larger[unit] {
			if known[len(known)/2] >= u.from {
				return u.Unit
			}
		}
	}
	return Unit{unit, 1}
}

// Number returns the text of a value in the unit, without the unit's name.
func (u Unit) Number(v float64) string { return Number(v / u.Per) }

// With returns the text of a value in the unit, with the unit's name.
func (u Unit) With(v float64) string {
	if u.Name == "" {
		return Number(v)
	}
	return u.Number(v) + " " + u.Name
}

// Interval returns the text of an interval in the unit; see the function Interval.
func (u Unit) Interval(i stats.Interval) string {
	i.Mean, i.Low, i.High = i.Mean/u.Per, i.Low/u.Per, i.High/u.Per
	return Interval(i)
}

// Label returns a title with the unit: "mean JCT (min)".
func (u Unit) Label(title string) string {
	if u.Name == "" {
		return title
	}
	return title + " (" + u.Name + ")"
}

// WithUnit returns the text of a value in the unit that fits it: 187000 s are "51.9 h".
func WithUnit(v float64, unit string) string { return UnitFor(unit, v).With(v) }

// Between returns the text of a range of values: "2.1 to 3.4 h".
func Between(low, high float64, unit string) string {
	u := UnitFor(unit, low, high)
	switch {
	case u.Number(low) == u.Number(high) && stats.Finite(high):
		return u.With(high)
	case low != 0 && math.Abs(low) < u.Per/100:
		return WithUnit(low, unit) + " to " + u.With(high)
	}
	return u.Number(low) + " to " + u.With(high)
}
