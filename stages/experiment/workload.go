package experiment

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler/cluster"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// Workload is jobs with arrival times: from submit blocks, from a trace, or from both.
type Workload struct {
	Name    string
	Range   experiments.Range
	Submits []Submit
	Resizes []Update
	Trace   *Trace
	Parts   Parts `json:",omitempty"`
}

// Jobs returns the number of jobs in a cell with the workload.
func (w *Workload) Jobs() int {
	jobs := 0
	for _, s := range w.Submits {
		jobs += s.Count
	}
	if w.Trace != nil {
		jobs += len(w.Trace.Jobs)
	}
	return jobs
}

// Submit is a number of jobs of one job block, with their arrivals.
type Submit struct {
	Job      *Job
	Count    int
	Arrivals workload.Arrivals
	// Priority replaces the job's priority if HasPriority is set.
	Priority    int
	HasPriority bool
	// Deadline is the time from a job's arrival to its deadline; 0 means no deadline.
	Deadline time.Duration
	User     string
	// Budget is the job's budget, or the submit block's own if it sets one.
	Budget *time.Duration `json:",omitempty"`
	// LeftOut describes the lines that a lenient reader skipped in a file of arrival times.
	LeftOut string
	Range   experiments.Range
	Parts   Parts `json:",omitempty"`
}

// Update changes the thread request of one job while the cell runs. Job has the job's class and running number.
//
// Changes the thread request of all jobs of the workload, or of the job that `job` names. Programs of jobs with a
// `budget` read in their control file the new allotment, whether it grew or shrank, and the remaining time. A change
// after the end of a job does nothing.
//
//	job "net" {
//	  command = ["python3", "train.py"]
//	  budget    = "400s"
//	  threads   = 1
//	  malleable = true
//	}
//
//	workload "grows" {
//	  submit { job = job.net }
//	  changes {
//	    at      = "70s"
//	    threads = 2
//	  }
//	}
type Update struct {
	// The time of the change since the start of the cell.
	//
	//	at = "70s"
	At time.Duration `arg:"at,required"`
	// The new request.
	//
	//	threads = 2
	Threads int `arg:"threads,required" min:"1" max:"threads"`
	// The name of the job, such as `long-1`.
	//
	// Default: all jobs of the workload.
	//
	//	job = "long-1"
	Job   string `arg:"job"`
	Range experiments.Range
}

// Trace is a workload that was read from a file, ready to run: the settings of the trace block are applied, and values
// missing in the file are taken from job blocks.
type Trace struct {
	workload.Trace
	// File is the absolute path, and Shown the path in messages. Digest is the SHA-256 of the content, in hex.
	File   string
	Shown  string `json:"-"`
	Format TraceFormat
	Digest string
	// Settings are the other arguments of the trace block, in the order of the schema.
	Settings []schema.Setting
	// Blocks are the job blocks that describe the jobs: one entry for each number of threads that the file requests.
	// Block has for each job the index of its entry in Blocks, or -1 if the file alone describes the job.
	Blocks []TraceBlock
	Block  []int32
	// TooLarge counts the jobs that a lenient reader skipped because no hardware of their cells has room for them. The
	// first is in line LargeLine.
	TooLarge  int
	LargeLine int `json:",omitempty"`
	// LeftOut describes the lines that a lenient reader skipped.
	LeftOut string `json:"-"`
	Range   experiments.Range
	Parts   Parts `json:",omitempty"`
}

// TraceFormat is the file format of a trace.
type TraceFormat interface {
	fmt.Stringer
	// WriteAll writes every value of a trace that was read; the trace's digest is computed from it.
	WriteAll(w io.Writer, t workload.Trace) error
}

// TraceBlock is a job block with the number of threads that a trace requests.
type TraceBlock struct {
	*Job
	// Timed is set if the file gives the run times of the jobs, so that a simulation needs no samples.
	Timed bool
	// Chosen is set if the file gives the alternatives of the jobs, with their run times.
	Chosen bool `json:",omitempty"`
}

// LeftOut describes the lines that lenient readers skipped in the experiment's files.
func (s *Spec) LeftOut() []string {
	return s.notes(func(w *Workload) (texts []string) {
		if w.Trace != nil {
			texts = append(texts, w.Trace.LeftOut)
		}
		for _, s := range w.Submits {
			texts = append(texts, s.LeftOut)
		}
		return texts
	})
}

// Assumed returns the assumptions that replace values missing in the experiment's files. Each assumption appears once,
// with all its files.
func (s *Spec) Assumed() (texts []string) {
	files := map[string][]string{} // file names by assumption
	var order []string
	for _, c := range s.Cells {
		t := c.Workload.Trace
		if t == nil || len(t.Assumed) == 0 {
			continue
		}
		said, file := strings.Join(t.Assumed, "; "), filepath.Base(t.File)
		if files[said] == nil {
			order = append(order, said)
		}
		if !slices.Contains(files[said], file) {
			files[said] = append(files[said], file)
		}
	}
	for _, said := range order {
		list := files[said]
		named := list[0]
		if len(list) > 1 {
			named = fmt.Sprintf("%s and %s", named, schema.Plural(len(list)-1, "more file"))
		}
		texts = append(texts, named+": "+said)
	}
	return texts
}

// notes returns the notes on the workloads of all cells. Each text appears once.
func (s *Spec) notes(of func(*Workload) []string) (texts []string) {
	for _, c := range s.Cells {
		for _, text := range of(c.Workload) {
			if text != "" && !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

// Timed reports whether the file gives the run time of job i.
func (t *Trace) Timed(i int) bool { return t.RunTimes != nil && t.RunTimes[i] >= 0 }

// JobBlocks returns the job blocks that the workload's jobs are made from.
func (w *Workload) JobBlocks() []*Job {
	jobs := schema.Each(w.Submits, func(s Submit) *Job { return s.Job })
	if w.Trace != nil {
		for _, k := range w.Trace.Blocks {
			jobs = append(jobs, k.Job)
		}
	}
	return jobs
}

// Sampled reports whether the run times of some jobs must come from samples, since no file gives them.
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

// Resized returns the demand of the updated job after the update.
func (w *Workload) Resized(u Update) cluster.Demand {
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
	return cluster.Demand{Threads: u.Threads, Nodes: 1}
}
