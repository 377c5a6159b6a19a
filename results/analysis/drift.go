package analysis

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/tfexp/tfexp/results/record"
)

// Speeds are how fast the machine was on so many cores, at the moments just before samples and real cells.
type Speeds struct {
	Cores, Moments int
	// SD is the standard deviation of the logarithms of the probe's times; Range how many times as long the slowest
	// took as the fastest.
	SD, Range float64
}

// Drift is how much the speed of the machine differed between the moments of an experiment, by the number of cores; of
// numbers that were measured once there is none.
func Drift(e *record.Experiment) ([]Speeds, error) {
	samples, err := record.Samples.Read(e.Dir)
	if err != nil {
		return nil, err
	}
	logs := map[int][]float64{}
	add := func(cores int, seconds float64) {
		if seconds > 0 {
			logs[cores] = append(logs[cores], math.Log(seconds))
		}
	}
	for _, s := range samples {
		add(s.ProbeCores, s.Probe)
	}
	for _, c := range e.Cells {
		for _, s := range c.Speeds {
			add(s.Cores, s.Seconds)
		}
	}
	var all []Speeds
	for cores, v := range logs {
		if len(v) > 1 {
			all = append(all, Speeds{cores, len(v), stat.StdDev(v, nil), math.Exp(slices.Max(v) - slices.Min(v))})
		}
	}
	slices.SortFunc(all, func(a, b Speeds) int { return cmp.Compare(a.Cores, b.Cores) })
	return all, nil
}
