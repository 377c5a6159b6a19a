package tuner_test

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/tfexp/tfexp/estimator/surrogate"
	"github.com/tfexp/tfexp/stages/tuning/tuner"
)

// problem is a search over a finite space of two settings, with its minimum at 4, b.
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

// TestMethods runs each method to its end. A method tries nothing twice, makes the same suggestions from the same
// trials, and, if it searches long enough, finds the best of a small space.
func TestMethods(t *testing.T) {
	for _, m := range tuner.All() {
		if m.NeedsContext {
			continue // see TestContexts
		}
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

// inContext returns a trial of the same problem with a part of the data: a quarter gives an error, and costs a tenth.
func inContext(at []float64) surrogate.Trial {
	t := outcome(at[:2])
	t.At, t.Cost = at, 1
	if at[2] != 1 {
		t.Cost = 0.1
		t.Objective *= 1 + 0.1*math.Sin(20*at[0]+at[1])
	}
	return t
}

// TestContexts runs the methods that use contexts. They begin in a cheap context, end in the one that counts, and spend
// less than trials of all settings there. Other methods only use the one that counts.
func TestContexts(t *testing.T) {
	for _, m := range tuner.All() {
		if m.NeedsBest || m.Name == "fixed" || m.Name == "test_first" {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			p := problem()
			p.Trials = 60
			p.Space = append(p.Space, surrogate.Dimension{Name: "part", Numbers: []float64{16, 64}, Log: true, Context: true,
				Goal: 1})
			p.Initial = []float64{0, 0, 1}
			knows := m.NeedsContext || m.Name == "bo" || m.Name == "selftf"
			var trials []surrogate.Trial
			best, spent, counting := math.Inf(1), 0.0, 0
			for len(trials) < p.Trials && best > 1 {
				next, err := m.Suggest(p, trials)
				if err != nil {
					break
				}
				one := inContext(next.At)
				if !p.Space.AtGoal(one.At) && !knows {
					t.Fatalf("it tried %v, which does not count", one.At)
				}
				if len(trials) == 0 && p.Space.AtGoal(one.At) == knows {
					t.Errorf("it began with %v", one.At)
				}
				trials = append(trials, one)
				spent += one.Cost
				if p.Space.AtGoal(one.At) && one.State == surrogate.Done {
					counting++
					best = min(best, one.Objective)
				}
			}
			if knows && (counting == 0 || best > 2 || spent > 8) {
				t.Errorf("%d of %d trials count, the best %v, for a cost of %v", counting, len(trials), best, spent)
			}
		})
	}
}

// TestContextsOfRanges: if the settings and the context are ranges, so that points cannot be listed, methods begin in a
// cheap context and reach the goal.
func TestContextsOfRanges(t *testing.T) {
	for _, name := range []string{"bo", "halving"} {
		m, _ := tuner.Find(name)
		p := &tuner.Problem{
			Scale: surrogate.Log, Trials: 40, Seed: 5, Space: surrogate.Space{
				{Name: "rate", Min: 0.001, Max: 1, Log: true}, {Name: "batch", Numbers: []float64{8, 16, 32, 64}, Log: true},
				{Name: "epochs", Min: 1, Max: 27, Integer: true, Log: true, Context: true, Goal: 1},
			},
		}
		var trials []surrogate.Trial
		counting := 0
		for range p.Trials {
			next, err := m.Suggest(p, trials)
			if err != nil {
				t.Fatal(err)
			}
			v := 0.1 + math.Pow(next.At[0]-0.6, 2) + 0.1*next.At[1]
			trials = append(trials, surrogate.Trial{At: next.At, State: surrogate.Done, Objective: v * (2 - next.At[2]),
				Cost: math.Pow(27, next.At[2])})
			if p.Space.AtGoal(next.At) {
				counting++
			}
		}
		if p.Space.AtGoal(trials[0].At) || counting == 0 {
			t.Errorf("%s: %d of %d trials count, the first is at %v", name, counting, len(trials), trials[0].At)
		}
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
	tuner.Register(tuner.Method{Name: "test_first", Suggest: func(p *tuner.Problem,
		trials []surrogate.Trial) (tuner.Suggestion, error) {
		return tuner.Suggestion{}, tuner.ErrDone
	}})
	if _, ok := tuner.Find("test_first"); !ok {
		t.Error("it is not found by its name")
	}
}
