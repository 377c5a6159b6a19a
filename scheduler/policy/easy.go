package policy

import (
	"fmt"

	"github.com/tfexp/tfexp/scheduler"
)

// EASY lets a job pass the first blocked job if that does not delay the blocked job's reservation, by the predicted
// run times.
const EASY Backfill = "easy"

var _ = RegisterBackfill(BackfillChoice{
	Choice: Choice{
		Name: EASY, Title: "EASY backfill", Doc: "jobs that do not delay the first blocked job",
		Place: 3, Estimates: true,
	},
	Passes: true, Reserves: true, OneByOne: true, New: newPass,
	HeldBack: func(v scheduler.View, r *Reservation) string {
		return fmt.Sprintf("would delay %q, which is to start at %s", v.Job(r.Job).Job().Name, r.At)
	},
})
