package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/tfexp/tfexp/estimator"
)

// choosing are the programs of the corpus on which the models' constants were chosen. The other programs only test
// these constants.
var choosing = []string{"mlp", "svm", "numpy_matrices", "silent_numpy", "interpreter", "noisy", "cold", "late_start"}

// moment is a block: its samples, and the whole run among them.
type moment struct {
	series  *series
	samples []estimator.Sample
	whole   Run
	// probe, exchange and busy are the means of the samples.
	probe, exchange, busy float64
	all                   *[][]estimator.Sample // samples of all jobs of its half in this round, under its load
	probes                []float64             // the probe of each sample
	typical               func() float64        // the geometric mean of the probes of its round, load and threads
}

func (m *moment) spread() estimator.Spread {
	if s, ok := spreads[m.all]; ok {
		return s
	}
	spreads[m.all] = estimator.SpreadOf(*m.all)
	return spreads[m.all]
}

var spreads = map[*[][]estimator.Sample]estimator.Spread{}

// series are the moments of a program on some threads under a load.
type series struct {
	program, load string
	threads       int
	moments       []*moment
}

// read returns the series of one half of the programs.
func read(t *testing.T, chosen bool) []*series {
	return readFile(t, "runs.jsonl.gz", chosen)
}

func readFile(t *testing.T, name string, chosen bool) []*series {
	t.Helper()
	blocks, err := ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var all []*series
	together, typical := map[string]*[][]estimator.Sample{}, map[string][]float64{}
	for _, b := range blocks {
		if slices.Contains(choosing, b.Program) != chosen {
			continue
		}
		i := slices.IndexFunc(all, func(s *series) bool {
			return s.program == b.Program && s.threads == b.Threads && s.load == b.Load
		})
		if i < 0 {
			i, all = len(all), append(all, &series{program: b.Program, load: b.Load, threads: b.Threads})
		}
		at := fmt.Sprint(b.Round, b.Load)
		if together[at] == nil {
			together[at] = new([][]estimator.Sample)
		}
		m := &moment{series: all[i], all: together[at]}
		at = fmt.Sprint(at, b.Threads)
		m.typical = func() float64 { return math.Exp(stat.Mean(typical[at], nil)) }
		for _, r := range b.Runs {
			if r.Length > m.whole.Length {
				m.whole = r
			}
		}
		wall := 0.0
		for _, r := range b.Runs {
			if r.Length < m.whole.Length {
				m.samples = append(m.samples, estimator.Sample{Length: r.Length, Wall: r.Wall, Units: r.Units, Startup: r.Startup,
					Threads: b.Threads})
				m.probes = append(m.probes, r.Probe)
				typical[at] = append(typical[at], math.Log(r.Probe))
				m.probe, m.exchange = m.probe+r.Probe*r.Wall, m.exchange+r.Exchange*r.Wall
				m.busy, wall = m.busy+r.Busy*r.Wall, wall+r.Wall
			}
		}
		m.probe, m.exchange, m.busy = m.probe/wall, m.exchange/wall, m.busy/wall
		*m.all = append(*m.all, m.samples)
		all[i].moments = append(all[i].moments, m)
	}
	return all
}

// model predicts the time of a whole run from the samples of a moment. It returns false if it cannot predict.
type model struct {
	name    string
	predict func(m *moment, samples []estimator.Sample, whole Run) (estimator.Prediction, bool)
}

// by is a model of the package estimator, whose predictions are corrected by a factor.
func by(name string, fit estimator.Model, correct func(m *moment, whole Run) float64) model {
	return model{name, func(m *moment, samples []estimator.Sample, whole Run) (estimator.Prediction, bool) {
		e, err := fit.Fit(estimator.Problem{Samples: samples, Spread: m.spread()})
		p := e.Predict(whole.Length, 0.9)
		if correct != nil && err == nil {
			f := correct(m, whole)
			p = estimator.Prediction{Seconds: f * p.Seconds, Low: f * p.Low, High: f * p.High}
		}
		return p, err == nil
	}}
}

var fitted = by("linear", estimator.Linear{}, nil).predict

// atOneSpeed is linear from samples at the typical speed of the machine, as far as jobs follow its probe.
func atOneSpeed(m *moment, samples []estimator.Sample, whole Run) (estimator.Prediction, bool) {
	const follows = 0.3
	var out []estimator.Sample
	for _, s := range samples {
		i := slices.IndexFunc(m.samples, func(o estimator.Sample) bool { return o.Length == s.Length && o.Wall == s.Wall })
		f := math.Min(2, math.Max(0.5, math.Pow(m.probes[i]/m.typical(), follows)))
		units := slices.Clone(s.Units)
		for k := range units {
			units[k] /= f
		}
		s.Wall, s.Startup, s.Units = s.Wall/f, s.Startup/f, units
		out = append(out, s)
	}
	return fitted(m, out, whole)
}

// median is the plainest robust model: the median of all units.
func median(m *moment, samples []estimator.Sample, whole Run) (estimator.Prediction, bool) {
	var units, fixed []float64
	for _, s := range samples {
		rest := s.Wall
		for _, u := range s.Units {
			units, rest = append(units, u), rest-u
		}
		fixed = append(fixed, rest)
	}
	if len(units) == 0 {
		return estimator.Prediction{}, false
	}
	return estimator.Prediction{Seconds: estimator.Median(fixed) + float64(whole.Length)*estimator.Median(units), Low: -1,
		High: -1}, true
}

// Corrections by measurements during the samples and the whole run: the load of other programs by the law of
// contention, the speed of arithmetic, and the time that a cache line takes between cores. share is the part of each,
// as logarithms, that counts.
func byLoad(share float64) func(*moment, Run) float64 {
	return func(m *moment, whole Run) float64 {
		law := estimator.ContentionOf([]float64{-3.9, 0, math.Ln2 * 2}) // of any machine
		slowed := func(busy float64) float64 {
			own := float64(m.series.threads)
			return law.Slowdown(own, busy, 2)
		}
		return math.Pow(slowed(whole.Busy)/slowed(m.busy), share)
	}
}

func byProbe(share float64) func(*moment, Run) float64 {
	return func(m *moment, whole Run) float64 { return math.Pow(whole.Probe/m.probe, share) }
}

func byExchange(share float64) func(*moment, Run) float64 {
	return func(m *moment, whole Run) float64 {
		if m.exchange <= 0 || whole.Exchange <= 0 {
			return 1
		}
		return math.Pow(whole.Exchange/m.exchange, share)
	}
}

// tally has the errors of a model's predictions.
type tally struct {
	errors  []float64 // relative
	covered int
	width   float64
}

func (a *tally) add(p estimator.Prediction, actual float64) {
	a.errors = append(a.errors, p.Seconds/actual-1)
	if p.Low <= actual && actual <= p.High {
		a.covered++
	}
	a.width += (p.High - p.Low) / 2 / p.Seconds
}

// error is the mean absolute error in percent.
func (a *tally) error() float64 {
	sum := 0.0
	for _, e := range a.errors {
		sum += math.Abs(e)
	}
	return 100 * sum / float64(len(a.errors))
}

func (a *tally) bias() float64     { return 100 * stat.Mean(a.errors, nil) }
func (a *tally) coverage() float64 { return 100 * float64(a.covered) / float64(len(a.errors)) }

// replayed has the results of a model over some series.
type replayed struct {
	// In same, the predicted run is from the moment of the samples; in later, from other moments. few is like later,
	// but from fewer units.
	same, later tally
	few         map[int]*tally
}

func replay(m model, all []*series, load string) replayed {
	r := replayed{few: map[int]*tally{1: {}, 2: {}, 4: {}, 8: {}}}
	for _, s := range all {
		if load != "" && s.load != load {
			continue
		}
		for i, from := range s.moments {
			for k, to := range s.moments {
				tally := &r.later
				if i == k {
					tally = &r.same
				}
				if p, ok := m.predict(from, from.samples, to.whole); ok {
					tally.add(p, to.whole.Wall)
				}
				for n, few := range r.few {
					if some := first(from.samples, n); i != k && some != nil {
						if p, ok := m.predict(from, some, to.whole); ok {
							few.add(p, to.whole.Wall)
						}
					}
				}
			}
		}
	}
	return r
}

// first returns samples of a block with n units in all; nil if the block has fewer.
func first(samples []estimator.Sample, n int) (some []estimator.Sample) {
	lengths := map[int][]int{1: {1}, 2: {2}, 4: {1, 3}, 8: {1, 3, 4}}[n]
	for _, length := range lengths {
		i := slices.IndexFunc(samples, func(s estimator.Sample) bool { return s.Length == length })
		if i < 0 {
			return nil
		}
		some = append(some, samples[i])
	}
	return some
}

// floor returns the error of predicting a whole run by the whole run of another moment: the variation of the machine
// itself.
func floor(all []*series, load string) (a tally) {
	for _, s := range all {
		for i, from := range s.moments {
			for k, to := range s.moments {
				if i != k && (load == "" || s.load == load) {
					a.add(estimator.Prediction{Seconds: from.whole.Wall}, to.whole.Wall)
				}
			}
		}
	}
	return a
}

// Short samples predict the recorded runs about as well as whole runs do. Of each model, go test -v prints the error of
// the estimate (the whole run of the samples' own moment), the total error (whole runs of other moments), its bias, how
// many of the 90% intervals hold, and half of their width. Corrections by measurements during the runs do not pay. The first
// model is the one that tfexp run uses.
func TestReplay(t *testing.T) {
	models := []model{
		{"linear", fitted}, {"at one speed", atOneSpeed}, {"median", median},
		by("by load", estimator.Linear{}, byLoad(1)), by("by load, 0.3", estimator.Linear{}, byLoad(0.3)),
		by("by probe, 0.3", estimator.Linear{}, byProbe(0.3)), by("by exchange, 0.15", estimator.Linear{}, byExchange(0.15)),
	}
	for _, chosen := range []bool{true, false} {
		all := read(t, chosen)
		for _, load := range append([]string{""}, Loads...) {
			if load != "" && !testing.Verbose() {
				break
			}
			least := floor(all, load)
			what := map[bool]string{true: "programs for choosing, ", false: "held-out programs, "}[chosen] +
				cmp.Or(load, "all loads")
			t.Logf("%s: the error of the machine is %.1f%%", what, least.error())
			for i, m := range models {
				if i > 0 && !testing.Verbose() {
					break
				}
				r := replay(m, all, load)
				text := ""
				for _, n := range []int{1, 2, 4, 8} {
					text += fmt.Sprintf(", %d: %.0f%%", n, r.few[n].coverage())
				}
				t.Logf("%-18s estimate %5.1f%%, total %5.1f%% (%.2f of the machine), bias %+5.1f%%, inside %3.0f%% ± %3.0f%%; "+
					"by units%s", m.name, r.same.error(), r.later.error(), r.later.error()/least.error(), r.later.bias(), r.later.coverage(),
					100*r.later.width/float64(len(r.later.errors)), text)
				if i > 0 || load != "" {
					continue
				}
				if ratio := r.later.error() / least.error(); ratio > 1.2 {
					t.Errorf("%s: the total error is %.2f of that of whole runs", what, ratio)
				}
				for n, few := range r.few {
					if c := few.coverage(); c < 80 || c > 97 {
						t.Errorf("%s: of %d units, %.0f%% of the 90%% intervals hold", what, n, c)
					}
				}
				if c := r.later.coverage(); c < 87 || c > 94 {
					t.Errorf("%s: %.0f%% of the 90%% intervals hold", what, c)
				}
			}
		}
	}
}

// After three cells of a job, corrected predictions have about the same error as the best constant over all its other
// cells. A smaller error is not possible for a prediction. The best constant over only the two or three later cells is
// better, because it is fitted to the cells that it predicts.
func TestReplayCells(t *testing.T) {
	const cells = 3
	for _, chosen := range []bool{true, false} {
		all := read(t, chosen)
		for _, load := range Loads {
			var corrected, before, best, others tally
			var jobs estimator.Corrections
			rounds := 0
			for _, s := range all {
				rounds = max(rounds, len(s.moments))
			}
			for round := range rounds {
				var ran []estimator.Ran
				for _, s := range all {
					if s.load != load || len(s.moments) <= round {
						continue
					}
					from, now := s.moments[0], s.moments[round].whole
					p, ok := fitted(from, from.samples, now)
					if !ok {
						t.Fatal(s.program)
					}
					name := fmt.Sprint(s.program, s.threads)
					c := jobs.Next(name, p.LogSD(0.9), 0.9)
					if round >= cells {
						before.add(p, now.Wall)
						corrected.add(estimator.Prediction{Seconds: c.Factor * p.Seconds, Low: c.Low * p.Seconds,
							High: c.High * p.Seconds}, now.Wall)
						var walls []float64
						for _, m := range s.moments {
							walls = append(walls, m.whole.Wall)
						}
						best.add(estimator.Prediction{Seconds: estimator.Median(walls[cells:])}, now.Wall)
						others.add(estimator.Prediction{Seconds: estimator.Median(slices.Delete(walls, round, round+1))}, now.Wall)
					}
					ran = append(ran, estimator.Ran{Job: name, Before: p.LogSD(0.9), Longer: []float64{math.Log(now.Wall / p.Seconds)}})
				}
				jobs.Learn(ran...)
			}
			t.Logf("chosen %v, %s: by the samples %.1f%%, after %d cells %.1f%%, by the other cells %.1f%% (%.2f), by the best "+
				"constants of those that follow %.1f%% (%.2f); bias %+.1f%%, inside %.0f%%", chosen, load, before.error(), cells,
				corrected.error(), others.error(), corrected.error()/others.error(), best.error(), corrected.error()/best.error(),
				corrected.bias(), corrected.coverage())
			if ratio := corrected.error() / others.error(); ratio > 1.2 {
				t.Errorf("chosen %v, %s: corrected predictions err by %.2f of the constants of the other cells", chosen, load, ratio)
			}
		}
	}
}

// History predicts the runs after the third better than the linear model, with intervals of the right coverage. Samples
// from other moments count as past runs.
func TestReplayHistory(t *testing.T) {
	const past = 3
	for _, chosen := range []bool{true, false} {
		for _, load := range Loads {
			var linear, history tally
			for _, s := range read(t, chosen) {
				if s.load != load || len(s.moments) <= past {
					continue
				}
				m := s.moments[0]
				p := estimator.Problem{Job: "job", Samples: m.samples, Spread: m.spread()}
				for _, earlier := range s.moments[:past] {
					p.History = append(p.History, estimator.Run{Job: "job", Length: earlier.whole.Length, Seconds: earlier.whole.Wall})
				}
				alone, err := estimator.Linear{}.Fit(p)
				if err != nil {
					t.Fatal(err)
				}
				with, err := estimator.History{}.Fit(p)
				if err != nil {
					t.Fatal(err)
				}
				for _, later := range s.moments[past:] {
					linear.add(alone.Predict(later.whole.Length, 0.9), later.whole.Wall)
					history.add(with.Predict(later.whole.Length, 0.9), later.whole.Wall)
				}
			}
			t.Logf("chosen %v, %s: linear errs by %.1f%%, history by %.1f%%, inside %.0f%%", chosen, load, linear.error(),
				history.error(), history.coverage())
			if history.coverage() < 65 || history.error() > 1.1*linear.error() {
				t.Errorf("chosen %v, %s: history is worse", chosen, load)
			}
		}
	}
}

// Samples of 3% and 6%, taken before and after a run, predict runs of about half a minute on a machine with other work.
func TestReplayLong(t *testing.T) {
	for _, samples := range [][]int{{0}, {0, 1}, {0, 2}, {0, 1, 2, 3}} {
		var all tally
		var seconds, busy float64
		for _, chosen := range []bool{true, false} {
			for _, s := range readFile(t, "long.jsonl.gz", chosen) {
				for _, m := range s.moments {
					var some []estimator.Sample
					for _, i := range samples {
						some = append(some, m.samples[i])
					}
					if p, ok := fitted(m, some, m.whole); ok {
						all.add(p, m.whole.Wall)
						seconds, busy = seconds+m.whole.Wall, busy+m.whole.Busy
					}
				}
			}
		}
		n := float64(len(all.errors))
		t.Logf("samples %v: %.0f runs of %.0f s beside %.1f busy cores, off by %.1f%% (sd %.1f%%, bias %+.1f%%), inside %.0f%%",
			samples, n, seconds/n, busy/n, all.error(), 100*stat.StdDev(all.errors, nil), all.bias(), all.coverage())
		if all.coverage() < 70 {
			t.Errorf("%.0f%% of the 90%% intervals hold", all.coverage())
		}
	}
}
