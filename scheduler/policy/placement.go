package policy

import "time"

// The placements. Under PlaceFirst a job starts with the first of its
// alternatives for which there is room. EarliestFinish plans all waiting jobs:
// each takes the alternative with the earliest predicted finish.
const (
	PlaceFirst     Placement = "first"
	EarliestFinish Placement = "earliest_finish"
)

func init() {
	RegisterPlacement(PlacementChoice{
		Choice:  Choice{Name: string(PlaceFirst), Title: "First that has room", Doc: "the first that has room", Place: 1},
		Measure: func(start, _ time.Duration) time.Duration { return start },
	})
	RegisterPlacement(PlacementChoice{
		Choice: Choice{
			Name: string(EarliestFinish), Title: "Earliest finish", Place: 2,
			Doc: "the one by which it ends earliest, by the estimates, also if that means to wait for a faster resource; " +
				"this plans all waiting jobs, so it implies `backfill = \"conservative\"`",
			Estimates: true,
			Wants: []Want{
				{
					Of: BackfillOf, Name: string(Conservative), Implied: true,
					Detail: `The placement "earliest_finish" plans all waiting jobs, which implies backfill = "conservative".`,
				},
				{
					Of: AllocationOf, Name: string(Strict),
					Detail: `The placement "earliest_finish" wants the allocation "strict".`,
				},
			},
		},
		Measure: func(_, finish time.Duration) time.Duration { return finish },
		Settled: true,
	})
}
