package estimator

import (
	"math"
	"math/rand/v2"
	"testing"
)

// drifting is a made-up machine: how many times as long as predicted a run takes, cell by cell.
type drifting struct {
	name string
	// missed is by how much the samples are off, at most; state returns how slow the machine is in a cell, given what it
	// was in the last one; own is the standard deviation of a run.
	missed float64
	state  func(last float64, rng *rand.Rand) float64
	own    float64
}

var drifters = []drifting{
	{"steady", 0.1, func(float64, *rand.Rand) float64 { return 0 }, 0.01},
	{"samples far off", 0.5, func(float64, *rand.Rand) float64 { return 0 }, 0.02},
	{"of two modes", 0.2, func(last float64, rng *rand.Rand) float64 { // that last for about three cells
		if rng.IntN(3) > 0 {
			return last
		}
		return math.Log(1.5) * float64(rng.IntN(2))
	}, 0.02},
	{"that drifts", 0.2, func(last float64, rng *rand.Rand) float64 { return 0.8*last + 0.06*rng.NormFloat64() }, 0.03},
	{"beside neighbours", 0.1, func(_ float64, rng *rand.Rand) float64 { return 0.3 * max(0, rng.Float64()-0.5) }, 0.05},
}

// Over twelve cells of two runs each, on machines whose truth is known, most of the runs fall inside the 90%
// interval; corrected predictions have little bias, and are nearer than those of the samples.
func TestCorrectedIntervalsHold(t *testing.T) {
	const before, seeds, cells, perCell = 0.2, 8, 12, 2
	for _, m := range drifters {
		var runs, covered, err, uncorrected, bias float64
		for seed := range uint64(seeds) {
			rng := rand.New(rand.NewPCG(seed, 1))
			missed, state := m.missed*(2*rng.Float64()-1), 0.0
			var groups [][]float64
			for range cells {
				state = m.state(state, rng)
				c := Correct(groups, before, 0.9)
				var now []float64
				for range perCell {
					y := missed + state + m.own*rng.NormFloat64()
					now = append(now, y)
					if len(groups) == 0 {
						continue // what the samples say is judged elsewhere
					}
					took := math.Exp(y)
					runs++
					err += math.Abs(c.Factor/took - 1)
					bias += c.Factor/took - 1
					uncorrected += math.Abs(1/took - 1)
					if c.Low <= took && took <= c.High {
						covered++
					}
				}
				groups = append(groups, now)
			}
		}
		t.Logf("%s: covered %.1f%%, off by %.1f%% (bias %+.1f%%), without correction %.1f%%", m.name,
			100*covered/runs, 100*err/runs, 100*bias/runs, 100*uncorrected/runs)
		if covered/runs < 0.82 || covered/runs > 0.98 {
			t.Errorf("%s: %.1f%% of runs fell inside the 90%% interval", m.name, 100*covered/runs)
		}
		if math.Abs(bias/runs) > 0.05 || err > uncorrected {
			t.Errorf("%s: off by %.1f%%, bias %+.1f%%, without correction %.1f%%", m.name, 100*err/runs, 100*bias/runs,
				100*uncorrected/runs)
		}
	}
}

// Nothing is corrected before a run has finished; the first runs correct most of what the samples missed, and the more
// agree the narrower the interval.
func TestCorrect(t *testing.T) {
	if c := Correct(nil, 0.2, 0.9); c != (Correction{Factor: 1}) {
		t.Errorf("without runs: %+v", c)
	}
	y := math.Log(1.3)
	one := Correct([][]float64{{y}}, 0.2, 0.9)
	many := Correct([][]float64{{y, y}, nil, {y}, {y, y}, {y}}, 0.2, 0.9)
	if one.Factor < 1.2 || one.Factor > 1.3 || many.Factor < 1.28 || many.Factor > 1.3 || one.Runs != 1 || many.Runs != 6 {
		t.Errorf("after one run %+v, after six %+v", one, many)
	}
	if one.Low > 1.2 || many.High/many.Low > one.High/one.Low || many.Low > 1.3 || many.High < 1.3 {
		t.Errorf("after one run %+v, after six %+v", one, many)
	}
	// What lasts is followed, what does not last is not.
	lasting := Correct([][]float64{{0, 0}, {0.01, 0}, {0, 0.01}, {0.4, 0.4}, {0.41, 0.4}, {0.4, 0.41}}, 0.2, 0.9)
	passing := Correct([][]float64{{0, 0}, {0.4, 0.4}, {0, 0}, {0.41, 0.4}, {0, 0.01}, {0.4, 0.41}}, 0.2, 0.9)
	if lasting.Factor < 1.3 || passing.Factor > lasting.Factor {
		t.Errorf("a state that lasts %+v, one that does not %+v", lasting, passing)
	}
}
