package estimator

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// CellTime is what is known of the time of a cell, in seconds.
type CellTime struct {
	// Kind is common to cells that differ from their predictions alike, Predicted the prediction; 0 if there is none.
	Kind      string
	Predicted float64
	// Took is how long the cell took, if it has finished; 0 otherwise. Earlier says that it did so in an earlier run.
	Took    float64
	Earlier bool
	// Ran is how long the cell has run, if it runs. Left is how long it still runs by the reports of its jobs, if Reports.
	Ran, Left float64
	Reports   bool
	// Beside is the number of cells that run at the same time as this one; 0 means that it is alone.
	Beside float64
}

// The standard deviations of the logarithm of a cell's time before cells have finished: about its prediction, or about
// the mean of the others where there is none.
const (
	cellSD        = 0.3 // and of what all cells have in common
	unpredictedSD = 1.0
)

// atLeast is how long a cell still runs that has taken longer than expected, relative to the time that it has run.
const atLeast = 0.1

// RemainingTime predicts how long the cells that have not finished will take, with the interval at a level. Finished
// cells correct the predictions of others (see Corrections), those of earlier runs until one of this run has finished.
// A running cell that has taken longer than expected counts as a finished one. known is false where there is no prediction.
func RemainingTime(cells []CellTime, level float64) (p Prediction, known bool) {
	earlier, logs, n := true, 0.0, 0.0
	for _, c := range cells {
		if c.Took > 0 {
			earlier = earlier && c.Earlier
			logs, n = logs+math.Log(c.Took), n+1
		}
	}
	usual := math.Exp(logs / n) // NaN without any
	prediction := func(c CellTime) (seconds, sd float64) {
		if c.Predicted > 0 {
			return c.Predicted, cellSD
		}
		return usual, unpredictedSD
	}
	learned := Corrections{priorSD: cellSD}
	learn := func(c CellTime, took float64) {
		seconds, sd := prediction(c)
		learned.Learn(Ran{Job: c.Kind, Before: sd, Longer: []float64{math.Log(took / seconds)}})
	}
	expect := func(c CellTime) Prediction {
		seconds, sd := prediction(c)
		k := learned.Next(c.Kind, sd, level)
		if k.Runs == 0 {
			k.High = math.Exp(sd * distuv.UnitNormal.Quantile((1+level)/2))
			k.Low = 1 / k.High
		}
		return Prediction{seconds * k.Factor, seconds * k.Low, seconds * k.High}
	}
	for _, c := range cells {
		if c.Took > 0 && c.Earlier == earlier {
			learn(c, c.Took)
		}
	}
	for _, c := range cells {
		if so := c.Ran + c.Left; so > 0 && c.Took == 0 && so > expect(c).Seconds {
			learn(c, so)
		}
	}
	for _, c := range cells {
		if c.Took > 0 {
			continue
		}
		e := expect(c)
		least := atLeast * c.Ran
		left := Prediction{math.Max(least, e.Seconds-c.Ran), math.Max(least, e.Low-c.Ran), math.Max(least, e.High-c.Ran)}
		if c.Reports {
			left = Prediction{c.Left, c.Left * e.Low / e.Seconds, c.Left * e.High / e.Seconds}
		}
		side := math.Max(1, c.Beside)
		p.Seconds, p.Low, p.High = p.Seconds+left.Seconds/side, p.Low+left.Low/side, p.High+left.High/side
	}
	return p, !math.IsNaN(p.Seconds)
}
