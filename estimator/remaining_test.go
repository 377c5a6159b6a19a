package estimator

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Cells take five times as long as predicted. The remaining time is within its range after the first and the second
// cell have finished, and while the first cell still runs. Cells of an earlier run count until a cell of this run has
// finished.
func TestRemainingTimeLearnsFromFinishedCells(t *testing.T) {
	kinds := []string{"fcfs", "rr", "sjf"}
	cells := make([]CellTime, 12)
	for i := range cells {
		cells[i] = CellTime{Kind: kinds[i%3], Predicted: 4 + float64(i%3)}
	}
	const slow, level = 5, 0.9
	finish := func(cells []CellTime, n int, times float64, earlier bool) []CellTime {
		now := append([]CellTime{}, cells...)
		for i := range n {
			now[i].Took, now[i].Earlier = times*now[i].Predicted, earlier
		}
		return now
	}
	left := func(cells []CellTime, times float64) (sum float64) {
		for _, c := range cells {
			if c.Took == 0 {
				sum += (times*c.Predicted - c.Ran) / max(1, c.Beside)
			}
		}
		return sum
	}
	running := finish(cells, 0, 1, false)
	running[0].Ran = 15
	parallel := finish(cells, 2, slow, false)
	for i := range parallel {
		parallel[i].Beside = 2
	}
	parallel[2].Ran, parallel[3].Ran = 4, 4
	reports := finish(cells, 1, slow, false)
	reports[1].Ran, reports[1].Left, reports[1].Reports = 10, 15, true
	mixed := finish(cells, 4, 1, true)
	mixed[4].Took = slow * mixed[4].Predicted
	for _, c := range []struct {
		what        string
		cells       []CellTime
		truth       float64 // real time divided by predicted time
		off, spread float64 // the largest error, and the largest ratio of the ends of the range
	}{
		{"before any", cells, 1, 0.01, 3},
		{"one that runs has taken four times as long", running, 4, 0.2, 9},
		{"after one", finish(cells, 1, slow, false), slow, 0.1, 9},
		{"after two", finish(cells, 2, slow, false), slow, 0.05, 7},
		{"after two, two at a time", parallel, slow, 0.06, 7},
		{"after one, and the next says how long it still takes", reports, slow, 0.1, 9},
		{"three of the cache", finish(cells, 3, slow, true), slow, 0.05, 4},
		{"one of this run, after four of the cache that were fast", mixed, slow, 0.1, 9},
	} {
		p, known := RemainingTime(c.cells, level)
		truth := left(c.cells, c.truth)
		if !known || math.Abs(p.Seconds/truth-1) > c.off || p.Low > truth || truth > p.High || p.High > c.spread*p.Low {
			t.Errorf("%s: %.0f s (%.0f to %.0f) are left, not %.0f", c.what, p.Seconds, p.Low, p.High, truth)
		}
	}
}

// Without predictions, the mean time of finished cells is used, and later the mean of the same kind of cell. Without
// finished cells, the remaining time is unknown.
func TestRemainingTimeWithoutPredictions(t *testing.T) {
	cells := []CellTime{{Kind: "a"}, {Kind: "b"}, {Kind: "a"}, {Kind: "b"}}
	if p, known := RemainingTime(cells, 0.9); known {
		t.Errorf("%+v", p)
	}
	cells[0].Took = 10
	if p, _ := RemainingTime(cells, 0.9); math.Abs(p.Seconds-30) > 1e-6 || p.High < 60 {
		t.Errorf("after one: %+v", p)
	}
	cells[1].Took = 30
	if p, _ := RemainingTime(cells, 0.9); math.Abs(p.Seconds-40) > 4 {
		t.Errorf("after both: %+v", p)
	}
}

// Machines are slower than predicted by a random factor, and cells vary. After two of eight cells, the range contains
// the true remaining time in nine of ten cases.
func TestRemainingTimeRangesHold(t *testing.T) {
	const n = 300
	inside := 0
	for seed := range uint64(n) {
		rng := rand.New(rand.NewPCG(46, seed))
		slow, kinds := 0.6*rng.NormFloat64(), [2]float64{0.2 * rng.NormFloat64(), 0.2 * rng.NormFloat64()}
		cells, truth := make([]CellTime, 8), 0.0
		for i := range cells {
			cells[i] = CellTime{Kind: string(rune('a' + i%2)), Predicted: 5}
			took := 5 * math.Exp(slow+kinds[i%2]+0.12*rng.NormFloat64())
			if i < 2 {
				cells[i].Took = took
			} else {
				truth += took
			}
		}
		if p, _ := RemainingTime(cells, 0.9); p.Low <= truth && truth <= p.High {
			inside++
		}
	}
	if part := float64(inside) / n; part < 0.88 {
		t.Errorf("%.0f%% of the ranges hold", 100*part)
	}
}
