package measure

import (
	"iter"
	"math"
	"time"

	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/scheduler"
)

// Totals has the sums over the jobs of a cell, or of a group of jobs, from which metrics are computed. Times are in
// seconds and are summed over finished jobs.
type Totals struct {
	// Jobs counts all jobs, Failed the jobs that ended without finishing.
	Jobs, Finished, Failed int
	Preemptions, Resizes   int
	// Makespan is the last end of a job − the first arrival; NaN if no job ended.
	Makespan float64
	// CoreTime and GPUTime are the resources that running jobs held, in core-microseconds and GPU-microseconds. Cores
	// and GPUs are the capacity.
	CoreTime, GPUTime ResourceTime
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

// Outcomes yields the outcome of each job, for metrics that need more than sums. Such a metric must set EachJob;
// otherwise drawn jobs are dropped, and Outcomes panics.
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

// added has sums over jobs that are added in the order of their numbers.
type added struct {
	totals  Totals
	short   int // number of finished jobs that are too short for a slowdown
	offered offered
	waited  [marks]float64 // core-microseconds of work that waited at each mark
	began   [marks]bool
	events  int // number of events of the trace when the jobs were added
}

// newAdded returns empty sums with room for n jobs that finish.
func newAdded(c *Collector, n int) *added {
	s := &added{totals: Totals{collector: c}, events: c.events}
	s.totals.JCT.Grow(n)
	s.totals.Waiting.Grow(n)
	s.totals.Slowdown.Grow(n)
	return s
}

// addAll returns the sums over all jobs after the last event.
func (c *Collector) addAll() *added {
	if c.setup.Drawn != nil {
		c.accounts.Finish()
		return c.added
	}
	if c.added != nil && c.added.events == c.events {
		return c.added
	}
	c.added = newAdded(c, c.jobs.Counts().Finished)
	if c.gpus != nil {
		c.added.totals.GPUTime.exact = -c.gpus.sharedTime // GPUs that two jobs share count once
	}
	for number := range c.setup.Len() {
		c.add(c.lifeOf(number, c.account(number)))
	}
	return c.added
}

// life is a job with all numbers that are added to the sums.
type life struct {
	number       int
	job          *scheduler.Job
	account      *account
	arrival, end table.Micros  // end is only set for a job that is over
	alone        time.Duration // run time alone, as in Setup.Alone
}

func (c *Collector) lifeOf(number int, a *account) life {
	j := c.setup.Job(number)
	return life{
		number: number, job: j, account: a, arrival: table.ToMicros(j.Arrival), end: table.ToMicros(a.End()),
		alone: c.setup.alone(number, j),
	}
}

func (l *life) finished() bool { return l.account.State() == scheduler.Finished }

// jct returns the completion time of a job that is over.
func (l *life) jct() table.Micros { return l.end - l.arrival }

// add adds a job.
func (c *Collector) add(l life) {
	s := c.added
	s.totals.add(&l)
	if r := c.finishTime(&l); !math.IsNaN(r) {
		s.totals.ratios.Add(r)
	}
	if l.alone > 0 && l.alone < LeastAlone && l.finished() {
		s.short++
	}
	for m := 0; l.account.waitedAt>>m != 0; m++ {
		if l.account.waitedAt&(1<<m) == 0 {
			continue
		}
		if !s.began[m] {
			s.began[m], s.waited[m] = true, -float64(c.backlog.marks[m].used)
		}
		s.waited[m] += l.took()
	}
	if c.setup.Over != nil {
		c.setup.Over(l.number)
	}
	if last := c.length - 1; c.backlog.sorted && l.number < last { // work of the last job arrives after the last interval
		s.offered.add(c, l.number, &l, c.setup.Job(l.number+1))
	}
}

// add adds a job's outcome to the sums.
func (t *Totals) add(l *life) {
	a := l.account
	t.CoreTime.add(a.coreTime)
	t.GPUTime.add(a.gpuTime)
	if !l.finished() {
		return
	}
	jct := l.jct()
	t.JCT.Add(jct.Seconds())
	t.Waiting.Add((jct - a.service).Seconds())
	t.FirstRunDelay.Add((table.ToMicros(a.FirstStart) - l.arrival).Seconds())
	t.Service.Add(a.service.Seconds())
	plain, bounded := slowdowns(jct, l.alone, t.collector.setup.BoundedFloor)
	if !math.IsNaN(plain) {
		t.Slowdown.Add(plain)
	}
	if !math.IsNaN(bounded) {
		t.BoundedSlowdown.Add(bounded)
	}
}
