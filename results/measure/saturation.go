package measure

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/scheduler"
)

// OfferedLoad says how much work arrived in a cell, and whether the cell could do it.
type OfferedLoad struct {
	// Offered is the work that arrives per second divided by the capacity, of cores or GPUs, whichever is more
	// scarce. It is the core-seconds of the jobs that arrive before the last one / (cores × time from the first to
	// the last arrival). At 1 or more, no policy can keep up indefinitely (R. M. Loynes, "The stability of a queue
	// with non-independent inter-arrival and service times", 1962). It is NaN if all jobs arrive at once, a run time
	// is unknown, or a job has alternatives.
	Offered float64 `csv:"offered_load"`
	// Saturated is set for a cell without a steady state: waiting work grew until the last arrival and many jobs
	// waited then, or jobs still waited when the cell was closed.
	Saturated bool `csv:"saturated"`
	// Queued is the number of waiting jobs when the last one arrived.
	Queued int `csv:"queued_at_last_arrival"`
}

// loads has the columns of OfferedLoad, the last of metrics.csv.
var loads = table.NewSchema[OfferedLoad]("", nil)

// MarshalJSON writes the columns of metrics.csv; NaN is null.
func (l OfferedLoad) MarshalJSON() ([]byte, error) { return loads.Marshal(&l) }

// UnmarshalJSON reads the output of MarshalJSON.
func (l *OfferedLoad) UnmarshalJSON(raw []byte) error { return loads.Unmarshal(raw, l) }

// The test for saturation divides the arrivals into this many stretches, each of at least leastInStretch jobs.
const (
	stretches      = 20
	leastInStretch = 5
)

// backlog records, during a trace, which jobs wait halfway through the arrivals and at the last arrival.
type backlog struct {
	first, last table.Micros // times of the first and last arrival
	sorted      bool         // jobs arrive in the order of their numbers
	marks       [marks]mark
	next        int // index of the next mark
	cutOff      int // number of jobs that were stopped while they waited
}

// marks is the number of times at which waiting jobs are recorded.
const marks = 2

// mark is a time, with the jobs that waited then and the core time that they had had.
type mark struct {
	at     table.Micros
	queued int
	used   int64
}

func newBacklog(s *Setup) backlog {
	b := backlog{first: math.MaxInt64, last: never, sorted: true}
	for i := range s.Jobs {
		at := table.ToMicros(s.Jobs[i].Arrival)
		b.sorted = b.sorted && at >= b.last
		b.first, b.last = min(b.first, at), max(b.last, at)
	}
	if s.Drawn != nil {
		b.first, b.last = table.ToMicros(s.Job(0).Arrival), table.ToMicros(s.Job(s.Len()-1).Arrival)
	}
	b.marks[0].at, b.marks[1].at = b.first+(b.last-b.first)/2, b.last
	return b
}

// A queue is long if, at the last arrival, it has more than this number of jobs, and more than this fraction of all
// jobs.
const (
	longQueue = 100
	longShare = 0.1
)

// passes records the waiting jobs at each mark before a time.
func (c *Collector) passes(at table.Micros) {
	for b := &c.backlog; b.next < len(b.marks) && b.marks[b.next].at < at; b.next++ {
		for _, a := range c.accounts.All() {
			if a.Waits() {
				a.waitedAt |= 1 << b.next
				b.marks[b.next].queued++
				b.marks[b.next].used = plus(b.marks[b.next].used, a.coreTime)
			}
		}
	}
}

// Load returns the load of the cell. The argument closed reports whether the cell was closed before its jobs were done.
//
// It decides as follows whether the cell is saturated. The backlog is the work that has arrived and has not run yet.
// Under a load below 1 it rises and falls; under a load above 1 it grows with each arrival. At a load of exactly 1, the
// backlog after n arrivals is distributed as |N(0, σ²n)|, where σ²n is the variance of the work that arrived minus the
// work that could be done (reflected Brownian motion: J. M. Harrison, "Brownian Motion and Stochastic Flow Systems",
// 1985). At lower loads it is smaller.
//
// A cell is saturated if its backlog at the last arrival is larger than 99 of 100 cells would have at a load of 1, and
// larger than half-way. The variance comes from batch means, which allow for arrivals in bursts (A. M. Law, W. D.
// Kelton, "Simulation Modeling and Analysis"). Cells of fewer than 100 jobs are never judged saturated this way. If
// bursts are too long for this test, a cell is saturated if more than a tenth of all jobs, and more than 100, wait at
// the last arrival, and more than half-way.
func (c *Collector) Load(closed bool) OfferedLoad {
	l := OfferedLoad{Offered: math.NaN(), Saturated: closed && c.backlog.cutOff > 0, Queued: c.backlog.marks[1].queued}
	n, span := c.setup.Len(), float64(c.backlog.last-c.backlog.first)
	cores, gpus := c.capacity.cores, c.capacity.gpus
	if n < 2 || span <= 0 || cores == 0 {
		return l
	}
	all := c.addAll()
	if !c.backlog.sorted {
		order := make([]int, n)
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.arrival(a), c.arrival(b)) })
		all.offered = offered{}
		for k, i := range order[:n-1] {
			l := c.lifeOf(i, c.account(i))
			all.offered.add(c, k, &l, c.setup.Job(order[k+1]))
		}
	}
	if o := &all.offered; !o.unknown {
		l.Offered = o.onCores / (float64(cores) * span)
		if gpus > 0 {
			l.Offered = max(l.Offered, o.onGPUs/(float64(gpus)*span))
		}
	}
	if n < stretches*leastInStretch || l.Saturated {
		return l
	}
	halfway, last := all.waited[0], all.waited[1]
	level := stat.StdDev(all.offered.net[:], nil) * math.Sqrt(stretches) * distuv.StudentsT{Sigma: 1,
		Nu: stretches - 1}.Quantile(0.995)
	many := l.Queued > longQueue && float64(l.Queued) > longShare*float64(n) && l.Queued > c.backlog.marks[0].queued
	l.Saturated = last > level && last > halfway || many
	return l
}

// asked returns the run time of a job alone on its full request in microseconds: the known one, or else the observed
// one.
func (l *life) asked() (float64, bool) {
	if l.alone > 0 {
		return float64(l.alone) / 1e3, true
	}
	return float64(l.account.coreTime) / float64(l.job.Threads), l.finished()
}

// took returns the core-microseconds that a job took, or would have taken if it did not finish.
func (l *life) took() float64 {
	if l.finished() {
		return float64(l.account.coreTime)
	}
	run, _ := l.asked()
	return max(float64(l.account.coreTime), run*float64(l.job.Threads))
}

func (c *Collector) arrival(job int) table.Micros { return table.ToMicros(c.setup.Job(job).Arrival) }

// offered sums the work of jobs, which are added in the order of their arrivals.
type offered struct {
	onCores, onGPUs float64            // microseconds
	net             [stretches]float64 // core-microseconds of work that arrived, minus the capacity
	unknown         bool
}

// add adds the k-th job; next is the job that arrives after it.
func (o *offered) add(c *Collector, k int, l *life, next *scheduler.Job) {
	work, ok := l.asked()
	o.unknown = o.unknown || !ok || len(l.job.Alternatives()) > 1 // the work depends on the chosen alternative
	o.onCores += work * float64(l.job.Threads)
	o.onGPUs += work * float64(l.job.GPUs)
	s := k * stretches / (c.length - 1)
	o.net[s] += l.took()
	o.net[s] -= float64(c.capacity.cores) * float64(table.ToMicros(next.Arrival)-l.arrival)
}
