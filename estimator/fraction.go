package estimator

import (
	"fmt"
	"math"
)

// Fraction is the plainest baseline: a job that is k times as long as a sample
// takes k times its wall time, fixed costs and all. It says too much wherever a
// program takes time to start, and the more so the shorter the sample.
type Fraction struct{}

// Name is "fraction".
func (Fraction) Name() string { return "fraction" }

// Fit needs a sample with a length on the resource. The spread is the spread
// of the samples' paces, joined with the prior of any machine.
func (Fraction) Fit(p Problem) (Estimate, error) {
	samples, asked := p.on()
	var wall, length float64
	var paces []float64
	for _, s := range samples {
		if s.Length > 0 && s.Wall > 0 {
			wall, length = wall+s.Wall, length+float64(s.Length)
			paces = append(paces, s.Wall/float64(s.Length))
		}
	}
	if len(paces) == 0 {
		return Estimate{}, fmt.Errorf("fit fraction: no samples with a length on the requested resource: %w", ErrUnfit)
	}
	if err := obeys(samples); err != nil {
		return Estimate{}, fmt.Errorf("fit fraction: %w", err)
	}
	k := float64(len(paces) - 1)
	e := Estimate{Model: "fraction", Slope: wall / length, Samples: len(paces), Resource: asked, DF: k + PriorDF}
	e.PaceSD = math.Sqrt((PriorDF*square(PriorPaceSD) + squares(paces)/square(e.Slope)) / e.DF)
	e.SlopeSE = e.Slope * e.PaceSD / math.Sqrt(k+1)
	e.PaceSD = math.Hypot(e.PaceSD, moments(wall))
	return e, nil
}
