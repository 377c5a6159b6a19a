package estimator

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// CellTime has the known times of a cell, in seconds.
type CellTime struct {
	// Kind is equal for cells whose times differ from their predictions in the same way. Predicted is the prediction;
	// 0 means unknown.
	Kind      string
	Predicted float64
	// Took is how long the cell took; 0 if it has not finished. Earlier is set if it finished in an earlier run.
	Took    float64
	Earlier bool
	// Ran is how long the cell has run so far. If Reports is set, Left is the remaining time from its jobs' reports.
	Ran, Left float64
	Reports   bool
	// Beside is the number of other cells that run at the same time.
	Beside float64
}

// Standard deviations of the logarithm of a cell's time before any cell has finished: from its prediction, or from
// the mean of other cells.
const (
	cellSD        = 0.3 // of the part that all cells share
	unpredictedSD = 1.0
)

// atLeast is the predicted remaining time of a cell that has taken longer than expected, relative to its time so far.
const atLeast = 0.1

// RemainingTime predicts how long the unfinished cells will take, with an interval at the level. Finished cells
// correct predictions of others (see Corrections); cells of earlier runs do so until a cell of this run has finished.
// A running cell that has taken longer than expected counts as finished. known is false if there is no prediction.
func RemainingTime(cells []CellTime, level float64) (p Prediction, known bool) {
	earlier, logs, n := true, 0.0, 0.0
	for _, c := range cells {
		if c.Took > 0 {
			earlier = earlier && c.Earlier
			logs, n = logs+math.Log(c.Took), n+1
		}
	}
	usual := math.Exp(logs / n) // NaN if there are no predictions
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
