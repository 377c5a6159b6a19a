package marks

import (
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/stat"

	"github.com/tfexp/tfexp/estimator"
)

// logged is a complete training run of 64,000 steps.
type logged struct {
	marks []Mark
	total float64
}

var configurations = []string{"2-demand/", "4-demand/", "4-spot/4-spot-", "k80-demand/", "p100/"}

// readRuns reads the runs of one configuration that got to the last step.
func readRuns(t *testing.T, configuration string) []logged {
	t.Helper()
	rows, err := csv.NewReader(openData(t, "transient_training/"+configuration+"train_data.csv")).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var runs []logged
	var last string
	var first float64
	for _, row := range rows[1:] {
		at, _ := strconv.ParseFloat(row[0], 64)
		done, err := strconv.ParseFloat(row[1], 64)
		if err != nil {
			t.Fatal(err)
		}
		if id := row[3] + row[4]; id != last {
			last, first = id, at
			runs = append(runs, logged{})
		}
		r := &runs[len(runs)-1]
		r.marks = append(r.marks, Mark{int(done), at - first})
		if done >= 64000 && r.total == 0 {
			r.total = at - first
		}
	}
	var whole []logged
	for _, r := range runs {
		if r.total > 0 && r.marks[0].Done == 0 {
			whole = append(whole, r)
		}
	}
	return whole
}

func (r logged) prefix(fraction float64) []Mark {
	n := 0
	for n < len(r.marks) && float64(r.marks[n].Done) <= fraction*64000*1.02 {
		n++
	}
	return r.marks[:n]
}

type score struct {
	errors  []float64
	covered int
}

func (s score) coverage() float64 { return 100 * float64(s.covered) / float64(len(s.errors)) }

func (s score) mae() float64 {
	var sum float64
	for _, e := range s.errors {
		sum += math.Abs(e)
	}
	return 100 * sum / float64(len(s.errors))
}

// scoreOf predicts each run from its prefix. known returns the part of another run that the prediction may use.
func scoreOf(t *testing.T, model string, fraction float64, known func(logged) Run) score {
	var all score
	for _, c := range configurations {
		var s score
		runs := readRuns(t, c)
		for i := range runs {
			s.add(t, model, fraction, slices.Concat(runs[i:], runs[:i]), known)
		}
		t.Logf("%s %g %-16s mae %.2f%% bias %.2f covered %d of %d", model, fraction, c, s.mae(),
			100*stat.Mean(s.errors, nil), s.covered, len(runs))
		all.errors, all.covered = append(all.errors, s.errors...), all.covered+s.covered
	}
	t.Logf("%s %g: mean absolute error %.2f%%, sd %.2f, bias %.2f, coverage %.1f%%", model, fraction, all.mae(),
		100*stat.StdDev(all.errors, nil), 100*stat.Mean(all.errors, nil), all.coverage())
	return all
}

// add predicts the first of the runs of a log from its prefix and from the known parts of the others.
func (s *score) add(t *testing.T, model string, fraction float64, log []logged, known func(logged) Run) {
	own := log[0]
	p := Problem{Own: own.prefix(fraction)}
	var prefixes [][]Mark
	for i, r := range log {
		prefixes = append(prefixes, r.prefix(fraction))
		if i > 0 && known != nil {
			p.Others = append(p.Others, known(r))
		}
	}
	p.Tick = FindTick(prefixes)
	e, _, err := Fit(model, p)
	if err != nil {
		t.Fatal(err)
	}
	pr := e.Predict(64000, 0.9)
	s.errors = append(s.errors, pr.Seconds/own.total-1)
	if pr.Low <= own.total && own.total <= pr.High {
		s.covered++
	}
}

// The errors of the models on 94 complete runs of five configurations, whose clock ticks once a minute. Predictions use
// the run's own prefix, and the prefixes or the whole of the other runs of its configuration.
func TestTransient(t *testing.T) {
	for _, test := range []struct {
		model    string
		fraction float64
		known    func(logged) Run
		least    float64 // mean absolute errors, percent
		most     float64
	}{
		{"linear", 0.0625, nil, 8.9, 9.1}, // errors of plain linear extrapolation
		{"linear", 0.125, nil, 4.3, 4.5},
		{"linear", 0.25, nil, 2.3, 2.5},
		{"pooled", 0.0625, nil, 0, 9.1},
		{"pooled", 0.125, nil, 0, 4.5},
		{"pooled", 0.25, nil, 0, 2.5},
		{"pooled", 0.0625, prefix(0.0625), 0, 4.5},
		{"pooled", 0.125, prefix(0.125), 0, 3.2},
		{"pooled", 0.25, prefix(0.25), 0, 2.3},
		{"history", 0.0625, whole, 0, 2.9},
		{"history", 0.125, whole, 0, 2.5},
		{"history", 0.25, whole, 0, 2.3},
		{"auto", 0.125, whole, 0, 2.5},
	} {
		s := scoreOf(t, test.model, test.fraction, test.known)
		if len(s.errors) != 94 {
			t.Fatalf("%d complete runs, want 94", len(s.errors))
		}
		if mae := s.mae(); mae < test.least || mae > test.most {
			t.Errorf("%s from %g of the run errs by %.2f%%, want %g to %g", test.model, test.fraction, mae, test.least,
				test.most)
		}
		if covered := s.coverage(); covered < 85 || covered > 95 {
			t.Errorf("%s from %g of the run: the 90%% interval covers %.1f%%", test.model, test.fraction, covered)
		}
	}
}

func prefix(fraction float64) func(logged) Run {
	return func(r logged) Run { return Run{Length: 64000, Marks: r.prefix(fraction)} }
}

func whole(r logged) Run { return Run{Length: 64000, Seconds: r.total, Marks: r.marks} }

// In logs of few runs, each of the 94 runs is predicted with the next ones of its configuration. More runs in a log
// reduce the errors of predictions from beginnings.
func TestTransientFewRuns(t *testing.T) {
	for _, test := range []struct {
		model    string
		fraction float64
		known    func(logged) Run
		most     []float64 // mean absolute errors in logs of 1, 2, 3, 5 and 8 runs, percent; 0: no prediction
	}{
		{"pooled", 0.0625, prefix(0.0625), []float64{9.1, 7.5, 7.2, 6.4, 5.7}},
		{"pooled", 0.125, prefix(0.125), []float64{4.4, 4.1, 4.0, 3.8, 3.3}},
		{"history", 0.125, whole, []float64{0, 3.0, 2.8, 2.9, 3.1}},
	} {
		for i, n := range []int{1, 2, 3, 5, 8} {
			if test.most[i] == 0 {
				continue
			}
			var s score
			for _, c := range configurations {
				runs := readRuns(t, c)
				for at := range runs {
					s.add(t, test.model, test.fraction, slices.Concat(runs[at:], runs[:at])[:n], test.known)
				}
			}
			t.Logf("%s %g, %d runs: mean absolute error %.2f%%, coverage %.1f%%", test.model, test.fraction, n, s.mae(),
				s.coverage())
			if s.mae() > test.most[i] || s.coverage() < 78 {
				t.Errorf("%s from %g of the run, %d runs: an error of %.2f%%, coverage %.1f%%", test.model, test.fraction, n,
					s.mae(), s.coverage())
			}
		}
	}
}

// Predictions from history must be better than the median of the other runs of a configuration.
func TestTransientMedian(t *testing.T) {
	var s score
	for _, c := range configurations {
		runs := readRuns(t, c)
		for i, r := range runs {
			var others []float64
			for j, o := range runs {
				if j != i {
					others = append(others, o.total)
				}
			}
			s.errors = append(s.errors, estimator.Median(others)/r.total-1)
		}
	}
	near(t, "mean absolute error", s.mae(), 2.9, 0.05)
}

// openData opens a file of the folder with the real measurements, which are
// not part of the repository.
func openData(t *testing.T, name string) *os.File {
	t.Helper()
	dir := os.Getenv("TFEXP_DATA")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "data")
	}
	f, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Skipf("the measurements %s are not here; TFEXP_DATA names the folder that has them", name)
	}
	t.Cleanup(func() { f.Close() })
	return f
}
