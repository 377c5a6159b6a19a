package adaptation

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/stages"
	"github.com/tfexp/tfexp/stages/adaptation/deepening"
	"github.com/tfexp/tfexp/stages/execute"
)

var _ = stages.Register(&stages.Stage{
	Name:   "choose",
	Reads:  []stages.Artifact{tablesTrained, agentsLearned},
	Writes: []stages.Artifact{trainingsChosen},
	Files:  []string{TrainingsDir},
	Run:    decideInTrainings,
})

// decideInTrainings lets every controller of an adaptation with a job decide in real trainings.
func decideInTrainings(ctx context.Context, r *stages.Run) error {
	for _, t := range trainers(r, "choose") {
		t.Chosen, t.Trained = nil, nil
		for _, c := range t.Controllers {
			if k, _ := deepening.KindByName(c.Kind); !k.Makes {
				t.total += len(t.Real.Scenarios) * t.Real.Repeats
			}
		}
		if t.total == 0 {
			continue
		}
		t.repeats = execute.Repeats{Bounded: true, Left: t.total / oneIn}
		t.observe(stages.Progress{Kind: stages.StageStart})
		err := t.decideAll(ctx)
		if err == nil {
			t.Trained, err = t.all()
		}
		t.observe(stages.Progress{Kind: stages.StageEnd, Elapsed: time.Since(t.began), Err: err})
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *trainer) decideAll(ctx context.Context) error {
	for _, c := range t.Controllers {
		k, _ := deepening.KindByName(c.Kind)
		if k.Makes {
			continue
		}
		if t.Tables == nil && (k.Learns || k.Elsewhere || k.Oracle) {
			continue // its table lacks sequences, about which there is a warning
		}
		for i := range t.Real.Scenarios {
			for seed := 1; seed <= t.Real.Repeats; seed++ {
				if err := t.decideInTraining(ctx, c, &k, i, seed); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// decideInTraining lets a controller decide in one real training.
func (t *trainer) decideInTraining(ctx context.Context, c *deepening.Controller, k *deepening.Kind, scenario,
	seed int) error {
	name := t.Real.Scenarios[scenario].Name
	w, depends, err := t.decisionInputs(c, k, name, seed)
	if err != nil {
		return err
	}
	runs, tried := 0, []int{}
	var failed error
	known := t.Scenario(name)
	w.Run = func(sequence int) float64 {
		if failed != nil {
			return 0
		}
		runs++
		tried = append(tried, sequence)
		if known != nil {
			return known.Accuracy[sequence] // the sequence was trained already
		}
		var out *trainingResult
		if out, failed = t.train(ctx, scenario, t.sequence(sequence)); failed != nil || out.problem != "" {
			return 0
		}
		t.total++
		return out.accuracy
	}
	by := k.New(w)
	if failed != nil {
		return failed
	}
	depends = append(depends, stages.KeyLine{Label: "deepening.tried", Value: fmt.Sprint(tried)})
	out, err := t.train(ctx, scenario, plannedTraining{name: fmt.Sprintf("%s-%d", fileName(c.Name), seed), by: by,
		depends: depends})
	if err != nil {
		return err
	}
	if out.problem != "" {
		t.Warn("failed_training", "", fmt.Sprintf("%s in %s: %s", c.Name, name, out.problem))
		return nil
	}
	one := t.realDecisions(c, name, seed, runs, out)
	one.Dir = out.dir
	t.Chosen = append(t.Chosen, one)
	return nil
}

// decisionInputs returns the information that a controller can use before a real training, and the lines of the
// training's key about it.
func (t *trainer) decisionInputs(c *deepening.Controller, k *deepening.Kind, scenario string,
	seed int) (deepening.DecisionInputs, []stages.KeyLine,
	error) {
	w := deepening.DecisionInputs{Controller: c, Seed: uint64(seed), Table: t.Scenario(scenario)}
	depends := []stages.KeyLine{
		{Label: "deepening.controller", Value: fmt.Sprintf("%s, sequence %v, runs %d", c.Kind, c.Sequence, c.Runs)},
		{Label: "deepening.seed", Value: strconv.Itoa(seed)},
	}
	if w.Table == nil { // without a table, only the decisions are known
		n := t.Real.Sequences()
		w.Table = &deepening.OutcomeTable{Name: scenario, Decisions: t.Real.Decisions, Actions: t.Real.Blocks + 1,
			Accuracy: make([]float64, n)}
	} else if k.Learns || k.Elsewhere || k.Oracle || c.Runs > 0 {
		depends = append(depends, stages.KeyLine{Label: "deepening.table", Value: t.Digest})
	}
	for _, o := range t.Tables {
		if o.Name != scenario {
			w.Others = append(w.Others, o)
		}
	}
	if c.Learn == nil {
		return w, depends, nil
	}
	training := t.Study.Training(c, scenario, (seed-1)%t.Seeds+1)
	l, _, err := ReadWeights(t.Dir, training)
	if err != nil {
		return w, nil, fmt.Errorf("read the agent of %s: %w", c.Name, err)
	}
	w.Weights = l.Network
	return w, append(depends, stages.KeyLine{Label: "deepening.agent", Value: strings.Join(training.Lines(), "; ")}), nil
}

// realDecisions returns the decisions of a controller in a training, and their results.
func (t *trainer) realDecisions(c *deepening.Controller, scenario string, seed, runs int,
	out *trainingResult) deepening.RealDecisions {
	one := deepening.RealDecisions{
		Controller: c, Scenario: scenario, Seed: seed, Runs: runs, Accuracy: out.accuracy, Recorded: math.NaN(),
	}
	index := 0
	for _, row := range out.decisions() {
		var probs []float64
		for text := range strings.FieldsSeq(row.Probabilities) {
			p, _ := strconv.ParseFloat(text, 64)
			probs = append(probs, p)
		}
		action := deepening.MostLikelyAction(probs)
		index = index*(t.Real.Blocks+1) + action
		one.Decisions = append(one.Decisions, deepening.RealDecision{
			TimeLeft: row.Left, Probabilities: probs, Action: action, Before: row.AccuracyBefore,
			After: row.AccuracyAfter,
		})
	}
	if known := t.Scenario(scenario); known != nil && len(one.Decisions) == t.Real.Decisions {
		one.Recorded = known.Accuracy[index]
	}
	return one
}
