package scheduler

import "time"

// Order says which waiting job is next.
type Order string

// The orders; see the package documentation for their exact definitions.
const (
	FCFS       Order = "fcfs"
	RoundRobin Order = "round_robin"
	Priority   Order = "priority"
	SJF        Order = "sjf"
	SRTF       Order = "srtf"
	LAS        Order = "las"
	EDF        Order = "edf"
	Fair       Order = "fair"
)

// Backfill says whether a job that cannot start lets later ones pass.
type Backfill string

// The kinds of backfill.
const (
	NoBackfill   Backfill = "none"
	FirstFit     Backfill = "first_fit"
	EASY         Backfill = "easy"
	Conservative Backfill = "conservative"
)

// Allocation says how many cores a job gets.
type Allocation string

// The allocation rules.
const (
	Strict       Allocation = "strict"
	AlwaysAttend Allocation = "always_attend"
	MaxProp      Allocation = "max_prop"
)

// Preemption says whether running jobs can be made to give way.
type Preemption string

// The kinds of preemption.
const (
	NoPreemption    Preemption = "none"
	PausePreemption Preemption = "pause"
)

// VictimRule says which running jobs are paused first.
type VictimRule string

// The victim rules.
const (
	LongestRun      VictimRule = "longest_run"
	SmallestRequest VictimRule = "smallest_request"
)

// Policy is four independent choices, with their settings.
type Policy struct {
	Order      Order
	Backfill   Backfill
	Allocation Allocation
	Preemption Preemption
	Victims    VictimRule
	// Quantum is how long a job runs before round_robin, las and fair look again.
	Quantum time.Duration
	// FeedbackInterval is the waiting time that improves a job's level by one;
	// 0 switches feedback off.
	FeedbackInterval time.Duration
}
