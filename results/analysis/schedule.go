// Schedule holds the resources of a cell's jobs over time, and their reasons for waiting, for pictures and
// pages that show schedules.

package analysis

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/ledger"
)

// Schedule is the course of one cell. Instants are seconds from the cell's start.
type Schedule struct {
	Jobs    []ScheduledJob
	Servers []ServerLife // that came and went; empty where all nodes are permanent
	Classes []string     // of the jobs, in their order; sizes, where there are many jobs of one class
	// Cores and GPUs are how many there are; of GPUs, only as many as were held by some job.
	Cores, GPUs int
	From, Until float64
}

// ScheduledJob is the course of one job.
type ScheduledJob struct {
	record.JobRow
	Held []Span
	// Resizes and Epochs are the instants of resizes, and of the ends of epochs.
	Resizes, Epochs []float64
	// Waits are the stretches in which it had arrived, was not over, and held nothing.
	Waits []Wait
	End   float64 // when it ended, or the trace did
}

// Span is a stretch of time in which a job holds the same cores and GPUs.
type Span struct {
	From, To    float64
	Cores, GPUs scheduler.CoreSet
	// Guest reports whether it shared the GPUs with another job when it began.
	Guest bool
	// Sample reports whether the job ran as a sample, whose progress was discarded.
	Sample bool
}

// Wait is a stretch of waiting.
type Wait struct {
	From, To float64
	// Why is the last reason why the scheduler passed the job over meanwhile; empty if it never did.
	Why string
	// Holders are the jobs that ran when it began, the first of them; Others is how many other jobs waited then.
	Holders []string
	Others  int
}

// ServerLife is the life of a server: from its request on; it was usable from Up, and ended at Down. An instant
// that did not occur is negative.
type ServerLife struct {
	Cores             scheduler.CoreSet
	Created, Up, Down float64
	Revoked           bool
}

// The most of a cell that can be shown.
const (
	// mostJobs is the number of jobs beyond which a Gantt chart is a gray mass, and takes long to draw.
	mostJobs = 5_000
	// mostSpans is the number of stretches of running, over all jobs, beyond which each is thinner than a line can be: a
	// quantum of a millisecond makes millions.
	mostSpans = 200_000
	// mostNamed is the number of jobs beyond which their names have no room.
	mostNamed = 40
	// mostHolders bounds the jobs that a wait names.
	mostHolders = 3
)

// Crowded returns the reason that a cell is too large to be shown; empty if it is not.
func Crowded(c record.Cell) string {
	jobs := measure.Jobs.CountOf(&c.Metrics)
	spans := jobs + measure.Preemptions.CountOf(&c.Metrics) + measure.Resizes.CountOf(&c.Metrics)
	switch {
	case jobs > mostJobs:
		return fmt.Sprintf("%d jobs cannot be told apart; at most %d are drawn", jobs, mostJobs)
	case spans > mostSpans:
		return fmt.Sprintf("%d stretches of running cannot be told apart; at most %d are drawn", spans, mostSpans)
	}
	return ""
}

// bySize turns the sizes of jobs into classes, if there are several. This distinguishes many jobs of one class.
func (s *Schedule) bySize(c record.Cell) {
	const by = "size"
	var sizes []string
	for _, g := range c.Groups {
		if g.By == by {
			sizes = append(sizes, g.Name)
		}
	}
	if len(sizes) < 2 {
		return
	}
	s.Classes = sizes
	for i := range s.Jobs {
		j := &s.Jobs[i].JobRow
		if j.Class = measure.GroupOf(by, j.Class, j.User, j.ThreadsRequested, j.GPUs); !slices.Contains(sizes, j.Class) {
			j.Class = measure.Others
		}
	}
}

// ReadSchedule reads the schedule of a cell; nil when the cell kept no events, or has too much in it (see Crowded).
// Servers are the rows of the whole experiment.
func ReadSchedule(e *record.Experiment, c record.Cell, servers []record.ServerRow) (*Schedule, error) {
	if Crowded(c) != "" {
		return nil, nil
	}
	rows, err := e.Jobs(c.CellRef)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(rows) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	s := &Schedule{Cores: c.Cores, Jobs: make([]ScheduledJob, len(rows)), From: math.Inf(1)}
	r := scheduleReader{Schedule: s, at: make(map[string]int, len(rows)), replay: ledger.New(len(rows))}
	for i, row := range rows {
		s.Jobs[i].JobRow = row
		r.at[row.Job] = i
		s.From = min(s.From, row.Arrival)
		s.Classes = union(s.Classes, []string{row.Class})
	}
	if len(s.Classes) == 1 && len(rows) > mostNamed {
		s.bySize(c)
	}
	s.From = min(0, s.From)
	r.servers(c, servers)
	for ev, err := range e.Events(c.CellRef) {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		r.event(ev)
	}
	r.close()
	progress, err := record.ReadLive(e, c.CellRef, record.Progress)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, p := range progress {
		if i, ok := r.at[p.Job]; ok && p.Epoch > 0 {
			s.Jobs[i].Epochs = append(s.Jobs[i].Epochs, p.At)
		}
	}
	return s, nil
}

// scheduleReader puts a schedule together from the events of its cell.
type scheduleReader struct {
	*Schedule
	at     map[string]int // numbers of jobs, by name
	replay *ledger.Ledger
	ran    []int // the jobs that run, in the order in which they began
	fresh  []int // the jobs that have begun to wait in the present instant
}

// servers adds the lives of the servers of a cell.
func (r *scheduleReader) servers(c record.Cell, rows []record.ServerRow) {
	for _, row := range rows {
		s := ServerLife{Created: row.Created, Up: row.Up, Down: row.Down, Revoked: row.Revoked > 0}
		if row.Cell != c.Cell || s.Cores.UnmarshalText([]byte(row.Cores)) != nil {
			continue
		}
		r.Servers = append(r.Servers, s)
		for _, span := range s.Cores { // including cores on which no job has run
			r.Cores = max(r.Cores, int(span.Hi))
		}
	}
}

// event takes the next event.
func (r *scheduleReader) event(e record.EventRow) {
	number, ok := r.at[e.Job]
	if !ok {
		return
	}
	if e.At > r.Until {
		r.look()
	}
	r.Until = max(r.Until, e.At)
	for _, s := range e.Cores {
		r.Cores = max(r.Cores, int(s.Hi))
	}
	for _, s := range e.GPUs {
		r.GPUs = max(r.GPUs, int(s.Hi))
	}
	j, state := &r.Jobs[number], r.replay.Job(number)
	waited := state.Waits()
	ev := e.Of(number)
	step := r.replay.Event(&ev)
	if step.Ended {
		j.close(e.At)
		j.Held[len(j.Held)-1].Sample = e.Event == scheduler.Profiled
		r.ran = slices.DeleteFunc(r.ran, func(n int) bool { return n == number })
	}
	if step.Began {
		j.Held = append(j.Held, Span{From: e.At, To: -1, Cores: e.Cores, GPUs: e.GPUs, Guest: e.SharesWith != ""})
		r.ran = append(r.ran, number)
	}
	if step.Ended && step.Began {
		j.Resizes = append(j.Resizes, e.At)
	}
	if state.Over() && j.End == 0 {
		j.End = e.At
	}
	switch {
	case waited && !state.Waits():
		j.Waits[len(j.Waits)-1].To = e.At
	case !waited && state.Waits():
		j.Waits = append(j.Waits, Wait{From: e.At, To: -1})
		r.fresh = append(r.fresh, number)
	}
}

// look notes who runs and who waits, for the waits that have begun in the instant that is over now.
func (r *scheduleReader) look() {
	waiting := r.replay.Counts().Waiting()
	for _, number := range r.fresh {
		w := &r.Jobs[number].Waits[len(r.Jobs[number].Waits)-1]
		if w.To >= 0 {
			continue // it was over at once
		}
		w.Others = waiting - 1
		for _, n := range r.ran[:min(len(r.ran), mostHolders)] {
			w.Holders = append(w.Holders, r.Jobs[n].JobRow.Job)
		}
	}
	r.fresh = r.fresh[:0]
}

// close ends the open spans at the end of the trace.
func (r *scheduleReader) close() {
	for i := range r.Jobs {
		j := &r.Jobs[i]
		j.close(r.Until)
		if n := len(j.Waits); n > 0 && j.Waits[n-1].To < 0 {
			j.Waits[n-1].To = r.Until
		}
		if j.End == 0 {
			j.End = r.Until
		}
	}
}

// close closes the present span of holding cores, if there is one.
func (j *ScheduledJob) close(at float64) {
	if n := len(j.Held); n > 0 && j.Held[n-1].To < 0 {
		j.Held[n-1].To = at
	}
}

// Explain fills in why jobs waited, from the decisions of the cell. Where these were not kept, no wait has a reason.
func (s *Schedule) Explain(e *record.Experiment, c record.CellRef) error {
	at := make(map[string]int, len(s.Jobs))
	for i, j := range s.Jobs {
		at[j.Job] = i
	}
	for d, err := range e.Decisions(c) {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		s.passed(d, at)
	}
	return nil
}

// passed takes the reasons of one decision. The numbers of jobs are by their names.
func (s *Schedule) passed(d record.DecisionRow, at map[string]int) {
	for _, p := range d.Passed {
		i, ok := at[p.Job]
		if !ok {
			continue
		}
		waits := s.Jobs[i].Waits
		k, found := slices.BinarySearchFunc(waits, d.At, func(w Wait, t float64) int {
			switch {
			case w.To <= t:
				return -1
			case w.From > t:
				return 1
			}
			return 0
		})
		if found {
			waits[k].Why = p.Reason
		}
	}
}
