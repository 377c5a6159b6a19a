package hardware

import (
	"math"
	"sync"
	"time"
)

// ToldLoad measures the CPU time of other programs while jobs run that are not children of this process, such as
// containers. The CPU time of the jobs must be reported with Add. ToldLoad reads the machine's counters at each
// report. It covers the time from the first report to the last.
type ToldLoad struct {
	least  time.Duration
	source func() (used, own float64)

	mu           sync.Mutex               // guards the fields below
	last         map[string]time.Duration // by job, the instant of its last report
	from, to     time.Duration
	began, ended [2]float64 // at the first and last report: CPU seconds of all processes, and of this process
	jobs         float64    // CPU seconds of the jobs between them
}

// NewToldLoad starts a measurement. Its result is unknown if it lasts less than least.
func NewToldLoad(least time.Duration) *ToldLoad { return newToldLoad(least, cpuSeconds) }

func newToldLoad(least time.Duration, source func() (used, own float64)) *ToldLoad {
	return &ToldLoad{least: least, source: source, last: map[string]time.Duration{}}
}

// Add reports that a job has used the given number of cores on average since its last report. at is the instant, on
// any clock that is the same for all reports.
func (l *ToldLoad) Add(job string, at time.Duration, cores float64) {
	used, own := l.source()
	l.mu.Lock()
	defer l.mu.Unlock()
	now := [2]float64{used, own}
	before, known := l.last[job]
	if len(l.last) == 0 {
		l.from, l.began = at, now
	}
	if l.to, l.ended = at, now; known {
		l.jobs += cores * (at - before).Seconds()
	}
	l.last[job] = at
}

// Others returns the mean number of cores that other programs have used; UnknownLoad if unknown.
func (l *ToldLoad) Others() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	elapsed := l.to - l.from
	if elapsed < l.least || elapsed <= 0 {
		return UnknownLoad
	}
	cores := (l.ended[0] - l.began[0] - (l.ended[1] - l.began[1]) - l.jobs) / elapsed.Seconds()
	if math.IsNaN(cores) || math.IsInf(cores, 0) {
		return UnknownLoad
	}
	return max(cores, 0)
}
