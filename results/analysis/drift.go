package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
)

// Speeds are the speeds of the machine on a number of cores, at the moments just before samples and real cells.
type Speeds struct {
	Cores, Moments int
	// SD is the standard deviation of the logarithms of the probe's times; Range how many times as long the slowest
	// took as the fastest.
	SD, Range float64
}

// Drift is how much the speed of the machine differed between the moments of an experiment, by the number of cores;
// it omits numbers that were measured once.
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

// driftSentence is how much a machine's speed differed: "The speed of 2 cores differed by 8% (standard deviation)
// between 12
// moments; the slowest took 1.3 times as long as the fastest."
func driftSentence(s Speeds) string {
	cores := "one core"
	if s.Cores > 1 {
		cores = fmt.Sprintf("%d cores", s.Cores)
	}
	return fmt.Sprintf("The speed of %s differed by %s%% (standard deviation) between %d moments; at the slowest, a "+
		"fixed piece "+
		"of work took %s times as long as at the fastest. Predictions are compared at the speed that the machine had.",
		cores, table.Number(100*s.SD), s.Moments, table.Number(s.Range))
}
