package estimator

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// fleet draws whole runs of jobs on hosts: a job's pace, times the host's, times
// how the job likes the host, times the run's own.
type fleet struct {
	r    *rand.Rand
	jobs []float64    // seconds a unit on host a
	host [2]float64   // factors
	like [][2]float64 // of job and host
}

func newFleet(seed uint64, jobs int) fleet {
	f := fleet{r: rand.New(rand.NewPCG(seed, 1)), host: [2]float64{1, 1.8}}
	for range jobs {
		f.jobs = append(f.jobs, 0.1*math.Exp(f.r.NormFloat64()))
		f.like = append(f.like, [2]float64{1, math.Exp(0.1 * f.r.NormFloat64())})
	}
	return f
}

var hostNames = [2]string{"a", "b"}

func (f fleet) run(job, host, length int) Run {
	m := machine{r: f.r, moments: 0.09, unit: f.jobs[job] * f.host[host] * f.like[job][host], paceSD: 0.02, unitSD: 0.04,
		startup: 1, warmup: 0.02}
	s := m.run(length)
	return Run{
		Job: fmt.Sprint("job", job), Kind: "cnn", Resource: Resource{Host: hostNames[host], Threads: 2},
		Length: length, Seconds: s.Wall, Units: s.Units,
	}
}

func (f fleet) sample(job, host, length int) Sample {
	r := f.run(job, host, length)
	return Sample{Length: length, Threads: 2, Host: hostNames[host], Wall: r.Seconds, Units: r.Units}
}

// What history knows, from least to most, and how far off it is, on average.
func TestHistoryLevels(t *testing.T) {
	const trials, length = 300, 200
	for _, test := range []struct {
		name      string
		sample    bool
		elsewhere int // runs of the job on the other host
		here      int // runs of it here
		others    int // other jobs that ran on both hosts
		most      float64
	}{
		{"the kind alone", false, 0, 0, 5, 250},
		{"the job on another host", false, 3, 0, 5, 13},
		{"the job here", false, 0, 5, 0, 2.5},
		{"a sample, and the kind", true, 0, 0, 5, 5.5},
		{"a sample, and the job here", true, 3, 5, 5, 2.4},
	} {
		covered, errs := 0, 0.0
		for trial := range trials {
			f := newFleet(uint64(trial), 6)
			p := Problem{Job: "job0", Kind: "cnn", Resource: Resource{Host: "b", Threads: 2}}
			for range test.elsewhere {
				p.History = append(p.History, f.run(0, 0, length))
			}
			for range test.here {
				p.History = append(p.History, f.run(0, 1, length))
			}
			for j := 1; j <= test.others; j++ {
				p.History = append(p.History, f.run(j, 0, length), f.run(j, 1, length))
			}
			if test.sample {
				p.Samples = append(p.Samples, f.sample(0, 1, 6), f.sample(0, 1, 12))
			}
			e, err := History{}.Fit(p)
			if err != nil {
				t.Fatalf("%s: %v", test.name, err)
			}
			actual := f.run(0, 1, length).Seconds
			q := e.Predict(length, 0.9)
			errs += 100 * math.Abs(q.Seconds/actual-1) / trials
			if q.Low <= actual && actual <= q.High {
				covered++
			}
		}
		share := float64(covered) / trials
		t.Logf("%s: error %.1f%%, covers %.1f%%", test.name, errs, 100*share)
		if errs > test.most {
			t.Errorf("%s: mean absolute error %.1f%%, want at most %g%%", test.name, errs, test.most)
		}
		if share < 0.85 || share > 0.95 && !test.sample { // samples are on a steadier machine than is assumed
			t.Errorf("%s: the 90%% interval covers %.1f%%", test.name, 100*share)
		}
	}
}

// Runs of the job improve what short samples say.
func TestHistoryBeatsSamplesAlone(t *testing.T) {
	const trials, length = 200, 200
	var alone, with float64
	for trial := range trials {
		f := newFleet(uint64(trial), 1)
		p := Problem{Job: "job0", Kind: "cnn", Samples: []Sample{f.sample(0, 0, 6)}}
		for range 4 {
			p.History = append(p.History, f.run(0, 0, length))
		}
		actual := f.run(0, 0, length).Seconds
		for _, m := range []struct {
			model Model
			sum   *float64
		}{{Linear{}, &alone}, {History{}, &with}} {
			e, err := m.model.Fit(p)
			if err != nil {
				t.Fatal(err)
			}
			*m.sum += math.Abs(e.Predict(length, 0.9).Seconds/actual - 1)
		}
	}
	if with > 0.9*alone {
		t.Errorf("with history the error is %.2f of that without", with/alone)
	}
}

func TestHistoryOfNothing(t *testing.T) {
	f := newFleet(1, 2)
	_, err := History{}.Fit(Problem{Job: "job0", Samples: []Sample{f.sample(0, 0, 6)}})
	if !errors.Is(err, ErrUnfit) {
		t.Errorf("without history: %v", err)
	}
	other := f.run(1, 0, 10)
	other.Kind = "svm"
	_, err = History{}.Fit(Problem{Job: "job0", Kind: "cnn", Samples: []Sample{f.sample(0, 0, 6)}, History: []Run{other}})
	if !errors.Is(err, ErrUnfit) {
		t.Errorf("with nothing but another kind: %v", err)
	}
}

// The time of runs beyond their units comes from runs of the job itself, else from runs of its kind, and from no
// others.
func TestStartupOfThePast(t *testing.T) {
	run := func(job, kind string, seconds float64, units ...float64) Run {
		return Run{Job: job, Kind: kind, Length: len(units), Seconds: seconds, Units: units}
	}
	short := run("j", "k", 9, 1, 1, 1)
	short.Length = 5 // it did not report all of its units
	p := Problem{Job: "j", Kind: "k"}
	for _, c := range []struct {
		name string
		past []Run
		want float64
	}{
		{"none", nil, 0},
		{"another kind", []Run{run("x", "y", 10, 1, 1, 1)}, 0},
		{"its kind", []Run{run("x", "k", 10, 1, 1, 1), run("z", "k", 8, 2, 1, 1), run("x", "y", 90, 1, 1)}, 6},
		{"itself", []Run{run("j", "k", 5, 3, 1, 1), run("x", "k", 90, 1, 1, 1)}, 2},
		{"less than nothing", []Run{run("j", "k", 1, 1, 1, 1)}, 0},
		{"one unit, or not all of them", []Run{run("j", "k", 5, 1), short}, 0},
	} {
		if got := startup(p, c.past); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %g, want %g", c.name, got, c.want)
		}
	}
}

// The difference of the pace of whole runs from the pace of their beginning, by hand: two runs whose pace became
// 1.5 and 1 times the pace of their second unit.
func TestDevelopment(t *testing.T) {
	runs := []Run{{Units: []float64{9, 1, 2}}, {Units: []float64{9, 4, 4}}, {Units: []float64{9, 4}}}
	shift, variance := development(runs, 2)
	a := math.Log(1.5)
	// the mean, as if two more had shown none
	wantShift := a / 2 * 2 / 4
	wantVariance := (PriorDF*PriorPaceSD*PriorPaceSD + a*a/2) / (PriorDF + 1) / 2 // of deviations a/2 and -a/2
	if math.Abs(shift-wantShift) > 1e-12 || math.Abs(variance-wantVariance) > 1e-12 {
		t.Errorf("shift %g and variance %g, want %g and %g", shift, variance, wantShift, wantVariance)
	}
	for _, n := range []int{0, 1, 3} {
		if shift, variance := development(runs, n); shift != 0 || variance != 0 {
			t.Errorf("of the first %d units: %g, %g", n, shift, variance)
		}
	}
}
