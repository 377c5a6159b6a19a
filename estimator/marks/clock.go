package marks

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/tfexp/tfexp/estimator"
)

// fitLinear extrapolates the time per unit between the first and the last mark of the run. Its error is at least that
// of the clock: each of the two marks was reached at some time within the tick before it.
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

// clockless returns the relative error of a run's seconds from one mark to the next, if no tick is known: √6 standard
// deviations of the times per unit between marks, combined with the prior of any machine. Runs of only two marks do
// not separate this error from differences between runs, which then count as error.
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

// fewMarks is the warning about an estimate whose spread is only assumed.
const fewMarks = "two rows are too few to detect the log's clock: it is assumed to be exact"

// assumedClock is the warning about an estimate for which the tick of the clock is unknown.
const assumedClock = "the rows do not show the log's clock: a tick of one minute is assumed, or of their usual distance if " +
	"that is less (--tick sets another)"

// span returns the work and the seconds between the first and the last mark.
func span(marks []Mark) (length, seconds float64) {
	if len(marks) == 0 {
		return 0, 0
	}
	first, last := marks[0], marks[len(marks)-1]
	return float64(last.Done - first.Done), last.At - first.At
}

// Assumptions about programs that watch a log: they read it once a minute, and each reading takes about the same
// time.
const (
	usualTick   = 60
	alikeWithin = 3
)

// clockOf returns the tick of the clock of the runs, or 0 for a fine clock. assumed is set if the marks do not show
// the tick: they have few gaps, or equal gaps longer than the usual tick. clockOf then returns the usual tick,
// because a too wide interval is the smaller harm. If most gaps are equal to the digit, which is not so with a fine
// clock, the tick may be as long as the gap.
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

// leastGaps is the smallest number of gaps in which a tick can be found.
const leastGaps = 3

// gapsOf returns the seconds between consecutive marks.
func gapsOf(runs [][]Mark) (gaps []float64) {
	for _, marks := range runs {
		for i := 1; i < len(marks); i++ {
			gaps = append(gaps, marks[i].At-marks[i-1].At)
		}
	}
	return gaps
}

// FindTick finds the tick of the clock from the gaps between marks. If a program reads the log once a minute, gaps of
// about the same work differ by whole minutes. FindTick returns 0 if the gaps show no tick: they are fewer than
// three, all equal, not on a grid to within a tenth of it, shorter than a tick, or hardly two at any point of the
// grid.
func FindTick(runs [][]Mark) float64 {
	gaps := gapsOf(runs)
	if len(gaps) < leastGaps {
		return 0
	}
	slices.Sort(gaps)
	// The tick is the smallest of the large differences between sorted gaps. On a grid, all differences are either
	// scatter around a grid point or multiples of the tick.
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
	// A smaller difference is the scatter of a fine clock, a larger one is due to different speeds of runs.
	if tick < 0.02*gaps[0] || tick > gaps[0] {
		return 0
	}
	// A tick must be clearly larger than the scatter around a grid point.
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
	if len(gaps) < 2*clusters-1 { // these gaps are on a grid only by chance
		return 0
	}
	return tick
}
