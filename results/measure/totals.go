package measure

import (
	"iter"
	"math"

	"github.com/tfexp/tfexp/results/stats"
	"github.com/tfexp/tfexp/results/tell"
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

	ratios    *stats.Sample // of finish times; nil before they are requested
	span      tell.Micros   // Makespan; 0 when no job ended
	collector *Collector
}

// Outcomes yields the outcome of each job, for metrics that need more than the
// sums.
func (t *Totals) Outcomes() iter.Seq[Outcome] {
	return func(yield func(Outcome) bool) {
		for i := range t.Jobs {
			if !yield(t.collector.Outcome(i)) {
				return
			}
		}
	}
}

// totals adds up the records.
func (c *Collector) totals() *Totals {
	n := c.jobs.Counts()
	t := &Totals{
		Jobs: len(c.accounts), Finished: n.Finished, Failed: n.Failed + n.Stopped,
		Preemptions: c.preemptions, Resizes: c.resizes, Makespan: math.NaN(), collector: c,
	}
	t.Cores, t.GPUs = capacity(c.setup.Cluster)
	if c.gpus != nil {
		t.GPUTime = -c.gpus.sharedTime // GPUs that two jobs share count once
	}
	t.JCT.Grow(n.Finished)
	t.Waiting.Grow(n.Finished)
	t.Slowdown.Grow(n.Finished)
	first := tell.Micros(math.MaxInt64)
	for i := range c.accounts {
		first = min(first, tell.ToMicros(c.setup.Jobs[i].Arrival))
		t.add(i)
	}
	if span := c.lastEnd - first; c.lastEnd != never && span > 0 {
		t.span, t.Makespan = span, span.Seconds()
	}
	return t
}

// add adds the outcome of a job.
func (t *Totals) add(job int) {
	c := t.collector
	a, j := &c.accounts[job], c.jobs.Job(job)
	t.CoreTime += a.coreTime
	t.GPUTime += a.gpuTime
	if j.State() != scheduler.Finished {
		return
	}
	arrival, end := tell.ToMicros(c.setup.Jobs[job].Arrival), tell.ToMicros(j.End())
	t.JCT.Add((end - arrival).Seconds())
	t.Waiting.Add((end - arrival - a.service).Seconds())
	t.FirstRunDelay.Add((tell.ToMicros(j.FirstStart) - arrival).Seconds())
	t.Service.Add(a.service.Seconds())
	plain, bounded := c.slowdowns(job)
	if !math.IsNaN(plain) {
		t.Slowdown.Add(plain)
	}
	if !math.IsNaN(bounded) {
		t.BoundedSlowdown.Add(bounded)
	}
}
