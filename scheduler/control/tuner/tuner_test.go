package tuner_test

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/tfexp/tfexp/estimator/surrogate"
	"github.com/tfexp/tfexp/scheduler/control/tuner"
)

// problem is a bowl over a finite space of two settings, with its bottom at 4, b.
func problem() *tuner.Problem {
	return &tuner.Problem{
		Space: surrogate.Space{{Name: "n", Numbers: []float64{1, 2, 4, 8, 16}, Log: true}, {Name: "kind", Categories: 3}},
		Scale: surrogate.Log, Trials: 15, Initial: []float64{0, 0}, Best: []float64{0.5, 1}, Seed: 3,
		Limits: []surrogate.Limit{{Bound: 10, Scale: surrogate.Log}},
	}
}

func outcome(at []float64) surrogate.Trial {
	v := 1 + 10*math.Abs(at[0]-0.5)
	if at[1] != 1 {
		v *= 2
	}
	if at[0] == 1 && at[1] == 2 {
		return surrogate.Trial{At: at, State: surrogate.Crashed}
	}
	return surrogate.Trial{At: at, State: surrogate.Done, Objective: v, Limited: []float64{v}, Cost: v}
}

// TestMethods runs each method to its end: it tries nothing twice, repeats itself
// from the same trials, and (where it goes on) finds the best of a small space.
func TestMethods(t *testing.T) {
	for _, m := range tuner.All() {
		t.Run(m.Name, func(t *testing.T) {
			p := problem()
			var trials []surrogate.Trial
			seen := map[[2]float64]bool{}
			for {
				next, err := m.Suggest(p, trials)
				if errors.Is(err, tuner.ErrDone) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				again, err := m.Suggest(p, append([]surrogate.Trial(nil), trials...))
				if err != nil || !reflect.DeepEqual(next, again) {
					t.Fatalf("the same trials suggest %v, then %v (%v)", next, again, err)
				}
				at := [2]float64(next.At)
				if seen[at] {
					t.Fatalf("%v is tried twice", at)
				}
				seen[at] = true
				trials = append(trials, outcome(next.At))
			}
			best := trials[0]
			for _, one := range trials {
				if p.Better(one, best) {
					best = one
				}
			}
			switch m.Name {
			case "fixed":
				if len(trials) != 1 || !reflect.DeepEqual(trials[0].At, p.Initial) {
					t.Errorf("it tried %v", trials)
				}
			default:
				if m.Name != "table_best" && len(trials) != 15 {
					t.Errorf("it ended after %d of 15 settings", len(trials))
				}
				if best.Objective != 1 {
					t.Errorf("the best is %v", best)
				}
			}
		})
	}
}

// TestBetter orders feasible trials before infeasible ones, and these before
// crashed ones.
func TestBetter(t *testing.T) {
	p := problem()
	good := surrogate.Trial{State: surrogate.Done, Objective: 9, Limited: []float64{9}}
	off := surrogate.Trial{State: surrogate.Done, Objective: 1, Limited: []float64{11}}
	far := surrogate.Trial{State: surrogate.Done, Objective: 1, Limited: []float64{20}}
	crashed := surrogate.Trial{State: surrogate.Crashed}
	order := []surrogate.Trial{good, off, far, crashed}
	for i := range order {
		for j := range order {
			if got := p.Better(order[i], order[j]); got != (i < j) {
				t.Errorf("trial %d better than %d: %v", i, j, got)
			}
		}
	}
}

// TestAMethodFromOutside registers a method and finds it.
func TestAMethodFromOutside(t *testing.T) {
	tuner.Register(tuner.Method{Name: "test_first", Suggest: func(p *tuner.Problem, trials []surrogate.Trial) (tuner.Suggestion, error) {
		return tuner.Suggestion{}, tuner.ErrDone
	}})
	if _, ok := tuner.Find("test_first"); !ok {
		t.Error("it is not found by its name")
	}
}
