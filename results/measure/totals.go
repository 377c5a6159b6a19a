package measure

import (
	"iter"
	"math"
	"time"

	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/scheduler"
)

// Totals holds the sums over all jobs of a cell that metrics are computed from.
// Times are in seconds, and over the finished jobs.
type Totals struct {
	// Jobs counts all, Failed the ones that ended without finishing.
	Jobs, Finished, Failed int
	Preemptions, Resizes   int
	// Makespan is the last end of a job − the first arrival; NaN when no job ended.
	Makespan float64
	// CoreTime and GPUTime are the sums of resources that running jobs held, in
	// core-microseconds and GPU-microseconds; Cores and GPUs the capacity.
	CoreTime, GPUTime int64
	Cores, GPUs       int
	JCT, Waiting      stats.Sample
	// FirstRunDelay and Service are sums over the finished jobs.
	FirstRunDelay, Service stats.Mean
	// Slowdown and BoundedSlowdown are over the finished jobs whose run time alone
	// is known.
	Slowdown        stats.Sample
	BoundedSlowdown stats.Mean

	ratios    stats.Sums   // of finish times
	span      table.Micros // Makespan; 0 when no job ended
	collector *Collector
}

// Outcomes yields the outcome of each job, for metrics that need more than the
// sums. It panics for drawn jobs, which are dropped: such a metric sets EachJob.
func (t *Totals) Outcomes() iter.Seq[Outcome] {
	if t.collector.setup.Drawn != nil {
		panic("measure: a metric without EachJob looks at the outcome of each job")
	}
	return func(yield func(Outcome) bool) {
		for i := range t.Jobs {
			if !yield(t.collector.Outcome(i)) {
				return
			}
		}
	}
}

// totals returns the sums over all jobs.
func (c *Collector) totals() *Totals {
	n, t := c.jobs.Counts(), &c.addAll().totals
	t.Jobs, t.Finished, t.Failed = c.setup.Len(), n.Finished, n.Failed+n.Stopped
	t.Preemptions, t.Resizes, t.Makespan = c.preemptions, c.resizes, math.NaN()
	t.Cores, t.GPUs = c.capacity.cores, c.capacity.gpus
	if span := c.lastEnd - c.backlog.first; c.lastEnd != never && span > 0 {
		t.span, t.Makespan = span, span.Seconds()
	}
	return t
}

// added are sums over jobs that are added in the order of their numbers.
type added struct {
	totals  Totals
	short   int // finished jobs that are too short for a slowdown
	offered offered
	waited  [marks]float64 // core-microseconds of the work that waited at each mark
	began   [marks]bool
	events  int // of the trace when they were added
}

// addAll returns the sums over all jobs, as they are after the last event.
func (c *Collector) addAll() *added {
	if c.setup.Drawn != nil {
		if c.added == nil {
			c.added = &added{totals: Totals{collector: c}}
		}
		c.accounts.Finish()
		return c.added
	}
	if c.added != nil && c.added.events == c.events {
		return c.added
	}
	c.added = &added{totals: Totals{collector: c}, events: c.events}
	if c.gpus != nil {
		c.added.totals.GPUTime = -c.gpus.sharedTime // GPUs that two jobs share count once
	}
	n := c.jobs.Counts().Finished
	c.added.totals.JCT.Grow(n)
	c.added.totals.Waiting.Grow(n)
	c.added.totals.Slowdown.Grow(n)
	for job := range c.setup.Len() {
		c.add(job, c.account(job))
	}
	return c.added
}

// add adds a job.
func (c *Collector) add(job int, a *account) {
	if c.added == nil {
		c.added = &added{totals: Totals{collector: c}}
	}
	s := c.added
	j := c.setup.Job(job)
	alone := c.setup.alone(job, j)
	s.totals.add(j, a, alone)
	if r := c.finishTime(job, j, a); !math.IsNaN(r) {
		s.totals.ratios.Add(r)
	}
	if alone > 0 && alone < LeastAlone && a.State() == scheduler.Finished {
		s.short++
	}
	for m := range marks {
		if a.waitedAt&(1<<m) == 0 {
			continue
		}
		if !s.began[m] {
			s.began[m], s.waited[m] = true, -float64(c.backlog.marks[m].used)
		}
		s.waited[m] += c.took(job, j, a)
	}
	if c.setup.Over != nil {
		c.setup.Over(job)
	}
	if last := c.length - 1; c.backlog.sorted && job < last { // the work of the last one is due after it
		s.offered.add(c, job, job, j, c.setup.Job(job+1), a)
	}
}

// add adds the outcome of a job, whose run time alone is given.
func (t *Totals) add(j *scheduler.Job, a *account, alone time.Duration) {
	c := t.collector
	t.CoreTime += a.coreTime
	t.GPUTime += a.gpuTime
	if a.State() != scheduler.Finished {
		return
	}
	arrival, end := table.ToMicros(j.Arrival), table.ToMicros(a.End())
	t.JCT.Add((end - arrival).Seconds())
	t.Waiting.Add((end - arrival - a.service).Seconds())
	t.FirstRunDelay.Add((table.ToMicros(a.FirstStart) - arrival).Seconds())
	t.Service.Add(a.service.Seconds())
	plain, bounded := slowdowns(end-arrival, alone, c.setup.BoundedFloor)
	if !math.IsNaN(plain) {
		t.Slowdown.Add(plain)
	}
	if !math.IsNaN(bounded) {
		t.BoundedSlowdown.Add(bounded)
	}
}
