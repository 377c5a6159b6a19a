package analysis

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/tell"
)

// Speeds are the speeds of the machine during samples and real cells.
type Speeds struct {
	Moments int
	// SD is the standard deviation of the logarithms of the probe's times; Range how many times as long the slowest
	// took as the fastest.
	SD, Range float64
}

// Drift is how much the speed of the machine differed between the samples and real cells of an experiment. It reports
// false if fewer than two were measured.
func Drift(e *record.Experiment) (Speeds, bool, error) {
	samples, err := record.Samples.Read(e.Dir)
	if err != nil {
		return Speeds{}, false, err
	}
	var logs []float64
	for _, s := range samples {
		if s.Probe > 0 {
			logs = append(logs, math.Log(s.Probe))
		}
	}
	for _, c := range e.Cells {
		if c.Speed != nil && c.Speed.Seconds > 0 {
			logs = append(logs, math.Log(c.Speed.Seconds))
		}
	}
	if len(logs) < 2 {
		return Speeds{}, false, nil
	}
	return Speeds{len(logs), stat.StdDev(logs, nil), math.Exp(slices.Max(logs) - slices.Min(logs))}, true, nil
}

// driftSentence says how much a machine's speed differed: "The speed of the machine differed by 8% (standard deviation)
// between 12 samples and cells; at the slowest, …".
func driftSentence(s Speeds) string {
	return fmt.Sprintf("The speed of the machine differed by %s%% (standard deviation) between %d samples and cells; at "+
		"the slowest, a fixed piece of work took %s times as long as at the fastest. Predictions are compared at the speed "+
		"that the machine had.", tell.Number(100*s.SD), s.Moments, tell.Number(s.Range))
}
