package policy

// NoBackfill lets no job pass a job that cannot start.
const NoBackfill Backfill = "none"

var _ = RegisterBackfill(BackfillChoice{
	Choice:   Choice{Name: NoBackfill, Title: "No backfill", Doc: "never", Place: 1},
	OneByOne: true, New: newPass,
})
