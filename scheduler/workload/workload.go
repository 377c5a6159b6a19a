// Package workload makes the jobs of a cell from submit blocks or traces. Every random number is drawn from the seed
// by a named path. So cells with the same seed have the same arrivals.
package workload

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// ErrLate is returned for an arrival that is too late for a time.Duration.
var ErrLate = errors.New("an arrival is out of range")

// ArrivalKind says how the jobs of a submit block arrive.
type ArrivalKind string

// The kinds of arrivals.
const (
	At          ArrivalKind = "at"          // at the instants in Times
	Every       ArrivalKind = "every"       // one every Mean
	Exponential ArrivalKind = "exponential" // Poisson process: exponential gaps with mean Mean
	Normal      ArrivalKind = "normal"      // gaps drawn from normal(Mean, SD), at least 0
)

// Arrivals describes the arrival times of a submit block.
type Arrivals struct {
	Kind ArrivalKind
	// Start is the instant from which gaps are counted. With Every the first job arrives at Start; with Exponential
	// and Normal, one gap after it.
	Start time.Duration
	// Times are the instants for the kind At: one for each job, or one for all jobs.
	Times []time.Duration
	Mean  time.Duration
	SD    time.Duration
}

// Trace is a workload with all its jobs, as in a file.
type Trace struct {
	// Jobs are numbered in the order of the file. Predicted is the run time that the user requested, if the file has
	// it. A negative Priority means unknown.
	Jobs []scheduler.Job
	// RunTimes has the true run time of each job on its full request. A negative value means unknown; nil means that
	// all are unknown.
	RunTimes []time.Duration
	// Waits has the waiting time of each job in the log. A negative value means unknown; nil means that all are
	// unknown.
	Waits []time.Duration `json:"-"`
	// Open are the jobs of the log that have not ended. Jobs does not have them.
	Open []Open `json:"-"`
	// Memory has the requested and the used memory of each job; nil if no job has both.
	Memory []MemoryUse `json:"-"`
	// Origin is the instant from which the times of the log are counted, since the start of 1970; 0 if unknown.
	Origin time.Duration `json:"-"`
	// Alternatives has, by job, all requests with which the job can run; nil for a job with only one. The first is
	// the job's own request, whose run time is in RunTimes. Alternatives is nil if no job has any.
	Alternatives [][]Alternative `json:",omitempty"`
	// Lines has the line of the file of each job.
	Lines []int32
	// Resizes are changes of requests during the run, and ResizeLines has the line of each.
	Resizes     []scheduler.Resize
	ResizeLines []int32
	// Processors is the number of processors of the machine, from the file; 0 if unknown.
	Processors int
	// Ignored is the number of lines that are not separate jobs.
	Ignored int
	// Assumed are the reader's assumptions about facts that the file does not have, as phrases for users.
	Assumed []string `json:",omitempty"`
	// Skipped are the errors of malformed lines that a lenient reader has skipped.
	Skipped []error
}

// Open is a job that holds cores and GPUs from its start to the end of a log.
type Open struct {
	Start         time.Duration
	Threads, GPUs int
}

// MemoryUse is the requested memory of a job and the most memory that it used, in bytes; 0 means unknown.
type MemoryUse struct{ Requested, Used int64 }

// Alternative is a request with which a job of a trace can run.
type Alternative struct {
	// Alternative has the name and the request. Its Predicted is the run time that the user requested.
	scheduler.Alternative
	// RunTime is the true run time with this request; a negative value means unknown.
	RunTime time.Duration
}

// AlternativesOf returns all requests with which job i can run; nil if there is only one.
func (t *Trace) AlternativesOf(i int) []Alternative {
	if t.Alternatives == nil {
		return nil
	}
	return t.Alternatives[i]
}

// Timed reports whether the run time of job i is known.
func (t *Trace) Timed(i int) bool { return t.RunTimes != nil && t.RunTimes[i] >= 0 }

// WriteRest writes, for a hash, the properties of jobs that no column of their written form has: units and weights.
func WriteRest(w io.Writer, jobs []scheduler.Job) {
	for i := range jobs {
		if j := &jobs[i]; j.Units() != 0 || j.Weight() != 0 {
			_, _ = fmt.Fprintf(w, "%d has %v units of work and the weight %v\n", i, j.Units(), j.Weight())
			if rule := j.Special.BatchRule; rule != "" {
				_, _ = fmt.Fprintf(w, "its batch size changes by %s\n", rule)
			}
		}
	}
}

// Stream returns the random stream of a seed and a path. Streams of different paths are independent, so the draws of
// one part never change the draws of another.
func Stream(seed int64, path ...string) *rand.Rand { return rand.New(Source(seed, path...)) }

// Source returns the source of a Stream. A copy of it draws the same numbers.
func Source(seed int64, path ...string) *rand.PCG {
	h := sha256.New()
	_ = binary.Write(h, binary.BigEndian, seed) // writing to a hash does not fail
	for _, p := range path {
		_ = binary.Write(h, binary.BigEndian, int64(len(p)))
		h.Write([]byte(p))
	}
	sum := h.Sum(nil)
	return rand.NewPCG(binary.BigEndian.Uint64(sum), binary.BigEndian.Uint64(sum[8:]))
}

// MaxJobs is the greatest number of jobs in a list. MaxName is the greatest length of a job's name in bytes, because
// names become file names.
const (
	MaxJobs = 10_000_000
	MaxName = 200
)

// MaxThreads keeps core numbers within 32 bits.
const MaxThreads = 1 << 30

// Keep returns a copy of the trace with the jobs for which kept is true, renumbered, and their resizes.
func (t Trace) Keep(kept func(job int) bool) Trace {
	out := t
	out.Jobs, out.Lines, out.RunTimes, out.Alternatives, out.Resizes, out.ResizeLines = nil, nil, nil, nil, nil, nil
	out.Waits, out.Memory = nil, nil
	numbers := map[int]int{}
	for i, j := range t.Jobs {
		if !kept(i) {
			continue
		}
		numbers[i] = len(out.Jobs)
		j.Number = len(out.Jobs)
		out.Jobs, out.Lines = append(out.Jobs, j), append(out.Lines, t.Lines[i])
		if t.RunTimes != nil {
			out.RunTimes = append(out.RunTimes, t.RunTimes[i])
		}
		if t.Waits != nil {
			out.Waits = append(out.Waits, t.Waits[i])
		}
		if t.Memory != nil {
			out.Memory = append(out.Memory, t.Memory[i])
		}
		if t.Alternatives != nil {
			out.Alternatives = append(out.Alternatives, t.Alternatives[i])
		}
	}
	for i, z := range t.Resizes {
		if n, ok := numbers[z.Job]; ok {
			z.Job = n
			out.Resizes, out.ResizeLines = append(out.Resizes, z), append(out.ResizeLines, t.ResizeLines[i])
		}
	}
	return out
}
