package deepening

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// The error about a table has the number of the wrong line and its mistake.
func TestReadRefuses(t *testing.T) {
	const head = "scenario,a1,timeleft1,a2,timeleft2,totaltime,acc\n"
	full := func(rows ...string) string { return head + strings.Join(rows, "\n") + "\n" }
	all := []string{"early,0,8,0,5,10,0.1", "early,0,8,1,4,10,0.2", "early,1,8,0,5,10,0.3", "early,1,8,1,2,10,0.4"}
	for _, c := range []struct {
		name, text string
		blocks     int
		want       string // part of the error; "" for no error
	}{
		{"whole", full(all...), 0, ""},
		{"of so many blocks", full(all...), 1, ""},
		{"no rows", head, 0, "no rows"},
		{"no time", strings.Replace(full(all...), "totaltime", "x", 1), 0, `no column "totaltime"`},
		{"no accuracy", strings.Replace(full(all...), "acc", "x", 1), 0, `no column "acc"`},
		{"no decision", strings.Replace(full(all...), "a2", "x", 1), 0, `no column "a2"`},
		{"no time left", strings.Replace(full(all...), "timeleft2", "x", 1), 0, `no column "timeleft2"`},
		{"a column twice", strings.Replace(full(all...), "timeleft2", "timeleft1", 1), 0, `two columns "timeleft1"`},
		{"more decisions", strings.Replace(full(all...), "scenario", "a3", 1), 0, "decisions is 2, but the table has more"},
		{"no number", full("early,0,8,0,5,x,0.1"), 0, `f:2: the time is "x", which is not a number`},
		{"not finite", full("early,0,8,0,5,10,Inf"), 0, `the accuracy is "Inf", which is not a number`},
		{"no time at all", full("early,0,0,0,0,0,0.1"), 0, "it must be above 0"},
		{"less than no accuracy", full("early,0,8,0,5,10,-0.1"), 0, "it must be from 0 to 1"},
		{"more than all", full("early,0,8,0,5,10,1.1"), 0, "it must be from 0 to 1"},
		{"from nothing to all", full("early,0,8,0,5,10,0", "early,0,8,1,4,10,1", all[2], all[3]), 0, ""},
		{"no action", full("early,x,8,0,5,10,0.1"), 0, `unknown action "x" at decision 1`},
		{"a negative action", full("early,0,8,-1,5,10,0.1"), 0, `unknown action "-1" at decision 2`},
		{"an action without a block", full("early,0,8,2,5,10,0.1"), 1, "unknown action 2 at decision 2: blocks have the numbers 0 to 0, and 1 is nothing"},
		{"no time left at a decision", full("early,0,8,0,x,10,0.1"), 0, `the time left is "x"`},
		{"less than no time left", full("early,0,8,0,-1,10,0.1"), 0, "the time left at decision 2 is -1 s, of 10 s"},
		{"more left than all", full("early,0,11,0,5,10,0.1"), 0, "the time left at decision 1 is 11 s, of 10 s"},
		{"more left than before", full("early,0,5,0,8,10,0.1"), 0, "the time left at decision 2 is 8 s, more than the 5 s at the decision before it"},
		{"as much left as before", full("early,0,10,0,10,10,0.1", all[1], all[2], all[3]), 0, ""},
		{"all of it over", full("early,0,0,0,0,10,0.1", all[1], all[2], all[3]), 0, ""},
		{"no scenario's name", full(" ,0,8,0,5,10,0.1"), 0, "the scenario has no name"},
		{"twice", full(all[0], all[1], all[0]), 0, "f:4: it repeats line 2"},
		{"one action", full("early,0,8,0,5,10,0.1"), 0, "which leaves nothing to decide"},
		{"too many sequences", full("early,1024,8,0,5,10,0.1"), 0, "more than 1048576 sequences"},
		{"one that is missing", full(all[:3]...), 0, "early lacks 1 of 4 sequences, for example (1 1)"},
	} {
		tables, budget, err := ReadTable("f", "t", strings.NewReader(c.text), DefaultColumns, 2, c.blocks)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if err == nil && (len(tables) != 1 || tables[0].Name != "early" || tables[0].Actions != 2 || tables[0].Accuracy[3] != 0.4 || budget != 10) {
			t.Errorf("%s: %+v, %g", c.name, tables[0], budget)
		}
	}
	_, _, err := ReadTable("f", "t", strings.NewReader(full("b,0,8,0,5,10,0.1", "a,0,8,2,5,20,0.1")), DefaultColumns, 2, 0)
	var missing *MissingSequences
	if !errors.As(err, &missing) || missing.Greatest != 2 || missing.Line != 3 || missing.Sequences != 9 || len(missing.In) != 2 ||
		missing.In[0].Scenario != "b" || missing.In[0].Count != 8 || missing.In[1].Count != 8 {
		t.Errorf("of two scenarios that lack much: %v", err)
	}
	// Half of the time is used at the first decision, and at the second one 0.6 and 0.8 of it.
	tables, budget, err := ReadTable("f", "t", strings.NewReader(full("early,0,5,0,4,10,0.1", "early,0,10,1,4,20,0.3",
		"early,1,5,0,5,10,0.3",
		"early,1,5,1,2,10,0.4", "early,0,5,1,4,10,0.5")), DefaultColumns, 2, 0)
	if err != nil || budget != 20 || !near(tables[0].Time[0][0], 0.5, 1e-12) || !near(tables[0].Time[1][0], (0.6+0.8+0.6)/3, 1e-12) ||
		!near(tables[0].Accuracy[1], 0.4, 1e-12) {
		t.Errorf("%v, %+v", err, tables)
	}
}

// Each part has as many degrees of freedom as its values: the trace of the projection onto the part.
func TestDegrees(t *testing.T) {
	for _, dims := range [][2]int{{3, 4}, {1, 3}, {2, 2}, {2, 3}, {4, 2}, {3, 3}} {
		d := newDesign(dims[0], dims[1])
		var trace [parts]float64
		for i := range d.class {
			unit := make([]float64, len(d.class))
			unit[i] = 1
			_, split := d.split(unit)
			for p := range split {
				trace[p] += split[p][i]
			}
		}
		for p := range trace {
			if math.Abs(trace[p]-d.degrees[p]) > 1e-9 {
				t.Errorf("%v: part %d has %g degrees of freedom, want %g", dims, p, d.degrees[p], trace[p])
			}
		}
	}
}

// Effects are shared as far as the accuracies of scenarios vary together; the rest is noise.
func TestVariances(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for _, c := range []struct {
		shared, own, noise float64 // standard deviations: shared effects, own effects, noise
		low, high          float64 // of the share
	}{{0.1, 0, 0.01, 0.9, 1}, {0, 0.1, 0.01, 0.1, 0.3}, {0.1, 0, 0.05, 0.85, 1}, {0.1, 0.1, 0.01, 0.2, 0.8}} {
		tables := make([]*OutcomeTable, 4)
		of := newDesign(4, 3)
		draw := func(deviation float64) []float64 { // effects of single decisions
			values := make([]float64, len(of.class))
			for i := range values {
				values[i] = r.NormFloat64()
			}
			_, split := of.split(values)
			sum := 0.0
			for i := range values {
				values[i] = split[singles][i] + split[singlesInOrder][i]
				sum += values[i] * values[i] / float64(len(values))
			}
			for i := range values {
				values[i] *= deviation / math.Sqrt(sum)
			}
			return values
		}
		shared := draw(c.shared)
		for s := range tables {
			tables[s] = &OutcomeTable{Decisions: 4, Actions: 3, Accuracy: draw(c.own)}
			for i := range tables[s].Accuracy {
				tables[s].Accuracy[i] += 0.5 + shared[i] + c.noise*r.NormFloat64()
			}
		}
		e := newEffects(tables)
		share := e.shared[singles] / (e.shared[singles] + e.own[singles])
		if share < c.low || share > c.high {
			t.Errorf("%+v: %g of the effects are shared", c, share)
		}
		for s, v := range e.noise {
			if sd := math.Sqrt(v); math.Abs(sd/c.noise-1) > 0.35 {
				t.Errorf("%+v: scenario %d has noise of %g", c, s, sd)
			}
		}
	}
	// In the parts from which noise is estimated, effects that all scenarios share are not noise.
	values := make([]float64, 81)
	for i := range values {
		values[i] = 0.5 + 0.1*r.NormFloat64()
	}
	var tables []*OutcomeTable
	for range 3 {
		t := &OutcomeTable{Decisions: 4, Actions: 3}
		for _, v := range values {
			t.Accuracy = append(t.Accuracy, v+0.01*r.NormFloat64())
		}
		tables = append(tables, t)
	}
	for _, v := range newEffects(tables).noise {
		if sd := math.Sqrt(v); sd > 0.03 {
			t.Errorf("three scenarios that are alike but for 0.01 have noise of %g", sd)
		}
	}
	if e := newEffects(adaptRecorded(t).Tables[:1]); e.shared[singles] != e.own[singles] || e.shared[singles] <= 0 {
		t.Errorf("of one scenario %g is shared and %g its own", e.shared[singles], e.own[singles])
	}
}

// Of equal values, the first one is taken everywhere.
func TestTheFirstOfEquals(t *testing.T) {
	if got := MostLikelyAction([]float64{0.2, 0.4, 0.4}); got != 1 {
		t.Errorf("the likeliest is %d", got)
	}
	table := func(accuracy ...float64) *OutcomeTable {
		return &OutcomeTable{Name: "t", Decisions: 2, Actions: 2, Accuracy: accuracy}
	}
	a, b := table(0.1, 0.4, 0.2, 0.2), table(0.4, 0.1, 0.3, 0.2)
	if got := bestMeans([]*OutcomeTable{a, b}, 4); !slices.Equal(got, []int{0, 1, 2, 3}) { // 0.5, 0.5, 0.5, 0.4
		t.Errorf("the means are in the order %v", got)
	}
	if got := bestMeans([]*OutcomeTable{b}, 3); !slices.Equal(got, []int{0, 2, 3}) {
		t.Errorf("the means are in the order %v", got)
	}
	w := DecisionInputs{Table: a, Run: func(s int) float64 { return []float64{0.1, 0.3, 0.3, 0.2}[s] }}
	if got := bestOf(w, []int{3, 2, 1}); got != 2 {
		t.Errorf("the best is %d", got)
	}
	if greatest([]float64{1, 3, 3}, nil) != 1 || greatest([]float64{1, 3, 3}, []int{1}) != 2 || greatest([]float64{1}, []int{0}) != -1 {
		t.Error("the greatest is another")
	}
	// By the means of both tables together: 0.5 + 0.5 after action 0, 0.5 + 0.4 after 1; then the first of two.
	g := greedyDecider{Table: a, Others: []*OutcomeTable{a, b}}
	if got := [][]float64{g.Probabilities(0, 0), g.Probabilities(1, 0), g.Probabilities(1, 1)}; !reflect.DeepEqual(got,
		[][]float64{{1, 0}, {1, 0}, {1, 0}}) {
		t.Errorf("greedy takes %v", got)
	}
	a.Accuracy[3], b.Accuracy[3] = 0.9, 0.8
	if got := [][]float64{g.Probabilities(0, 0), g.Probabilities(1, 1)}; !reflect.DeepEqual(got, [][]float64{{0, 1}, {0, 1}}) {
		t.Errorf("greedy takes %v", got)
	}
	if MeanAccuracyAfter(a, 0, 0) != (0.1+0.4+0.2+0.9)/4 || MeanAccuracyAfter(a, 1, 1) != (0.2+0.9)/2 ||
		MeanAccuracyAfter(a, 2, 1) != 0.4 {
		t.Error("the means of what goes on from a decision are others")
	}
}

// A training continues the training without its last lesson. The first lesson begins with a network for the actions of
// the tables.
func TestTrainings(t *testing.T) {
	s := adaptRecorded(t)
	c := &Controller{Learn: &AgentLearning{Curriculum: []string{"early", "late"}, Next: 5, Smooth: true,
		Settings: DefaultSettings(false)}}
	training := s.Training(c, "middle", 3)
	before, ok := training.Before()
	if !ok || before.LearnedOn() != "early" || before.Seed != 3 {
		t.Errorf("before it is %+v, %t", before, ok)
	}
	if _, ok := before.Before(); ok {
		t.Error("before the first lesson there is one")
	}
	if got, want := training.Tables()[0].Accuracy, Smoothed([]*OutcomeTable{s.Scenario("late")})[0].Accuracy; !slices.Equal(got, want) {
		t.Error("the tables are not smoothed")
	}
	c.Learn.Smooth = false
	if got := s.Training(c, "middle", 3).Tables(); got[0] != s.Scenario("late") {
		t.Error("the tables are smoothed")
	}
	if s.Scenario("nowhere") != nil || s.Scenario(s.Tables[0].Name) != s.Tables[0] {
		t.Error("tables have other names")
	}
	first := before.Begin(nil)
	if want := NewNetwork(6, 4, rand.New(rand.NewPCG(3, 9))); !reflect.DeepEqual(first.Network, want) {
		t.Error("it begins with another network")
	}
	next := training.Begin(first)
	if next.Network == first.Network || !reflect.DeepEqual(next.Network, first.Network) {
		t.Error("a lesson does not begin with what the one before has left")
	}
	text := strings.Join(training.Lines(), "\n")
	for _, want := range []string{"agent.seed 3", "lesson.1.settings", "lesson.2.settings episodes 5,", "lesson.1.smoothed", "lesson.2.smoothed",
		"lesson.2.table 3 decisions, 4 actions"} {
		if !strings.Contains(text, want) {
			t.Errorf("what it depends on lacks %q", want)
		}
	}
	if a := strings.Join(s.Training(c, "middle", 3).Lines(), "\n"); strings.Contains(a, "smoothed") {
		t.Error("lessons that are not smoothed are said to be")
	}
}
