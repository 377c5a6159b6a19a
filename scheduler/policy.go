package scheduler

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

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
	AlloX      Order = "allox"
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
	// Placement says which of its alternatives a job starts with.
	Placement Placement
	// Alpha is the part of the users, those with the least progress, whose jobs
	// allox matches: above 0, at most 1; 0 stands for 1.
	Alpha float64
}

// withDefaults fills in the choices that are left empty: fcfs, no backfill,
// strict, no preemption, longest_run.
func (p Policy) withDefaults() Policy {
	p.Order = cmp.Or(p.Order, FCFS)
	p.Placement = cmp.Or(p.Placement, PlaceFirst)
	if p.Placement == EarliestFinish { // which plans all waiting jobs
		p.Backfill = cmp.Or(p.Backfill, Conservative)
	}
	p.Backfill = cmp.Or(p.Backfill, NoBackfill)
	p.Alpha = cmp.Or(p.Alpha, 1)
	p.Allocation = cmp.Or(p.Allocation, Strict)
	p.Preemption = cmp.Or(p.Preemption, NoPreemption)
	p.Victims = cmp.Or(p.Victims, LongestRun)
	return p
}

// Validate returns an error that says which choice is unknown, or which
// setting is missing. Empty choices stand for their defaults: fcfs, no
// backfill, strict, no preemption, longest_run.
func (p Policy) Validate() error {
	p = p.withDefaults()
	switch p.Order {
	case FCFS, RoundRobin, Priority, SJF, SRTF, LAS, EDF, Fair, AlloX:
	default:
		return fmt.Errorf("policy: unknown order %q", p.Order)
	}
	switch p.Backfill {
	case NoBackfill, FirstFit, EASY, Conservative:
	default:
		return fmt.Errorf("policy: unknown backfill %q", p.Backfill)
	}
	switch p.Allocation {
	case Strict, AlwaysAttend, MaxProp:
	default:
		return fmt.Errorf("policy: unknown allocation %q", p.Allocation)
	}
	switch p.Preemption {
	case NoPreemption, PausePreemption:
	default:
		return fmt.Errorf("policy: unknown preemption %q", p.Preemption)
	}
	switch p.Victims {
	case LongestRun, SmallestRequest:
	default:
		return fmt.Errorf("policy: unknown victim rule %q", p.Victims)
	}
	if err := p.checkPlacement(); err != nil {
		return err
	}
	if p.looksEachQuantum() && p.Quantum <= 0 {
		return fmt.Errorf("policy: order %s needs a quantum above zero", p.Order)
	}
	if p.FeedbackInterval < 0 {
		return fmt.Errorf("policy: a feedback interval of %s is negative", p.FeedbackInterval)
	}
	return nil
}

// String sums the policy up in a line: "round_robin, quantum 500ms, strict".
func (p Policy) String() string {
	p = p.withDefaults()
	parts := []string{string(p.Order)}
	if p.looksEachQuantum() {
		parts = append(parts, "quantum "+p.Quantum.String())
	}
	if p.Backfill != NoBackfill {
		parts = append(parts, string(p.Backfill)+" backfill")
	}
	if p.Placement == EarliestFinish {
		parts = append(parts, "earliest finish")
	}
	if p.Order == AlloX && p.Alpha < 1 {
		parts = append(parts, fmt.Sprintf("alpha %g", p.Alpha))
	}
	parts = append(parts, string(p.Allocation))
	if p.Preemption == PausePreemption {
		parts = append(parts, "pause "+string(p.Victims)+" first")
	}
	if p.FeedbackInterval > 0 && p.Order == Priority {
		parts = append(parts, "feedback every "+p.FeedbackInterval.String())
	}
	return strings.Join(parts, ", ")
}

// checkPlacement refuses what contradicts the placement, or the order allox,
// which places jobs by itself.
func (p Policy) checkPlacement() error {
	switch {
	case p.Placement != PlaceFirst && p.Placement != EarliestFinish:
		return fmt.Errorf("policy: unknown placement %q", p.Placement)
	case p.Placement == EarliestFinish && p.Backfill != Conservative:
		return fmt.Errorf("policy: the placement earliest_finish plans all waiting jobs, which is the backfill conservative, not %s", p.Backfill)
	case p.Placement == EarliestFinish && p.Allocation != Strict:
		return fmt.Errorf("policy: the placement earliest_finish wants the allocation strict, not %s", p.Allocation)
	case !(p.Alpha > 0 && p.Alpha <= 1):
		return fmt.Errorf("policy: an alpha of %g is not above 0 and at most 1", p.Alpha)
	case p.Order != AlloX && p.Alpha != 1:
		return fmt.Errorf("policy: alpha is for the order allox, not %s", p.Order)
	case p.Order == AlloX && (p.Backfill != NoBackfill || p.Allocation != Strict || p.Preemption != NoPreemption || p.Placement != PlaceFirst):
		return fmt.Errorf("policy: the order allox decides by itself what starts where: it wants no backfill, placement and preemption, and the allocation strict")
	}
	return nil
}

// looksEachQuantum tells whether the order has a quantum.
func (p Policy) looksEachQuantum() bool {
	return p.Order == RoundRobin || p.Order == LAS || p.Order == Fair
}

// takesTurns tells whether a job whose quantum ends gives its cores up and
// queues again.
func (p Policy) takesTurns() bool { return p.Order == RoundRobin || p.Order == Fair }

// pausesForBetter tells whether a waiting job may pause running ones that are
// worse in the policy's order. Where jobs take turns no running job is worse.
func (p Policy) pausesForBetter() bool {
	return p.Order == SRTF || p.Order == LAS || p.Preemption == PausePreemption && !p.takesTurns()
}
