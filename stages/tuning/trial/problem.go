// Package trial has the data of searches for settings: the problem that a method solves, its trials as points of the
// problem, and their outcomes.
package trial

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/tfexp/tfexp/estimator/surrogate"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages/tuning/tuner"
)

// Problem returns the search in the form that methods take. Candidates are the only settings that may be tried, as
// values in the order of the settings; nil allows all combinations.
func Problem(t *Tuning, candidates [][]string, seed uint64) *tuner.Problem {
	p := &tuner.Problem{
		Space: Space(t), Start: t.Start, Trials: t.Trials, Seed: seed, Scale: surrogate.Log, PerCost: t.PerCost,
	}
	for _, values := range candidates {
		if at, err := PointOf(t, p.Space, values); err == nil {
			p.Candidates = append(p.Candidates, at)
		}
	}
	for _, c := range t.AllConstraints() {
		scale := scaleOf(c.Outcome)
		if c.Min != nil {
			p.Limits = append(p.Limits, surrogate.Limit{Bound: *c.Min, AtLeast: true, Scale: scale})
		}
		if c.Max != nil {
			p.Limits = append(p.Limits, surrogate.Limit{Bound: *c.Max, Scale: scale})
		}
	}
	initial := schema.Each(t.Settings, func(s TunedSetting) string { return s.Initial })
	p.Initial, _ = PointOf(t, p.Space, initial)
	if t.BestSettings != nil {
		p.Best, _ = Point(t, t.BestSettings)
	}
	return p
}

// scaleOf returns the scale on which an outcome is modeled.
func scaleOf(outcome string) surrogate.Scale {
	if outcome == "accuracy" {
		return surrogate.LogGap
	}
	return surrogate.Log
}

// Space returns a space with one dimension for each setting of the tuning.
func Space(t *Tuning) surrogate.Space {
	space := make(surrogate.Space, len(t.Settings))
	for i := range space {
		space[i] = dimension(&t.Settings[i])
	}
	return space
}

// dimension returns the dimension of a setting.
func dimension(s *TunedSetting) surrogate.Dimension {
	d := surrogate.Dimension{Name: s.Name, Min: s.Min, Max: s.Max, Integer: s.Integer, Log: s.Log}
	switch {
	case len(s.Values) == 0:
	case s.Numeric:
		for _, v := range s.Values {
			f, _ := strconv.ParseFloat(v, 64)
			d.Numbers = append(d.Numbers, f)
		}
	default:
		d.Categories = len(s.Values)
	}
	if s.Context {
		goal, _ := strconv.ParseFloat(s.Goal, 64)
		d.Context, d.Goal = true, d.Coordinate(goal)
	}
	return d
}

// Point returns the point of the settings in the tuning's space. The error names a value that is not in the space.
func Point(t *Tuning, settings []record.Setting) ([]float64, error) {
	values := make([]string, len(t.Settings))
	for i := range t.Settings {
		for _, s := range settings {
			if s.Name == t.Settings[i].Name {
				values[i] = s.Value
			}
		}
	}
	return PointOf(t, Space(t), values)
}

// PointOf is Point for values in the order of the tuning's settings. space must be Space(t).
func PointOf(t *Tuning, space surrogate.Space, values []string) ([]float64, error) {
	at := make([]float64, len(values))
	for i, v := range values {
		s := &t.Settings[i]
		if len(s.Values) > 0 && !s.Numeric {
			k := slices.Index(s.Values, v)
			if k < 0 {
				return nil, fmt.Errorf("the setting %q has no value %q", s.Name, v)
			}
			at[i] = float64(k)
			continue
		}
		f, err := strconv.ParseFloat(v, 64)
		if err != nil {
			return nil, fmt.Errorf("the setting %q is a number, not %q", s.Name, v)
		}
		at[i] = space[i].Coordinate(f)
	}
	return at, nil
}

// Values returns the settings at a point, as text.
func Values(t *Tuning, at []float64) []string {
	values := make([]string, len(at))
	for i := range at {
		s := &t.Settings[i]
		d := dimension(s)
		switch {
		case d.Categories > 0:
			values[i] = s.Values[int(at[i])]
		case len(s.Values) > 0: // the text of the file
			nearest := 0
			for k, n := range d.Numbers {
				if math.Abs(d.Coordinate(n)-at[i]) < math.Abs(d.Coordinate(d.Numbers[nearest])-at[i]) {
					nearest = k
				}
			}
			values[i] = s.Values[nearest]
		case d.Integer:
			values[i] = strconv.FormatFloat(d.Value(at[i]), 'f', -1, 64)
		default:
			values[i] = rounded(d.Value(at[i]), d)
		}
	}
	return values
}

// rounded returns a number in short form: with three digits on a logarithmic scale, else rounded to a thousandth of the
// range or less. The job gets the rounded number.
func rounded(v float64, d surrogate.Dimension) string {
	digits := 3
	if !d.Log {
		places := math.Ceil(math.Log10(500 / (d.Max - d.Min))) // digits after the decimal point
		digits = int(places + math.Floor(math.Log10(math.Abs(v))) + 1)
	}
	near, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', max(1, min(digits, 15)), 64), 64)
	return strconv.FormatFloat(min(max(near, d.Min), d.Max), 'g', -1, 64)
}

// ForModel returns a trial in the form that methods take. A trial that lacks an outcome of the search's
// objective or constraints counts as crashed.
func ForModel(t *Tuning, at []float64, o *Outcome) surrogate.Trial {
	out := surrogate.Trial{At: at, State: surrogate.Crashed}
	v := t.Value(o)
	if t.Missed(o) {
		v = o.Time // the trial takes at least this long
	}
	if o.Diverged || o.Crashed != "" || math.IsNaN(v) {
		return out
	}
	out.Objective = Modelled(t, v)
	out.Cost = o.Time
	out.Cost = schema.Or(o.Cost, out.Cost)
	for _, c := range t.AllConstraints() {
		limited := o.Outcome(c.Outcome)
		if math.IsNaN(limited) {
			return out
		}
		if t.IsTarget(c) && o.Reached != nil { // the target was reached, even if later values miss it
			switch {
			case c.Min != nil:
				limited = math.Max(limited, *c.Min)
			default:
				limited = math.Min(limited, *c.Max)
			}
		}
		for _, bound := range []*float64{c.Min, c.Max} {
			if bound != nil {
				out.Limited = append(out.Limited, limited)
			}
		}
	}
	out.State = surrogate.Done
	return out
}

// leastGap is the least distance of an accuracy from 1, so that its logarithm exists.
const leastGap = 1e-6

// Modelled converts a value of the objective to a form in which smaller is better. Values above 0 are modeled by their
// logarithm. An accuracy above 1 can only be given in percent.
func Modelled(t *Tuning, v float64) float64 {
	switch t.Objective {
	case "throughput":
		return 1 / v
	case "accuracy":
		if v > 1 {
			return 1 - v
		}
		return math.Max(1-v, leastGap)
	}
	return v
}

// Natural is the inverse of Modelled.
func Natural(t *Tuning, v float64) float64 {
	switch t.Objective {
	case "throughput":
		return 1 / v
	case "accuracy":
		return 1 - v
	}
	return v
}
