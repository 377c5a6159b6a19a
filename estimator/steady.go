package estimator

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/tfexp/tfexp/experiments/schema"
)

// A time is out of line beyond this many robust standard deviations from the median.
// Machines that share their cores with others unseen (hyper-threads, virtual
// machines) are half as slow again for moments, in whole runs as in samples, and on a
// quiet one the deviations are tiny: disturbed times are far slower than that as
// well. A spread below this fraction of the median is raised to it, since equal times
// (of a coarse clock, for example) give no information on it.
const (
	warmupDeviations    = 3
	disturbedDeviations = 5
	leastSpread         = 0.01
	disturbedFactor     = 1.75
)

// warmup returns the number of leading units of each sample that are not part
// of its pace. A first unit warms up caches, threads and the clock of the
// machine: it takes a tenth longer even in small jobs, an error that would
// count for each unit of a job many times as long as its sample. So it is
// always left out. Further ones are as long as their median over the samples is
// out of line with the second halves of the samples, and at most half of the
// longest sample.
func warmup(samples []Sample) int {
	longest := 0
	var late []float64
	for _, s := range samples {
		longest = max(longest, len(s.Units))
		late = append(late, s.Units[(len(s.Units)+1)/2:]...)
	}
	if len(late) < 3 {
		return 1
	}
	limit := outOfLine(late, warmupDeviations)
	for i := 1; i < longest/2; i++ {
		var at []float64
		for _, s := range samples {
			if i < len(s.Units) {
				at = append(at, s.Units[i])
			}
		}
		if Median(at) <= limit {
			return i
		}
	}
	return max(1, longest/2)
}

// steady leaves out units that a neighbor disturbed: those far out of line, if
// fewer than half of the samples have any. A delay that most samples have
// belongs to the job (an occasional evaluation). The warning names the omitted
// units.
func steady(runs [][]float64) (kept [][]float64, warning string) {
	all := slices.Concat(runs...)
	if len(runs) < 2 || len(all) < 5 {
		return runs, ""
	}
	limit := math.Max(outOfLine(all, disturbedDeviations), disturbedFactor*Median(all))
	units, samples := 0, 0
	for _, r := range runs {
		in := slices.DeleteFunc(slices.Clone(r), func(u float64) bool { return u > limit })
		if n := len(r) - len(in); n > 0 {
			units, samples = units+n, samples+1
		}
		if len(in) > 0 {
			kept = append(kept, in)
		}
	}
	if units == 0 || 2*samples >= len(runs) {
		return runs, ""
	}
	return kept, fmt.Sprintf("%d of %d measured units were far slower than the rest and are ignored: was the "+
		"machine busy?", units, len(all))
}

// outOfLine returns the median plus the given number of robust standard
// deviations (1.4826 times the median absolute deviation, which is the standard
// deviation where values are normal).
func outOfLine(v []float64, deviations float64) float64 {
	m := Median(v)
	d := schema.Each(v, func(x float64) float64 { return math.Abs(x - m) })
	return m + deviations*math.Max(1.4826*Median(d), leastSpread*m)
}

// Median is the mean of the two middle values where there are two.
func Median(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	n := len(s)
	return stat.Mean(s[(n-1)/2:n/2+1], nil)
}
