// Package workload turns a description of submissions into the jobs of one
// cell: every random draw comes from the seed by a named path, so that
// cells which share a seed share their arrivals.
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

// ErrLate is returned for an arrival that the kernel cannot represent.
var ErrLate = errors.New("an arrival is out of range")

// ArrivalKind is how the jobs of one submit block arrive.
type ArrivalKind string

// The kinds of arrivals.
const (
	At          ArrivalKind = "at"          // at the listed instants
	Every       ArrivalKind = "every"       // evenly spaced by Mean
	Exponential ArrivalKind = "exponential" // a Poisson process with mean gap Mean
	Normal      ArrivalKind = "normal"      // gaps normal(Mean, SD), not below 0
)

// Arrivals describes the arrival times of one submit block.
type Arrivals struct {
	Kind ArrivalKind
	// Start is the instant from which gaps are counted; the first job of
	// Every, Exponential and Normal arrives one gap after it, except that
	// Every begins at Start itself.
	Start time.Duration
	// Times are the instants of At: one for each job, or a single one for all.
	Times []time.Duration
	Mean  time.Duration
	SD    time.Duration
}

// Trace is a workload with all its jobs, as it is read from a file or written
// to one.
type Trace struct {
	// Jobs are numbered in the order of the file. Their predictions are the
	// run times that users requested, where the file has them. A Priority below
	// 0 is unknown.
	Jobs []scheduler.Job
	// RunTimes are the true run times on the full request, one for each job;
	// negative where the run time is unknown, nil where all of them are.
	RunTimes []time.Duration
	// Waits are the waiting times of the jobs in the log of the trace; negative if a time is unknown, nil if all are.
	Waits []time.Duration `json:"-"`
	// Open are the jobs of the log that have not ended; they are not among Jobs.
	Open []Open `json:"-"`
	// Memory is the requested and the used memory of the jobs in the log; nil if it has no job with both.
	Memory []MemoryUse `json:"-"`
	// Origin is the instant from which the times of the log count, since the beginning of 1970; 0 if it is not known.
	Origin time.Duration `json:"-"`
	// Alternatives are all ways in which a job can run, for each job that has several: the first is its own request,
	// whose run time is in RunTimes. nil where no job has any.
	Alternatives [][]Alternative `json:",omitempty"`
	// Lines are the lines of the file that the jobs are from.
	Lines []int32
	// Resizes are changes of requests while jobs run, and ResizeLines the lines
	// that ask for them.
	Resizes     []scheduler.Resize
	ResizeLines []int32
	// Processors is the size of the machine according to the file; 0 if unknown.
	Processors int
	// Ignored counts the lines that are not separate jobs.
	Ignored int
	// Assumed has the reader's assumptions about facts that the file lacks, in phrases.
	Assumed []string `json:",omitempty"`
	// Skipped are the malformed lines that a lenient reader left out.
	Skipped []error
}

// Open is a job that holds cores and GPUs from its start to the end of a log.
type Open struct {
	Start         time.Duration
	Threads, GPUs int
}

// MemoryUse is the memory that a job requested and the most that it used, in bytes; 0 if it is not known.
type MemoryUse struct{ Requested, Used int64 }

// Alternative is a request with which a job of a trace can run.
type Alternative struct {
	// Alternative has its name and its request. Its prediction is the run time that the user requested.
	scheduler.Alternative
	// RunTime is the true run time with it; negative where it is unknown.
	RunTime time.Duration
}

// AlternativesOf returns all ways in which job i can run; nil if it has only its request.
func (t *Trace) AlternativesOf(i int) []Alternative {
	if t.Alternatives == nil {
		return nil
	}
	return t.Alternatives[i]
}

// Timed reports whether the run time of job i is known.
func (t *Trace) Timed(i int) bool { return t.RunTimes != nil && t.RunTimes[i] >= 0 }

// WriteRest writes the properties of jobs that no column of their written form holds, for
// hashes: the units of their work, and their weights.
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

// Stream returns the stream of random numbers that belongs to a seed and a
// named path. Streams of different paths are independent, so the draws of
// one part never shift the draws of another.
func Stream(seed int64, path ...string) *rand.Rand { return rand.New(Source(seed, path...)) }

// Source returns the source of a Stream. Its copies draw the same numbers.
func Source(seed int64, path ...string) *rand.PCG {
	h := sha256.New()
	_ = binary.Write(h, binary.BigEndian, seed) // a hash does not fail
	for _, p := range path {
		_ = binary.Write(h, binary.BigEndian, int64(len(p)))
		h.Write([]byte(p))
	}
	sum := h.Sum(nil)
	return rand.NewPCG(binary.BigEndian.Uint64(sum), binary.BigEndian.Uint64(sum[8:]))
}

// MaxJobs is the greatest number of jobs in a list, and MaxName of bytes in a job's name: files are called after
// it.
const (
	MaxJobs = 10_000_000
	MaxName = 200
)

// MaxThreads keeps core numbers within 32 bits.
const MaxThreads = 1 << 30

// Keep returns the trace with only some of its jobs, which are renumbered,
// and their resizes. The trace itself stays as it is.
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
