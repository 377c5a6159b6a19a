package adaptation

import (
	"errors"

	"github.com/tfexp/tfexp/estimator/surrogate"
	"github.com/tfexp/tfexp/experiments/schema"
)

var _ = Register(Kind{
	Rank: 20, Name: "few_runs", Random: true,
	Doc: "Trains a few networks by different sequences, chosen by Bayesian optimization, then takes the best " +
		"sequence that it has seen.",
	Args: []schema.Arg{{
		Name: "runs", Type: schema.Integer, Default: `15`, Min: schema.Limit(1), Max: schema.Limit(10000),
		Doc: "The number of runs that it may use.", Example: `10`,
	}},
	New: func(w World) Decider { return follow(w.Table, search(w)) },
})

// search returns the best sequence of a few runs. The space has, for each block,
// a dimension at each decision, so that the model learns the value of deepening
// a block at a decision: main effects explain most of the accuracy.
func search(w World) int {
	t := w.Table
	blocks := t.Actions - 1
	s := surrogate.Search{Seed: w.Seed, Scale: surrogate.Linear}
	for range t.Decisions * blocks {
		s.Space = append(s.Space, surrogate.Dimension{Min: 0, Max: 1, Integer: true})
	}
	for i := range t.Accuracy {
		at := make([]float64, 0, len(s.Space))
		for _, a := range t.Sequence(i) {
			for b := range blocks {
				v := 0.0
				if a == b {
					v = 1
				}
				at = append(at, v)
			}
		}
		s.Candidates = append(s.Candidates, at)
	}
	s.Start = min(len(s.Space), max(3, w.Controller.Runs/2))
	var trials []surrogate.Trial
	best, most := 0, -1.0
	for range min(w.Controller.Runs, len(t.Accuracy)) {
		next, err := s.Suggest(trials)
		if errors.Is(err, surrogate.ErrExhausted) {
			break
		}
		if err != nil {
			panic(err) // the space is made above, and whole
		}
		sequence := sequenceOf(next.At, blocks, t.Actions)
		accuracy := w.Run(sequence)
		if accuracy > most {
			best, most = sequence, accuracy
		}
		trials = append(trials, surrogate.Trial{At: next.At, State: surrogate.Done, Objective: -accuracy})
	}
	return best
}

// sequenceOf returns the index of the sequence at a point of the space.
func sequenceOf(at []float64, blocks, actions int) int {
	index := 0
	for d := 0; d < len(at); d += blocks {
		action := blocks
		for b := range blocks {
			if at[d+b] == 1 {
				action = b
			}
		}
		index = index*actions + action
	}
	return index
}
