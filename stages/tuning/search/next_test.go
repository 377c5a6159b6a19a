package search_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tfexp/tfexp/estimator/surrogate"
	"github.com/tfexp/tfexp/hardware"
	"github.com/tfexp/tfexp/pipeline/decodetest"
	"github.com/tfexp/tfexp/pipeline/instantiate"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/tuning/search"
	"github.com/tfexp/tfexp/stages/tuning/trial"
	"github.com/tfexp/tfexp/stages/tuning/tuner"
)

var errBroken = errors.New("no idea")

// heard has the trials with which the method below was called, by call. A mutex guards it, since searches call the
// method concurrently.
var (
	hearing sync.Mutex
	heard   [][]surrogate.Trial
)

// The method suggests the points of the grid in order, with predictions from the third one on. After four points it
// returns ErrDone. It fails if an objective is above 1000.
func init() {
	tuner.Register(tuner.Method{Name: "in_turn", Doc: "tries all.", Title: "in turn",
		Suggest: func(p *tuner.Problem, trials []surrogate.Trial) (tuner.Suggestion, error) {
			hearing.Lock()
			heard = append(heard, slices.Clone(trials))
			hearing.Unlock()
			for _, t := range trials {
				if t.State == surrogate.Done && t.Objective > 1000 {
					return tuner.Suggestion{}, errBroken
				}
			}
			points := p.Space.Grid()
			n := len(trials)
			if n >= len(points) {
				return tuner.Suggestion{}, tuner.ErrDone
			}
			s := tuner.Suggestion{At: points[n]}
			if n >= 2 {
				s.Modelled, s.Mean, s.SD, s.Feasible, s.Scale = true, float64(4-n), 0.5, 0.25*float64(n), surrogate.Linear
			}
			return s, nil
		}})
}

const searchFile = `
experiment "e" { replicates = REPLICATES }
job "a" {
  builtin "mlp" {}
  epochs = 2
  runtime { epoch = "2s" }
}
hardware "h" {
  engine  = "simulated"
  threads = 8
}
tune "t" {
  job       = job.a
  objective = "OBJECTIVE"
  method    = "in_turn"
  setting "batch" { values = [8, 16] }
  setting "optimizer" { values = ["sgd", "adam"] }
  MORE
}
`

// begin returns the searches of an experiment file.
func begin(t *testing.T, beside map[string]string, edit ...string) *search.Searches {
	t.Helper()
	text := strings.NewReplacer(append(edit, "REPLICATES", "1", "OBJECTIVE", "time", "MORE", "")...).Replace(searchFile)
	spec, says := decodetest.Beside(t, text, beside)
	if spec == nil {
		t.Fatal(says)
	}
	x, err := instantiate.New(spec, hardware.Machine{Name: "m", OS: "linux", Arch: "amd64", Threads: 4, LogicalCPUs: 4, MemoryBytes: 8 << 30,
		Allowed: []int{0, 1, 2, 3}})
	if err != nil {
		t.Fatal(err)
	}
	heard = nil
	return search.New(stages.Searched{Spec: x.Spec, Seed: x.ReplicateSeed})
}

func refOf(b stages.Beyond) *trial.Ref { return record.FeatureValueOf[trial.Ref](b.Kept) }

// next returns the next trials, after earlier trials that took the given seconds.
func next(t *testing.T, s *search.Searches, seconds float64) (list []string) {
	t.Helper()
	more, err := s.Next(func(string) (record.Cell, bool) {
		return record.Cell{Outcome: record.NewFeatureValue(&trial.Outcome{Time: seconds, Units: 2})}, true
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range more {
		text := c.Name + ":"
		for _, v := range refOf(c).Settings {
			text += " " + v.Name + "=" + v.Value
		}
		list = append(list, text)
	}
	return list
}

func TestTrialAfterTrial(t *testing.T) {
	s := begin(t, nil, "MORE", "trials = 3")
	for i, want := range []string{"batch=8 optimizer=sgd", "batch=8 optimizer=adam", "batch=16 optimizer=sgd", ""} {
		got := next(t, s, 10*float64(i))
		if len(got) > 1 || want == "" != (len(got) == 0) || want != "" && !strings.HasSuffix(got[0], fmt.Sprintf("r1-trial%d: %s", i+1, want)) {
			t.Fatalf("trial %d is %q, want %s", i+1, got, want)
		}
	}
	if len(heard) != 3 {
		t.Fatalf("the method was asked %d times", len(heard))
	}
	for n, trials := range heard { // each call has the outcomes of all earlier trials
		for i, one := range trials {
			if one.State != surrogate.Done || one.Objective != 10*float64(i+1) || one.Cost != one.Objective {
				t.Errorf("question %d: trial %d is %+v", n, i, one)
			}
		}
		if len(trials) != n {
			t.Errorf("question %d: %d trials", n, len(trials))
		}
	}
	if got := next(t, s, 1); len(got) != 0 || len(heard) != 3 {
		t.Errorf("a search that is over goes on with %q", got)
	}
}

// A search ends when its time is used up, even exactly, or when no points are left to try.
func TestEnds(t *testing.T) {
	for _, c := range []struct {
		more    string
		seconds float64
		want    int
	}{
		{"trials = 4\n  limit = \"20s\"", 10, 2}, {"trials = 4\n  limit = \"20s\"", 9.9, 3}, {"trials = 4", 1000, 4},
		{"trials = 9", 10, 4}, {"trials = 1", 10, 1}, {"trials = 3\n  parallel = 2", 10, 3},
	} {
		s := begin(t, nil, "MORE", c.more)
		n := 0
		for {
			got := next(t, s, c.seconds)
			if len(got) == 0 {
				break
			}
			n += len(got)
		}
		if n != c.want {
			t.Errorf("%s of %g s: %d trials, want %d", c.more, c.seconds, n, c.want)
		}
	}
}

// Trials that run at the same time are suggested one after the other, and count as running. Each replicate is a
// separate search.
func TestSideBySide(t *testing.T) {
	s := begin(t, nil, "MORE", "trials = 4\n  parallel = 3", "REPLICATES", "2")
	first := next(t, s, 0)
	if len(first) != 6 || !strings.Contains(first[2], "r1-trial3: batch=16 optimizer=sgd") ||
		!strings.Contains(first[3], "r2-trial1: batch=8 optimizer=sgd") {
		t.Errorf("the first trials are %q", first)
	}
	running := 0
	for _, trials := range heard {
		for _, one := range trials {
			if one.State == surrogate.Running {
				running++
			}
		}
	}
	if running != 2*(1+2) {
		t.Errorf("%d trials counted as running", running)
	}
	if second := next(t, s, 1); len(second) != 2 || !strings.Contains(second[0], "trial4: batch=16 optimizer=adam") {
		t.Errorf("the last trials are %q", second)
	}
	if rest := next(t, s, 1); len(rest) != 0 {
		t.Errorf("more than all trials: %q", rest)
	}
	seeds := map[uint64]bool{}
	for _, seed := range s.Seeds() {
		seeds[seed] = true
	}
	if len(seeds) != 2 {
		t.Error("replicates search alike")
	}
}

// A prediction has the unit of the objective, and the lower end of its interval comes first.
func TestPredictions(t *testing.T) {
	for _, c := range []struct {
		objective      string
		mean, low, end float64 // of the third trial, which is predicted as 2 ± 0.5
	}{
		{"time", 2, 2 - 0.5*1.6448536269514722, 2 + 0.5*1.6448536269514722},
		{"throughput", 0.5, 1 / (2 + 0.5*1.6448536269514722), 1 / (2 - 0.5*1.6448536269514722)},
	} {
		s := begin(t, nil, "MORE", "trials = 4\n  parallel = 4", "OBJECTIVE", c.objective)
		more, err := s.Next(nil)
		cells := more
		if err != nil || len(cells) != 4 {
			t.Fatal(len(cells), err)
		}
		if ref := refOf(cells[1]); ref.Predicted != nil || ref.Low != nil || ref.High != nil || ref.Feasible != nil {
			t.Errorf("%s: what no model chose is predicted", c.objective)
		}
		ref := refOf(cells[2])
		near := func(got *float64, want float64) bool { return got != nil && math.Abs(*got-want) < 1e-12 }
		if last := refOf(cells[3]); c.objective == "time" && *last.Predicted != 1 {
			t.Errorf("the fourth trial is expected to take %g s", *last.Predicted)
		}
		if !near(ref.Predicted, c.mean) || !near(ref.Low, c.low) || !near(ref.High, c.end) || !near(ref.Feasible, 0.5) {
			t.Errorf("%s: %g in %g to %g, feasible by %g", c.objective, *ref.Predicted, *ref.Low, *ref.High, *ref.Feasible)
		}
	}
	s := begin(t, nil, "OBJECTIVE", "throughput")
	if v := s.Natural(tuner.Suggestion{Scale: surrogate.Linear}, 1); v != nil {
		t.Errorf("one per nothing is %g", *v)
	}
	if v := s.Natural(tuner.Suggestion{Scale: surrogate.Linear, Mean: math.NaN()}, 1); v != nil {
		t.Errorf("what is unknown is %g", *v)
	}
}

// Imported trials are known from the beginning, and do not count as trials of the search.
func TestImported(t *testing.T) {
	s := begin(t, map[string]string{"t.csv": "batch,optimizer,time_s\n16,adam,7\n8,sgd,5\n"}, "MORE", "trials = 2\n  warm_start = \"t.csv\"")
	if got := next(t, s, 1); len(got) != 1 || !strings.HasSuffix(got[0], "trial1: batch=16 optimizer=sgd") {
		t.Errorf("the first trial is %q", got)
	}
	if len(heard[0]) != 2 || heard[0][0].Objective != 7 || heard[0][1].Objective != 5 {
		t.Errorf("the method knows of %+v", heard[0])
	}
	if got := next(t, s, 1); len(got) != 1 || !strings.Contains(got[0], "trial2") {
		t.Errorf("the second trial is %q", got)
	}
	if got := next(t, s, 1); len(got) != 0 {
		t.Errorf("imported trials make room for %q", got)
	}
}

// A job that is tuned while it trains is one trial with the settings in its file; its controller searches.
func TestWhileItTrains(t *testing.T) {
	s := begin(t, nil, "MORE", "trials = 3\n  mode = \"online\"", `{ values = [8, 16] }`, "{\n    values = [8, 16]\n    initial = 16\n  }")
	got := next(t, s, 1)
	if len(got) != 1 || !strings.HasSuffix(got[0], "-r1-online1: batch=16 optimizer=sgd") || len(heard) != 0 {
		t.Errorf("the trial is %q, after %d questions", got, len(heard))
	}
	if got := next(t, s, 1); len(got) != 0 {
		t.Errorf("and then there is %q", got)
	}
}

func TestErrors(t *testing.T) {
	s := begin(t, nil, "MORE", "trials = 4")
	next(t, s, 1)
	for _, over := range []func(string) (record.Cell, bool){
		func(string) (record.Cell, bool) {
			return record.Cell{Outcome: record.NewFeatureValue(&trial.Outcome{})}, false
		},
		func(string) (record.Cell, bool) { return record.Cell{}, true },
	} {
		if more, err := s.Next(over); more != nil || err == nil || !strings.HasSuffix(err.Error(), "r1-trial1 ended without an outcome") {
			t.Errorf("a trial without an outcome: %v, %v", more, err)
		}
	}
	_, err := s.Next(func(string) (record.Cell, bool) {
		return record.Cell{Outcome: record.NewFeatureValue(&trial.Outcome{Time: 1001, Units: 2})}, true
	})
	if !errors.Is(err, errBroken) || !strings.HasPrefix(err.Error(), "tune t: ") {
		t.Errorf("a method that fails: %v", err)
	}
}
