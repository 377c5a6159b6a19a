package deepening

import "math/rand/v2"

var _ = Register(Kind{
	Rank: 70, Name: "random", Random: true,
	Doc: "Takes a random sequence.",
	New: func(w DecisionInputs) Decider {
		r := rand.New(rand.NewPCG(w.Seed, 0x72616e64))
		return fixedSequence(w.Table, r.IntN(len(w.Table.Accuracy)))
	},
})
