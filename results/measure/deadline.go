package measure

import (
	"math"
	"time"

	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/scheduler"
)

// Deadlines met and missed.
var (
	MissedDeadlines = Register(Metric{
		Rank: 351, Name: "missed_deadlines", Title: "missed deadlines", OfAllJobs: true, Unmet: true,
		Shown:   Shown{Cells: 11, Summary: 8, Panels: 9},
		Doc:     "number of jobs that did not finish by their deadline; empty if no job has a deadline",
		Compute: func(t *Totals) float64 { missed, _ := t.collector.deadlines(); return missed },
	})
	Lateness = Register(Metric{
		Rank: 352, Name: "lateness_s", Title: "lateness", Unit: "s",
		Doc:     "total time by which finished jobs missed their deadlines; empty if no job has a deadline",
		Compute: func(t *Totals) float64 { _, late := t.collector.deadlines(); return late },
	})
)

// due returns the deadline of a job; ok is false if it has none.
func (c *Collector) due(job int) (at time.Duration, ok bool) {
	d := c.setup.Job(job).Deadline
	return d, d > 0 && d < scheduler.Never
}

// deadlines returns the number of jobs that missed their deadlines, and by how many seconds finished jobs missed
// theirs in total. Both are NaN if no job has a deadline.
func (c *Collector) deadlines() (missed, late float64) {
	if !c.dated {
		return math.NaN(), math.NaN()
	}
	for job := range c.setup.Len() {
		due, ok := c.due(job)
		if !ok {
			continue
		}
		j := c.account(job)
		over := c.last - table.ToMicros(due)
		if j.Over() {
			over = table.ToMicros(j.End()) - table.ToMicros(due)
		}
		switch {
		case j.State() == scheduler.Failed:
			missed++
		case over > 0 && j.State() != scheduler.Pending:
			missed++
			if j.State() == scheduler.Finished {
				late += over.Seconds()
			}
		}
	}
	return missed, late
}

// lateness returns the seconds from a job's deadline to its finish, negative for an early job. It is NaN for a job
// that did not finish or has no deadline.
func (c *Collector) lateness(job int) float64 {
	due, ok := c.due(job)
	j := c.account(job)
	if !ok || j.State() != scheduler.Finished {
		return math.NaN()
	}
	return (table.ToMicros(j.End()) - table.ToMicros(due)).Seconds()
}
