package policy

import "time"

// EarliestFinish plans all waiting jobs: each takes the alternative with the
// earliest predicted finish.
const EarliestFinish Placement = "earliest_finish"

var _ = RegisterPlacement(PlacementChoice{
	Choice: Choice{
		Name: EarliestFinish, Title: "Earliest finish", Place: 2, Estimates: true,
		Doc: "the one by which it ends earliest, by the estimates, also if that means to wait for a faster resource: " +
			"this plans all waiting jobs, so it implies `backfill = \"conservative\"`",
		Wants: []Want{
			{
				Of: BackfillOf, Name: Conservative, Implied: true,
				Detail: "The placement \"earliest_finish\" plans all waiting jobs, " +
					"which implies backfill = \"conservative\".",
			},
			{
				Of: AllocationOf, Name: Strict,
				Detail: "The placement \"earliest_finish\" needs the allocation \"strict\".",
			},
		},
	},
	Measure: func(_, finish time.Duration) time.Duration { return finish },
	Settled: true,
})
