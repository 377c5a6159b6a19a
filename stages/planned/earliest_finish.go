package planned

import (
	"time"

	"github.com/tfexp/tfexp/scheduler/policy"
)

// EarliestFinish plans all waiting jobs: each takes the alternative with the
// earliest predicted finish.
const EarliestFinish policy.Placement = "earliest_finish"

var _ = policy.RegisterPlacement(policy.PlacementChoice{
	Choice: policy.Choice{
		Name: EarliestFinish, Title: "Earliest finish", Place: 2, Estimates: true,
		Doc: "the alternative with the earliest predicted end, even if the job must wait for it; all " +
			"waiting jobs are planned, so this implies `backfill = \"conservative\"`",
		Wants: []policy.Want{
			{
				Of: policy.BackfillOf, Name: Conservative, Implied: true,
				Detail: "The placement \"earliest_finish\" plans all waiting jobs, " +
					"which implies backfill = \"conservative\".",
			},
			{
				Of: policy.AllocationOf, Name: policy.Strict,
				Detail: "The placement \"earliest_finish\" needs the allocation \"strict\".",
			},
		},
	},
	Measure: func(_, finish time.Duration) time.Duration { return finish },
	Settled: true,
})
