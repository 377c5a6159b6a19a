package batch

import (
	"slices"
	"time"
)

// eligibility decides when waiting jobs can start: after other jobs have ended, or from an instant on.
type eligibility struct {
	instants   []time.Duration    // instants at which jobs become eligible
	dependents map[string][]int32 // jobs that wait for the end of a job, by its name
	ended      map[string]bool    // jobs that have ended, by name
	unmet      []int              // number of jobs that a job waits for, by job
}

func newEligibility(jobs int) eligibility {
	return eligibility{dependents: map[string][]int32{}, ended: map[string]bool{}, unmet: make([]int, jobs)}
}

// arrive sets when a job becomes eligible. If it waits for other jobs, it is not eligible until the last has ended.
func (e *eligibility) arrive(job int32, m *jobRecord, now time.Duration) {
	m.eligible = max(now, m.sub.Begin)
	for _, name := range m.sub.After {
		if !e.ended[name] {
			e.unmet[job]++
			e.dependents[name] = append(e.dependents[name], job)
		}
	}
	if e.unmet[job] > 0 {
		m.eligible = never
	} else if m.eligible > now {
		e.instants = append(e.instants, m.eligible)
	}
}

// end makes the jobs eligible that waited only for this job.
func (e *eligibility) end(name string, now time.Duration, memberOf func(job int32) *jobRecord) {
	e.ended[name] = true
	for _, job := range e.dependents[name] {
		if e.unmet[job]--; e.unmet[job] == 0 {
			m := memberOf(job)
			m.eligible = max(now, m.sub.Begin)
			e.instants = append(e.instants, m.eligible)
		}
	}
	delete(e.dependents, name)
}

// pass removes the instants that have passed, and reports whether there were any.
func (e *eligibility) pass(now time.Duration) bool {
	before := len(e.instants)
	e.instants = slices.DeleteFunc(e.instants, func(at time.Duration) bool { return at <= now })
	return len(e.instants) < before
}
