package estimator

import (
	"math"
	"math/rand/v2"
	"testing"
)

// drifting is a simulated machine. It determines for each cell how many times as long as predicted a run takes.
type drifting struct {
	name string
	// missed is the greatest bias of the samples; state returns the slowness of the machine in a cell, given its
	// slowness in the last one; own is the standard deviation of a run.
	missed float64
	state  func(last float64, rng *rand.Rand) float64
	own    float64
}

var drifters = []drifting{
	{"steady", 0.1, func(float64, *rand.Rand) float64 { return 0 }, 0.01},
	{"samples far off", 0.5, func(float64, *rand.Rand) float64 { return 0 }, 0.02},
	{"of two modes", 0.2, func(last float64, rng *rand.Rand) float64 { // each mode lasts for about three cells
		if rng.IntN(3) > 0 {
			return last
		}
		return math.Log(1.5) * float64(rng.IntN(2))
	}, 0.02},
	{"that drifts", 0.2, func(last float64, rng *rand.Rand) float64 { return 0.8*last + 0.06*rng.NormFloat64() }, 0.03},
	{"beside neighbors", 0.1, func(_ float64, rng *rand.Rand) float64 { return 0.3 * max(0, rng.Float64()-0.5) }, 0.05},
}

// On simulated machines, most runs of twelve cells with two runs each fall inside the 90% interval. Corrected
// predictions have little bias, and are closer to the runs than predictions from the samples.
func TestCorrectedIntervalsHold(t *testing.T) {
	const before, seeds, cells, perCell = 0.2, 8, 12, 2
	for _, m := range drifters {
		var runs, covered, err, uncorrected, bias float64
		for seed := range uint64(seeds) {
			rng := rand.New(rand.NewPCG(seed, 1))
			missed, state := m.missed*(2*rng.Float64()-1), 0.0
			var learned Corrections
			for cell := range cells {
				state = m.state(state, rng)
				c := learned.Next("job", before, 0.9)
				var now []float64
				for range perCell {
					y := missed + state + m.own*rng.NormFloat64()
					now = append(now, y)
					if cell < 4 {
						continue // the first cells are predicted mostly from samples and the prior
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
				learned.Learn(Ran{"job", before, now})
			}
		}
		t.Logf("%s: covered %.1f%%, off by %.1f%% (bias %+.1f%%), without correction %.1f%%", m.name,
			100*covered/runs, 100*err/runs, 100*bias/runs, 100*uncorrected/runs)
		most := 0.98
		if m.own < runSD/2 {
			most = 1 // the prior is wider than this machine's spread
		}
		if covered/runs < 0.82 || covered/runs > most {
			t.Errorf("%s: %.1f%% of runs fell inside the 90%% interval", m.name, 100*covered/runs)
		}
		if math.Abs(bias/runs) > 0.05 || err > uncorrected {
			t.Errorf("%s: off by %.1f%%, bias %+.1f%%, without correction %.1f%%", m.name, 100*err/runs, 100*bias/runs,
				100*uncorrected/runs)
		}
	}
}

// Before any run has finished, the correction is 1. The first runs correct most of the bias of the samples. The
// interval becomes narrower with more runs that agree.
func TestCorrections(t *testing.T) {
	after := func(cells ...[]float64) Correction {
		var learned Corrections
		for _, longer := range cells {
			learned.Learn(Ran{"job", 0.2, longer})
		}
		return learned.Next("job", 0.2, 0.9)
	}
	if c := after(); c != (Correction{Factor: 1}) {
		t.Errorf("without runs: %+v", c)
	}
	y := math.Log(1.3)
	one := after([]float64{y})
	many := after([]float64{y, y}, nil, []float64{y}, []float64{y, y}, []float64{y})
	if one.Factor < 1.15 || one.Factor > 1.3 || many.Factor < 1.27 || many.Factor > 1.3 || one.Runs != 1 || many.Runs != 6 {
		t.Errorf("after one run %+v, after six %+v", one, many)
	}
	if one.Low > 1.2 || many.High/many.Low > one.High/one.Low || many.Low > 1.3 || many.High < 1.3 {
		t.Errorf("after one run %+v, after six %+v", one, many)
	}
	// A lasting change of the speed changes the correction; a change that comes and goes does not.
	at := func(y ...float64) (cells [][]float64) {
		for _, v := range y {
			cells = append(cells, []float64{v, v + 0.01})
		}
		return cells
	}
	lasting, passing := after(at(0, 0, 0, 0.4, 0.4, 0.4)...), after(at(0, 0.4, 0, 0.4, 0, 0.4)...)
	if lasting.Factor < 1.2 || passing.Factor > lasting.Factor {
		t.Errorf("a state that lasts %+v, one that does not %+v", lasting, passing)
	}
}

// If a job shows that the machine is five times slower than during the samples, the predictions of other jobs become
// five times longer as well.
func TestAllJobsShareASlowMachine(t *testing.T) {
	var learned Corrections
	learned.Learn(Ran{"a", 0.2, []float64{math.Log(5)}})
	for _, job := range []string{"a", "b"} {
		if c := learned.Next(job, 0.2, 0.9); c.Factor < 4 || c.Factor > 5.2 || c.Low > 5 || c.High < 5 {
			t.Errorf("%s: %+v", job, c)
		}
	}
}

// Three jobs were sampled at a fast moment, on a machine that drifts but is steadier than most. At least 85% of the
// runs fall inside the 90% interval, with little bias. Runs of other jobs correct part of the bias of a job that has
// not run yet.
func TestJobsShareCorrections(t *testing.T) {
	const before, seeds, cells = 0.15, 24, 8
	var runs, covered, bias, first, firstOff, uncorrected float64
	for seed := range uint64(seeds) {
		rng := rand.New(rand.NewPCG(seed, 2))
		shared, state := before*math.Sqrt(0.5)*rng.NormFloat64(), 0.04*rng.NormFloat64()
		var own [3]float64
		for i := range own {
			own[i] = before * math.Sqrt(0.5) * rng.NormFloat64()
		}
		var learned Corrections
		for cell := range cells {
			state = 0.7*state + 0.03*rng.NormFloat64()
			var now []Ran
			for i, job := range []string{"a", "b", "c"} {
				if cell < 2*i { // the job does not run in this cell
					continue
				}
				c := learned.Next(job, before, 0.9)
				y := shared + own[i] + state + 0.03*rng.NormFloat64()
				now = append(now, Ran{job, before, []float64{y}})
				if c.Runs == 0 {
					continue
				}
				off := math.Log(c.Factor) - y
				runs, bias = runs+1, bias+off
				if took := math.Exp(y); c.Low <= took && took <= c.High {
					covered++
				}
				if cell == 2*i {
					first, firstOff, uncorrected = first+1, firstOff+math.Abs(off), uncorrected+math.Abs(y)
				}
			}
			learned.Learn(now...)
		}
	}
	t.Logf("covered %.1f%%, bias %+.2f%%; first runs off by %.1f%%, without the other jobs' runs %.1f%%",
		100*covered/runs, 100*bias/runs, 100*firstOff/first, 100*uncorrected/first)
	if covered/runs < 0.85 || math.Abs(bias/runs) > 0.01 {
		t.Errorf("%.1f%% of the runs fell inside the 90%% interval, with a bias of %+.2f%%", 100*covered/runs, 100*bias/runs)
	}
	if firstOff > 0.9*uncorrected {
		t.Errorf("a job's first runs are off by %.1f%%, without the runs of other jobs by %.1f%%", 100*firstOff/first,
			100*uncorrected/first)
	}
}
