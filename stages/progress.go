package stages

import "time"

// ProgressKind says what a Progress reports.
type ProgressKind string

// The kinds of progress.
const (
	StageStart  ProgressKind = "stage_start" // a stage begins; Total units
	StageEnd    ProgressKind = "stage_end"   // a stage is over
	UnitStart   ProgressKind = "unit_start"  // a sample, a cell, a picture begins
	UnitUpdate  ProgressKind = "unit_update" // the states of a cell's jobs changed, or one of them reported
	UnitEnd     ProgressKind = "unit_end"    // it is over; Err when it failed
	WarningSeen ProgressKind = "warning"     // Text is for people
)

// Progress is a step of a run, for views.
type Progress struct {
	Kind  ProgressKind
	Stage string // the stage's name
	Unit  string // a job that is sampled, or a cell
	// Done and Total count the stage's units; Reused those that needed no work.
	Done, Total, Reused int
	// Jobs of the running cell, by state.
	JobsDone, JobsRunning, JobsWaiting, JobsFailed, Jobs int
	// Training are those of them that run and have reported, in the order of their starts.
	Training []Reported
	// Simulated is how far a simulated cell has come in its own time; 0 of real ones.
	Simulated time.Duration
	// Elapsed is since the unit (or, at StageEnd, the stage) began.
	Elapsed time.Duration
	// Left is the time left for the whole stage by the estimates; 0 when unknown.
	Left time.Duration
	Text string
	Err  error
}
