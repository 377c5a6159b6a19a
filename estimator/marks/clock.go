package marks

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/tfexp/tfexp/estimator"
)

// fitLinear is the pace between the first and the last mark of the run: plain linear extrapolation. Its error is at least
// the error of the clock: each of two marks is true at some time within the tick before it.
func fitLinear(own []Mark, tick float64) (estimator.Estimate, error) {
	length, seconds := span(own)
	if length <= 0 || seconds <= 0 {
		return estimator.Estimate{}, fmt.Errorf("fit linear: the speed needs two marks, one later and further than the other: "+
			"%w", estimator.ErrUnfit)
	}
	e := estimator.Estimate{Slope: seconds / length, PaceSD: runDrift, DF: clockDF}
	if tick == 0 {
		var assumed bool
		if tick, assumed = clockOf([][]Mark{own}); assumed {
			e.Warnings = append(e.Warnings, assumedClock)
		}
	}
	if tick == 0 {
		if len(own) < 3 {
			e.Warnings = append(e.Warnings, fewMarks)
		}
		e.DF = estimator.PriorDF + float64(len(own)-2)
		tick = clockless([][]Mark{own}) * seconds / math.Sqrt(float64(len(own)-1))
	}
	e.SlopeSE = math.Min(tick, seconds) / math.Sqrt(6) / length
	return e, nil
}

// clockless returns the relative width of the error of a run's seconds from one
// mark to the next, if no tick is known. It is √6 standard deviations of the paces
// between marks of a run, joined with the prior of any machine. Runs of two marks
// each do not separate this error from their paces; their differences then count as
// error.
func clockless(runs [][]Mark) float64 {
	ss, df := estimator.PriorDF*square(estimator.PriorPaceSD), float64(estimator.PriorDF)
	var paces []float64
	for _, marks := range runs {
		length, seconds := span(marks)
		if length <= 0 || seconds <= 0 {
			continue
		}
		paces = append(paces, seconds/length)
		for i := 1; i < len(marks); i++ {
			if l, t := span(marks[i-1 : i+1]); l > 0 {
				ss += square(t*length/(l*seconds) - 1)
				df++
			}
		}
		df--
	}
	if df < estimator.PriorDF+1 && len(paces) > 1 {
		ss, df = ss+float64(len(paces)-1)*stat.Variance(paces, nil)/square(stat.Mean(paces, nil)), df+float64(len(paces)-1)
	}
	return math.Sqrt(6 * ss / math.Max(df, 1))
}

// fewMarks is the warning about a pace whose spread comes only from its
// prior.
const fewMarks = "two rows are too few to detect the log's clock: it is assumed to be exact"

// assumedClock is the doubt about a pace whose clock is not known.
const assumedClock = "the rows do not show the log's clock: a tick of one minute is assumed, or of their usual distance if " +
	"that is less (--tick sets another)"

// span is the work and the seconds between the first and the last mark.
func span(marks []Mark) (length, seconds float64) {
	if len(marks) == 0 {
		return 0, 0
	}
	first, last := marks[0], marks[len(marks)-1]
	return float64(last.Done - first.Done), last.At - first.At
}

// Assumed behavior of watchers: they look once a minute, and each look takes
// about the same time.
const (
	usualTick   = 60
	alikeWithin = 3
)

// clockOf is the tick of the runs' clock, or 0 where it is fine. Where the marks do
// not show it (few gaps, or gaps all alike, longer than the usual tick), that one is
// assumed: too wide an interval is the lesser harm. So it is where most gaps are the
// same to the digit, which a fine clock would not show: the tick may then be as long
// as the gap.
func clockOf(runs [][]Mark) (tick float64, assumed bool) {
	if tick = FindTick(runs); tick > 0 {
		return tick, false
	}
	gaps := gapsOf(runs)
	if len(gaps) == 0 {
		return 0, false
	}
	least, most := slices.Min(gaps), slices.Max(gaps)
	if least > usualTick && (len(gaps) < leastGaps || most-least < alikeWithin) {
		return usualTick, true
	}
	slices.Sort(gaps)
	if middle := gaps[len(gaps)/2]; len(gaps) >= leastGaps && middle > 0 {
		from, _ := slices.BinarySearch(gaps, middle)
		to, _ := slices.BinarySearch(gaps, math.Nextafter(middle, math.Inf(1)))
		if 2*(to-from) > len(gaps) {
			return math.Min(middle, usualTick), true
		}
	}
	return 0, false
}

// leastGaps is the least number of gaps that show a tick.
const leastGaps = 3

// gapsOf are the seconds between marks that follow each other.
func gapsOf(runs [][]Mark) (gaps []float64) {
	for _, marks := range runs {
		for i := 1; i < len(marks); i++ {
			gaps = append(gaps, marks[i].At-marks[i-1].At)
		}
	}
	return gaps
}

// FindTick detects the tick of the clock of marks from the gaps between them:
// seen by a watcher that looks once a minute, gaps of about the same work are
// some seconds more than a whole number of minutes, and so apart from each other
// by whole minutes. It returns 0 when the gaps do not show a tick: fewer than
// three, all alike, not on a grid to within a tenth of it, shorter than a tick, or
// hardly two at a point of the grid.
func FindTick(runs [][]Mark) float64 {
	gaps := gapsOf(runs)
	if len(gaps) < leastGaps {
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
	// Less is the scatter of a fine clock, more is the scatter of runs with
	// different paces.
	if tick < 0.02*gaps[0] || tick > gaps[0] {
		return 0
	}
	// Scatter within a grid point; a tick is clearly larger.
	from, clusters := gaps[0], 1
	for i, s := range steps {
		if s > tick/2 {
			if n := s / tick; math.Abs(n-math.Round(n)) > 0.1 {
				return 0
			}
			from = gaps[i+1]
			clusters++
		} else if gaps[i+1]-from > 0.1*tick {
			return 0
		}
	}
	if len(gaps) < 2*clusters-1 { // numbers that happen to be apart alike
		return 0
	}
	return tick
}
