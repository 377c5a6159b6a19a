package estimator

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The spread of speeds is separated from the errors of the probe, for each number of cores separately.
func TestDriftOn(t *testing.T) {
	if d := DriftOn(nil, 1); d != (Drift{}) || d.Slower(Moment{1, 5, 0, 0}, 1) != 1 {
		t.Errorf("of nothing: %+v", d)
	}
	moments := []Moment{{1, 1, 0, 0}, {1, 1, 0, 0}, {2, 1, 0, 0}, {2, math.E, 0, 0}}
	if d := DriftOn(moments, 1); d.SD != 0 || d.Slower(Moment{1, 2, 0, 0}, 1) != 1 {
		t.Errorf("a steady machine: %+v", d)
	}
	d := DriftOn(moments, 2)
	if d.Moments != 2 || math.Abs(d.Typical-0.5) > 1e-12 || math.Abs(d.SD-math.Sqrt(0.5)) > 1e-12 {
		t.Errorf("two modes: %+v", d)
	}
	if f := d.Slower(Moment{2, math.E, 0, 0}, 1); math.Abs(f-math.Exp(0.5*follows)) > 1e-12 {
		t.Errorf("in the slow mode it is %g times as slow as typically", f)
	}
	if f := d.Slower(Moment{2, math.E, 0, 0}, 10*momentLasts); math.Abs(f-math.Exp(0.05*follows)) > 1e-12 {
		t.Errorf("a long run in the slow mode at its beginning: %g", f)
	}
	noise := []Moment{{1, 1, 0.1, 0}, {1, 1.05, 0.1, 0}, {1, 0.95, 0.1, 0}}
	if d := DriftOn(noise, 1); d.SD != 0 || d.Slower(noise[1], 1) != 1 {
		t.Errorf("errors of the probe count as drift: %+v", d)
	}
}

// modes is a machine that takes half as long again at half of the moments.
type modes struct{ rng *rand.Rand }

func (m modes) sample(length int) Sample {
	slow := 1.0
	if m.rng.IntN(2) == 1 {
		slow = 1.5
	}
	s := Sample{Length: length, Threads: 2, SpeedProbe: SpeedProbe{
		ProbeCores: 2, Probe: 0.001 * slow * (1 + 0.01*m.rng.NormFloat64()), ProbeError: 1e-5}}
	for range length {
		s.Units = append(s.Units, 0.1*slow*(1+0.01*m.rng.NormFloat64()))
		s.Wall += s.Units[len(s.Units)-1]
	}
	return s
}

// Intervals of samples that met one mode of a machine know both, as soon as the probe has seen both; samples of both
// modes are fitted as at one speed.
func TestIntervalsKnowBothModes(t *testing.T) {
	covered, blind, runs := 0, 0, 400
	for seed := range runs {
		m := modes{rand.New(rand.NewPCG(uint64(seed), 1))}
		samples := []Sample{m.sample(3), m.sample(6)}
		var moments []Moment
		for range 8 {
			moments = append(moments, m.sample(0).moment())
		}
		for _, s := range samples {
			moments = append(moments, s.moment())
		}
		plain, err := Linear{}.Fit(Problem{Samples: samples})
		if err != nil {
			t.Fatal(err)
		}
		e, err := Linear{}.Fit(Problem{Samples: AtOneSpeed(samples)})
		if err != nil {
			t.Fatal(err)
		}
		e = e.Among(moments, samples)
		actual := m.sample(20).Wall
		if p := e.Predict(20, 0.9); p.Low <= actual && actual <= p.High {
			covered++
		}
		if p := plain.Predict(20, 0.9); p.Low <= actual && actual <= p.High {
			blind++
		}
	}
	if share := float64(covered) / float64(runs); share < 0.85 || share > 0.99 {
		t.Errorf("90%% intervals held %.0f%% of runs", 100*share)
	}
	if float64(blind) > 0.7*float64(runs) {
		t.Errorf("without the probe they held %d of %d: the machine does not show what is tested", blind, runs)
	}
}

// Of a machine that was never probed, and of one that is steady, nothing changes.
func TestNoDriftChangesNothing(t *testing.T) {
	samples := []Sample{{Length: 2, Threads: 1, Wall: 1, Units: []float64{0.4, 0.5}},
		{Length: 4, Threads: 1, Wall: 2, Units: []float64{0.5, 0.5, 0.5, 0.4}}}
	e, err := Linear{}.Fit(Problem{Samples: samples})
	if err != nil {
		t.Fatal(err)
	}
	if again := AtOneSpeed(samples); again[0].Wall != 1 || again[1].Units[0] != 0.5 {
		t.Errorf("%+v", again)
	}
	if got := e.Among(nil, samples).Predict(10, 0.9); got != e.Predict(10, 0.9) {
		t.Errorf("%+v instead of %+v", got, e.Predict(10, 0.9))
	}
	steady := []Moment{{1, 1, 0, 0}, {1, 1, 0, 0}, {1, 1, 0, 0}, {1, 1, 0, 0}}
	if got := e.Among(steady, samples).Predict(10, 0.9); got != e.Predict(10, 0.9) {
		t.Errorf("%+v instead of %+v", got, e.Predict(10, 0.9))
	}
}

// A job with two threads waits for the exchange of cache lines. Samples that met both states of a machine show how far,
// and runs are expected at the state that they met; those that met one of them take the usual value.
func TestExchanges(t *testing.T) {
	const fast, slow = 63e-9, 330e-9
	take := func(length int, exchange, follows float64) Sample {
		s := Sample{Length: length, Threads: 2, SpeedProbe: SpeedProbe{ProbeCores: 2, Probe: 3e-4}, Exchange: exchange}
		for range length {
			s.Units = append(s.Units, 0.03*math.Pow(exchange/fast, follows))
			s.Wall += s.Units[len(s.Units)-1]
		}
		return s
	}
	for _, follows := range []float64{0, 0.1, 0.22} {
		samples := []Sample{take(3, fast, follows), take(6, slow, follows), take(3, slow, follows)}
		e, err := Linear{}.Fit(Problem{Samples: AtOneSpeed(samples)})
		if err != nil {
			t.Fatal(err)
		}
		e = e.Among(Moments(samples), samples)
		for _, x := range []float64{fast, slow, math.Sqrt(fast * slow)} {
			want := take(100, x, follows).Wall
			got := e.Predict(100, 0.9).Seconds * e.Exchanging(Moment{Cores: 2, Exchange: x})
			if math.Abs(got/want-1) > 0.04 { // shrunk
				t.Errorf("a job that follows by %g takes %g s at %g ns, %g s are expected", follows, want, 1e9*x, got)
			}
		}
	}
	one := []Sample{take(3, fast, 0.2), take(6, fast, 0.2)}
	e, err := Linear{}.Fit(Problem{Samples: AtOneSpeed(one)})
	if err != nil {
		t.Fatal(err)
	}
	e = e.Among(Moments(one), one)
	if f := e.Exchanging(Moment{Cores: 2, Exchange: slow}); math.Abs(f-math.Pow(slow/fast, usuallyShared)) > 1e-9 {
		t.Errorf("samples of one state expect %g in the other", f)
	}
	if f := e.Exchanging(Moment{Cores: 2}); f != 1 {
		t.Errorf("without a measurement: %g", f)
	}
}
