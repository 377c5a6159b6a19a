package deepening

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/scheduler/control"
)

// seen is a decider that records the states in which it decides.
type seen struct{ states *[]DecisionState }

func (s seen) Probabilities(int, int) []float64 { panic("it is asked about the table") }

func (s seen) ProbabilitiesIn(state DecisionState) []float64 {
	*s.states = append(*s.states, state)
	return []float64{0.5, 0.2, 0.3} // always block 0 of two
}

// When a controller decides while a job trains.
func TestLive(t *testing.T) {
	second := time.Second
	type report struct {
		epoch     int
		used      time.Duration
		deepens   int // −1: the decision is to deepen no block; −2: no decision
		remaining time.Duration
	}
	none := []report{{0, 0, -2, 10 * second}, {1, second, -2, 9 * second}}
	for _, c := range []struct {
		name    string
		real    RealTrainings
		decider Decider
		reports []report
	}{
		{"at times", RealTrainings{At: []time.Duration{2 * second, 2 * second}}, SequenceDecider(&RealTrainings{Decisions: 2,
			Blocks: 2}, 1*3+2),
			append(none,
				report{2, 3 * second, 1, 7 * second}, report{3, 4 * second, -1, 6 * second}, report{4, 5 * second, -2,
					5 * second})},
		{"after a change", RealTrainings{Scenarios: []Scenario{{"grows", 1500 * time.Millisecond}}},
			SequenceDecider(&RealTrainings{Decisions: 2,
				Blocks: 2}, 0), append(none,
				report{2, 2 * second, 0, 8 * second}, report{3, 4 * second, 0, 6 * second}, report{4, 5 * second, -2,
					5 * second})},
		{"without a change", RealTrainings{Scenarios: []Scenario{{"steady", 0}}}, SequenceDecider(&RealTrainings{Decisions: 2,
			Blocks: 2}, 8),
			[]report{
				{0, 0, -2, 10 * second}, {1, second, -1, 9 * second}, {2, 2 * second, -1, 8 * second}, {3, 3 * second, -2,
					7 * second}}},
		{"when nothing is left", RealTrainings{Scenarios: []Scenario{{"steady", 0}}},
			SequenceDecider(&RealTrainings{Decisions: 2,
				Blocks: 2},
				0), []report{
				{1, second, 0, 9 * second}, {2, 10 * second, -2, 0}}},
	} {
		c.real.Decisions, c.real.Blocks, c.real.Budget = 2, 2, 10*second
		choice, ok := control.Find(LiveController)
		if !ok {
			t.Fatal("it is not registered")
		}
		by, err := choice.New((&LiveInputs{Decider: c.decider, Real: &c.real}).Options())
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range c.reports {
			a := by.Decide(control.Report{Epoch: r.epoch, Used: r.used, Left: r.remaining, Accuracy: math.NaN()})
			got := -2
			if a.Deepen != nil {
				got = *a.Deepen
			} else if a.Probabilities != nil {
				got = -1
			}
			if got != r.deepens {
				t.Errorf("%s, epoch %d: it deepens %d (%+v), want %d", c.name, r.epoch, got, a, r.deepens)
			}
		}
	}
	if _, err := (func() (control.Controller, error) {
		c,
			_ := control.Find(LiveController)
		return c.New(control.Options{})
	})(); err == nil {
		t.Error("without a course it is made")
	}
}

// An agent sees the training itself: its layers, and the used fraction of the budget.
func TestLiveState(t *testing.T) {
	var states []DecisionState
	real := &RealTrainings{Decisions: 2, Blocks: 2, Budget: 10 * time.Second, Scenarios: []Scenario{{"steady", 0}}}
	choice, _ := control.Find(LiveController)
	by, err := choice.New((&LiveInputs{Decider: seen{&states}, Real: real}).Options())
	if err != nil {
		t.Fatal(err)
	}
	by.Decide(control.Report{Epoch: 1, Used: 2 * time.Second, Left: 8 * time.Second})
	by.Decide(control.Report{Epoch: 2, Used: 5 * time.Second, Left: 5 * time.Second})
	want := []DecisionState{{Layers: []int{0, 2}, Time: 0.2}, {Layers: []int{0, 1, 2}, Time: 0.5}}
	if diff := cmp.Diff(want, states); diff != "" {
		t.Error(diff)
	}
}
