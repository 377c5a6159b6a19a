package policy

// FirstFit lets every job that fits pass a job that cannot start.
const FirstFit Backfill = "first_fit"

var _ = RegisterBackfill(BackfillChoice{
	Choice: Choice{Name: FirstFit, Title: "First fit", Doc: "any waiting job that fits", Place: 2},
	Passes: true, OneByOne: true, New: newPass,
})
