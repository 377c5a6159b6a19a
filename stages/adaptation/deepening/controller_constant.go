package deepening

import (
	"github.com/tfexp/tfexp/experiments/schema"
)

var _ = Register(Kind{
	Rank: 30, Name: "constant",
	Doc: "Takes the same `sequence` in every scenario.",
	Args: []schema.Arg{{
		Name: "sequence", Type: schema.Integers, Required: true, Min: schema.Limit(0), Example: `[0, 1, 1]`,
		Doc: "The action at each decision: the number of the block to deepen, from 0; the number of blocks means no action.",
	}},
	New: func(w DecisionInputs) Decider { return fixedDecider{w.Table.Actions, w.Controller.Sequence} },
})

var _ = Register(Kind{
	Rank: 40, Name: "best_constant", Oracle: true,
	Doc: "Takes the sequence with the greatest mean accuracy over all scenarios. No controller can know " +
		"this sequence beforehand; agents should be better.",
	New: func(w DecisionInputs) Decider {
		return fixedSequence(w.Table, bestMeans(append([]*OutcomeTable{w.Table}, w.Others...), 1)[0])
	},
})

var _ = Register(Kind{
	Rank: 41, Name: "best_elsewhere", Elsewhere: true,
	Doc:  "Takes the sequence with the greatest mean accuracy over the other scenarios.",
	Args: []schema.Arg{runsArg("the sequences that have the greatest means there")},
	New: func(w DecisionInputs) Decider {
		if n := w.Controller.Runs; n > 0 {
			return fixedSequence(w.Table, bestOf(w, bestMeans(w.Others, n)))
		}
		return fixedSequence(w.Table, bestMeans(w.Others, 1)[0])
	},
})
