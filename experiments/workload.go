package experiments

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/words"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/workload"
	"github.com/tfexp/tfexp/scheduler/workload/formats"
)

// Workload is jobs with arrival times: those of Submits, those of a Trace, or
// both.
type Workload struct {
	Name    string
	Range   Range
	Submits []Submit
	Resizes []Update
	Trace   *Trace
}

// Submit is a batch of like jobs.
type Submit struct {
	Job      *Job
	Count    int
	Arrivals workload.Arrivals
	// Priority overrides the job's when HasPriority.
	Priority    int
	HasPriority bool
	// Deadline is relative to each arrival; 0 means none.
	Deadline time.Duration
	User     string
	// Budget is that of the job unless the block has its own.
	Budget *time.Duration `json:",omitempty"`
	// LeftOut says what a lenient reader left out of a file of instants.
	LeftOut string
	Range   Range
}

// Update changes the thread request of one job while the cell runs.
type Update struct {
	At      time.Duration
	Job     string // class and running number, "long-1"
	Threads int
	Range   Range
}

// LineErrors finds all errors of lines within an error.
func LineErrors(err error) []*workload.LineError {
	if at, ok := err.(*workload.LineError); ok {
		return []*workload.LineError{at}
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		return LineErrors(e.Unwrap())
	case interface{ Unwrap() []error }:
		var all []*workload.LineError
		for _, one := range e.Unwrap() {
			all = append(all, LineErrors(one)...)
		}
		return all
	}
	return nil
}

// Malformed counts lines that were left out, and tells of the first. It names
// no folder: the text is the same wherever the file is.
func Malformed(skipped []error) string {
	text := words.Plural(len(skipped), "malformed line")
	if lines := LineErrors(skipped[0]); len(lines) > 0 {
		text += fmt.Sprintf(" (the first is line %d: %v)", lines[0].Line, lines[0].Err)
	}
	return text
}

// Trace is a workload that was read from a file, in its final shape: all that
// the trace block says is applied, and all that the file lacks is filled in
// from job blocks.
type Trace struct {
	workload.Trace
	// File is absolute; Digest is the SHA-256 of its content, in hex.
	File   string
	Format *formats.Format
	Digest string
	// Settings are the block's other arguments, in the order of the schema.
	Settings []Setting
	// Blocks are the job blocks that the jobs are made from, each once for every
	// number of threads that the file requests. Block has the index of each job's
	// own, or -1 for a job that the file alone describes.
	Blocks []TraceBlock
	Block  []int32
	// TooLarge counts the jobs that a lenient reader left out because no
	// hardware of their cells holds them.
	TooLarge int
	Range    Range
}

// TraceBlock is a job block with the threads that a trace requests.
type TraceBlock struct {
	*Job
	// Timed is set if the file has the run times of the jobs: nothing else is
	// needed to simulate them.
	Timed bool
}

// LeftOut says what a lenient reader left out; empty if nothing.
func (t *Trace) LeftOut() string {
	var parts []string
	if len(t.Skipped) > 0 {
		parts = append(parts, Malformed(t.Skipped))
	}
	if t.TooLarge > 0 {
		parts = append(parts, words.Plural(t.TooLarge, "job")+" larger than the hardware")
	}
	if parts == nil {
		return ""
	}
	return fmt.Sprintf("%s has %s, left out", filepath.Base(t.File), strings.Join(parts, " and "))
}

// LeaveOut removes jobs by their number.
func (t *Trace) LeaveOut(jobs map[int]bool) {
	kept := t.Keep(func(i int) bool { return !jobs[i] })
	i := -1
	t.Block = slices.DeleteFunc(t.Block, func(int32) bool { i++; return jobs[i] })
	t.Trace = kept
	t.TooLarge += len(jobs)
}

// Timed reports whether the file has the run time of a job.
func (t *Trace) Timed(i int) bool { return t.RunTimes != nil && t.RunTimes[i] >= 0 }

// JobBlocks returns the job blocks that the workload's jobs are made from.
func (w *Workload) JobBlocks() []*Job {
	var jobs []*Job
	for _, s := range w.Submits {
		jobs = append(jobs, s.Job)
	}
	if w.Trace != nil {
		for _, k := range w.Trace.Blocks {
			jobs = append(jobs, k.Job)
		}
	}
	return jobs
}

// Sampled reports whether run times of its jobs come from samples: the file
// does not give them.
func (w *Workload) Sampled() bool {
	for _, s := range w.Submits {
		if s.Job.Runtime == nil {
			return true
		}
	}
	if w.Trace == nil {
		return false
	}
	return slices.ContainsFunc(w.Trace.Blocks, func(k TraceBlock) bool { return !k.Timed && k.Runtime == nil })
}

// Resized returns what the job that a resize names asks for after it.
func (w *Workload) Resized(u Update) scheduler.Demand {
	if w.Trace != nil {
		for i := range w.Trace.Jobs {
			if j := &w.Trace.Jobs[i]; j.Name == u.Job {
				d := j.Demand()
				d.Threads = u.Threads
				return d
			}
		}
	}
	for _, s := range w.Submits {
		if number, ok := strings.CutPrefix(u.Job, s.Job.Name+"-"); ok {
			if _, err := strconv.Atoi(number); err == nil {
				d := s.Job.Demand()
				d.Threads = u.Threads
				return d
			}
		}
	}
	return scheduler.Demand{Threads: u.Threads, Nodes: 1}
}
