package deepening

var _ = Register(Kind{
	Rank: 60, Name: "nothing",
	Doc: "Never deepens the network.",
	New: func(w DecisionInputs) Decider {
		sequence := make([]int, w.Table.Decisions)
		for d := range sequence {
			sequence[d] = w.Table.Actions - 1
		}
		return fixedDecider{w.Table.Actions, sequence}
	},
})
