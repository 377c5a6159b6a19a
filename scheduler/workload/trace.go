package workload

import (
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

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
	// Ignored counts the lines that stand for no job of their own.
	Ignored int
	// Assumed is what the reader assumed where the file says nothing, in phrases.
	Assumed []string `json:",omitempty"`
	// Skipped are the malformed lines that a lenient reader left out.
	Skipped []error
}

// Alternative is a request with which a job of a trace can run.
type Alternative struct {
	// Alternative has its name and what it asks for. Its prediction is the run time that the user requested.
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
