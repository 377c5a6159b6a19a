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

// Workload is jobs with arrival times: from Submits, from a Trace, or both.
type Workload struct {
	Name    string
	Range   experiments.Range
	Submits []Submit
	Resizes []Update
	Trace   *Trace
	Parts   Parts `json:",omitempty"`
}

// Jobs returns how many jobs a cell of the workload has.
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
	// Budget is the job's budget unless the block sets one.
	Budget *time.Duration `json:",omitempty"`
	// LeftOut describes the lines that a lenient reader left out of a file of instants.
	LeftOut string
	Range   experiments.Range
	Parts   Parts `json:",omitempty"`
}

// Update changes the thread request of one job, of which Job has the class and the running number, while the cell runs.
//
// Changes the thread request while jobs train: as `resize`, and of all jobs of the workload unless `job` names
// one. Programs of jobs with a `budget` read in their control file the new allotment, whether it grew or shrank,
// and the remaining time. A change after the end of a job does nothing.
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

// Trace is a workload that was read from a file, in its final shape: the
// settings of the trace block are applied, and values missing in the file are
// filled in from job blocks.
type Trace struct {
	workload.Trace
	// File is absolute, and Shown its name in messages; Digest is the SHA-256 of its content, in hex.
	File   string
	Shown  string `json:"-"`
	Format TraceFormat
	Digest string
	// Settings are the block's other arguments, in the order of the schema.
	Settings []schema.Setting
	// Blocks are the job blocks that the jobs are made from, each once for every
	// number of threads that the file requests. Block has the index of each job's
	// own, or -1 for a job that the file alone describes.
	Blocks []TraceBlock
	Block  []int32
	// TooLarge counts the jobs that a lenient reader left out because no
	// hardware of their cells holds them; the first is in line LargeLine.
	TooLarge  int
	LargeLine int `json:",omitempty"`
	// LeftOut describes the lines that a lenient reader left out.
	LeftOut string `json:"-"`
	Range   experiments.Range
	Parts   Parts `json:",omitempty"`
}

// TraceFormat is the format of the file of a trace.
type TraceFormat interface {
	fmt.Stringer
	// WriteAll writes all that a trace says, for its digest.
	WriteAll(w io.Writer, t workload.Trace) error
}

// TraceBlock is a job block with the threads that a trace requests.
type TraceBlock struct {
	*Job
	// Timed is set if the file has the run times of the jobs: nothing else is
	// needed to simulate them.
	Timed bool
	// Chosen is set if the file has the alternatives of the jobs, with their run times.
	Chosen bool `json:",omitempty"`
}

// LeftOut lists the lines that lenient readers left out of the experiment's files.
func (s *Spec) LeftOut() []string {
	return s.told(func(w *Workload) (texts []string) {
		if w.Trace != nil {
			texts = append(texts, w.Trace.LeftOut)
		}
		for _, s := range w.Submits {
			texts = append(texts, s.LeftOut)
		}
		return texts
	})
}

// Assumed returns the assumptions where files of the experiment give no value, each once for several files.
func (s *Spec) Assumed() (texts []string) {
	files := map[string][]string{} // by assumption
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

// told lists the notes on the workloads of all cells, each text once.
func (s *Spec) told(of func(*Workload) []string) (texts []string) {
	for _, c := range s.Cells {
		for _, text := range of(c.Workload) {
			if text != "" && !slices.Contains(texts, text) {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

// Timed reports whether the file has the run time of a job.
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

// Resized returns the demand of the resized job after a resize.
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
