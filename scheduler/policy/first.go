package policy

import (
	"time"
)

// PlaceFirst starts a job with the first of its alternatives that has room.
const PlaceFirst Placement = "first"

var _ = RegisterPlacement(PlacementChoice{
	Choice: Choice{
		Name: PlaceFirst, Title: "First that has room", Doc: "the first alternative that has room", Place: 1,
	},
	Measure: func(start, _ time.Duration) time.Duration { return start },
	Replan:  replanInOrder,
})
