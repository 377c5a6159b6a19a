package estimator

import (
	"math"
	"math/rand/v2"
	"testing"
)

// machine draws runs as they occur on real machines: each run has a different pace (from the clock and from neighbors),
// successive units are correlated, the first units are slower, and programs take a while to start.
type machine struct {
	r                        *rand.Rand
	unit, paceSD, unitSD     float64
	rho, startup, warmup     float64
	moments                  float64 // spread of the machine's speed from moment to moment
	rounded                  float64 // the resolution of the program's printed times, in seconds
	disturbedRuns, disturbed float64 // the fraction of runs that a neighbor slows down, and by how much
}

func (m machine) run(length int) Sample {
	pace := m.unit * math.Exp(m.paceSD*m.r.NormFloat64())
	s := Sample{Length: length, Threads: 2, Wall: m.startup * math.Exp(0.05*m.r.NormFloat64())}
	noise := m.r.NormFloat64()
	slow := m.r.Float64() < m.disturbedRuns
	moment, until := 1.0, 0.0
	for i := range length {
		noise = m.rho*noise + math.Sqrt(1-m.rho*m.rho)*m.r.NormFloat64()
		if s.Wall >= until {
			moment, until = 1+m.moments*m.r.NormFloat64(), s.Wall+momentSeconds
		}
		u := pace * moment * (1 + m.unitSD*noise)
		if i == 0 {
			u += m.warmup
		}
		if slow && i >= length/2 {
			u *= 1 + m.disturbed
		}
		s.Wall += u
		if m.rounded > 0 {
			u = math.Round(u/m.rounded) * m.rounded
		}
		s.Units = append(s.Units, u)
	}
	return s
}

// Predictions from short samples of runs that are thirty times as long: the 90% interval contains 85 to 98% of the
// runs.
func TestCoverageOfExtrapolation(t *testing.T) {
	for _, test := range []struct {
		name    string
		m       machine
		lengths []int
		silent  bool // the program reports no units
	}{
		{"independent units", machine{unit: 0.1, paceSD: 0.11, unitSD: 0.08, startup: 0.4, warmup: 0.05},
			[]int{6, 12}, false},
		{"units with memory", machine{unit: 0.1, paceSD: 0.11, unitSD: 0.12, rho: 0.6, startup: 0.4,
			warmup: 0.02}, []int{24, 48}, false},
		{"runs of unlike pace", machine{unit: 2, paceSD: 0.13, unitSD: 0.08, startup: 5, warmup: 1},
			[]int{3, 6, 9}, false},
		{"coarsely printed", machine{unit: 0.1, paceSD: 0.11, unitSD: 0.1, startup: 0.4, rounded: 0.005},
			[]int{6, 12}, false},
		{"wall times alone", machine{unit: 1, paceSD: 0.11, unitSD: 0.08, startup: 4}, []int{6, 12, 18}, true},
	} {
		test.m.r = rand.New(rand.NewPCG(11, 12))
		const trials = 1000
		covered := 0
		var bias float64
		for range trials {
			var p Problem
			for _, n := range test.lengths {
				s := test.m.run(n)
				if test.silent {
					s.Units = nil
				}
				p.Samples = append(p.Samples, s)
			}
			e, err := Linear{}.Fit(p)
			if err != nil {
				t.Fatal(err)
			}
			length := 30 * test.lengths[0]
			actual := test.m.run(length).Wall
			q := e.Predict(length, 0.9)
			bias += (q.Seconds/actual - 1) / trials
			if q.Low <= actual && actual <= q.High {
				covered++
			}
		}
		share := float64(covered) / trials
		t.Logf("%s: covers %.1f%%, bias %.2f%%", test.name, 100*share, 100*bias)
		if share < 0.85 || share > 0.99 {
			t.Errorf("%s: the 90%% interval covers %.1f%%", test.name, 100*share)
		}
		if math.Abs(bias) > 0.07 {
			t.Errorf("%s: predictions are off by %.1f%% on average", test.name, 100*bias)
		}
	}
}

// If another program doubles the time of one of three samples, the interval becomes wider and contains the true time.
func TestDisturbedSampleWidensTheInterval(t *testing.T) {
	m := machine{r: rand.New(rand.NewPCG(5, 6)), unit: 0.1, unitSD: 0.02, startup: 0.3}
	p := Problem{Samples: []Sample{m.run(6), m.run(12)}}
	quiet, err := Linear{}.Fit(p)
	if err != nil {
		t.Fatal(err)
	}
	m.disturbedRuns, m.disturbed = 1, 1
	p.Samples = append(p.Samples, m.run(12))
	e, err := Linear{}.Fit(p)
	if err != nil {
		t.Fatal(err)
	}
	before, _ := quiet.Width(300)
	after, _ := e.Width(300)
	if q := e.Predict(300, 0.9); q.Low > 30 || q.High < 30 || after < before {
		t.Errorf("%+v, before %+v", q, quiet.Predict(300, 0.9))
	}
}

// Every fifth unit is slower, because the program evaluates its model; the prediction includes these units.
func TestRegularSlowUnitsCount(t *testing.T) {
	var p Problem
	for _, n := range []int{11, 21} {
		s := Sample{Length: n}
		for i := range n {
			u := 1.0
			if i%5 == 4 {
				u = 2
			}
			s.Units, s.Wall = append(s.Units, u), s.Wall+u
		}
		p.Samples = append(p.Samples, s)
	}
	e, err := Linear{}.Fit(p)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "slope", e.Slope, 1.2, 0.02)
}

// Several units of warm-up are detected.
func TestLongWarmup(t *testing.T) {
	units := func(n int) []float64 {
		v := []float64{3, 2.2, 1.6, 1.2}
		for len(v) < n {
			v = append(v, 1)
		}
		return v
	}
	e, err := Linear{}.Fit(Problem{Samples: []Sample{
		{Length: 10, Wall: 0.5 + 14, Units: units(10)}, {Length: 20, Wall: 0.5 + 24, Units: units(20)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "slope", e.Slope, 1, 0.02)
	near(t, "intercept", e.Intercept, 4.5, 0.2)
}
