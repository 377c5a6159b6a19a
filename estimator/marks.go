package estimator

import (
	"fmt"
	"math"
	"slices"
)

// fitMarks is the pace between the first and the last mark of the longest
// sample: plain linear extrapolation. Its error is at least that of the clock: each
// of two marks is true at some time within the tick before it.
func fitMarks(own []Mark, tick float64) (Estimate, error) {
	length, seconds := span(own)
	if length <= 0 || seconds <= 0 {
		return Estimate{}, fmt.Errorf("fit linear: a pace needs two marks, one later and further than the other: %w", ErrUnfit)
	}
	if tick == 0 {
		tick = findTick([][]Mark{own})
	}
	e := Estimate{Slope: seconds / length, PaceSD: runDrift, DF: clockDF}
	if tick == 0 {
		e.DF = priorDF + float64(len(own)-2)
		tick = clockless([][]Mark{own}) * seconds / math.Sqrt(float64(len(own)-1))
	}
	e.SlopeSE = tick / math.Sqrt(6) / length
	return e, nil
}

// clockless is how wide the error of a run's seconds is from one mark to the
// next, relative to them, where no tick is the reason: √6 standard deviations of
// the paces between marks of a run, joined with what is assumed of any machine.
func clockless(runs [][]Mark) float64 {
	ss, df := priorDF*square(priorPaceSD), float64(priorDF)
	for _, marks := range runs {
		length, seconds := span(marks)
		for i := 1; i < len(marks) && seconds > 0; i++ {
			if l, t := span(marks[i-1 : i+1]); l > 0 {
				ss += square(t*length/(l*seconds) - 1)
				df++
			}
		}
		df--
	}
	return math.Sqrt(6 * ss / math.Max(df, 1))
}

// longestMarks is the marks of the sample that got furthest.
func longestMarks(samples []Sample) []Mark {
	var own []Mark
	for _, s := range samples {
		if len(s.Marks) > 0 && (len(own) == 0 || s.Marks[len(s.Marks)-1].Done > own[len(own)-1].Done) {
			own = s.Marks
		}
	}
	return own
}

// span is the work and the seconds between the first and the last mark.
func span(marks []Mark) (length, seconds float64) {
	if len(marks) == 0 {
		return 0, 0
	}
	first, last := marks[0], marks[len(marks)-1]
	return float64(last.Done - first.Done), last.At - first.At
}

// findTick tells how coarse the clock of marks is from the gaps between them:
// seen by a watcher that looks once a minute, gaps of about the same work are
// some seconds more than a whole number of minutes, and so apart from each other
// by whole minutes. It returns 0 when the gaps do not show a tick: fewer than
// four, all alike, or not on a grid to within a tenth of it.
func findTick(runs [][]Mark) float64 {
	var gaps []float64
	for _, marks := range runs {
		for i := 1; i < len(marks); i++ {
			gaps = append(gaps, marks[i].At-marks[i-1].At)
		}
	}
	if len(gaps) < 4 {
		return 0
	}
	slices.Sort(gaps)
	// The tick is the least of the large steps between sorted gaps: on a grid all
	// steps are either scatter about a grid point or ticks.
	steps := make([]float64, 0, len(gaps))
	largest := 0.0
	for i := 1; i < len(gaps); i++ {
		steps = append(steps, gaps[i]-gaps[i-1])
		largest = math.Max(largest, gaps[i]-gaps[i-1])
	}
	tick := largest
	for _, s := range steps {
		if s > 0.1*largest {
			tick = math.Min(tick, s)
		}
	}
	if tick < 0.02*gaps[0] { // scatter of a fine clock
		return 0
	}
	// Scatter within a grid point, beside which a tick stands out.
	from := gaps[0]
	for i, s := range steps {
		if s > tick/2 {
			if n := s / tick; math.Abs(n-math.Round(n)) > 0.1 {
				return 0
			}
			from = gaps[i+1]
		} else if gaps[i+1]-from > 0.1*tick {
			return 0
		}
	}
	return tick
}
