package cells

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/cmd/tfexp/show"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/ledger"
)

// waitTracker reads a cell's events and records the intervals in which one job waited.
type waitTracker struct {
	job     string
	total   [2]int // cores and GPUs of the cell
	at      float64
	jobs    *ledger.Ledger
	names   []string // by job number, in the order of arrival
	numbers map[string]int
	running []int // job numbers, in the order in which they started to run

	waits []waitInterval
	open  bool // the last interval of waits has not ended
	// gpus are the GPUs with which the job started or resumed, by the instant in seconds.
	gpus map[float64]scheduler.CoreSet
}

// waitInterval is an interval in which the job waited. It has the resources that other jobs held and the number of
// other waiting jobs.
type waitInterval struct {
	from, until       float64
	held, gpus, queue [2]int // least and most; held counts cores
	holders           []string
	got, gotGPUs      int  // cores and GPUs that the job got at the end
	seen              bool // whether held, gpus and queue are known
	total             [2]int
}

func newWaitTracker(job string, c record.CellRef) *waitTracker {
	return &waitTracker{job: job, total: [2]int{c.Cores, c.GPUs}, jobs: ledger.New(0), numbers: map[string]int{}, gpus: map[float64]scheduler.CoreSet{}}
}

// number returns the number of a job, and adds the job if it is new.
func (w *waitTracker) number(job string) int {
	n, ok := w.numbers[job]
	if !ok {
		n = w.jobs.Add()
		w.numbers[job], w.names = n, append(w.names, job)
	}
	return n
}

// event processes the next event of the cell.
func (w *waitTracker) event(e record.EventRow) {
	if e.Event.OfNode() {
		return
	}
	if e.At > w.at && w.open {
		w.observe(e.At)
	}
	w.at = e.At
	number := w.number(e.Job)
	ev := e.Of(number)
	j := w.jobs.Job(number)
	ran := j.Runs()
	w.jobs.Event(&ev)
	switch {
	case !ran && j.Runs():
		w.running = append(w.running, number)
	case ran && !j.Runs():
		i := slices.Index(w.running, number)
		w.running = slices.Delete(w.running, i, i+1)
	}
	if e.Job != w.job {
		return
	}
	if !ran && j.Runs() {
		w.gpus[e.At] = e.GPUs
	}
	switch {
	case j.Waits() && !w.open:
		w.waits = append(w.waits, waitInterval{from: e.At, until: e.At, total: w.total})
		w.open = true
	case !j.Waits() && w.open:
		last := &w.waits[len(w.waits)-1]
		last.got, last.gotGPUs = int(j.Cores), int(j.GPUs)
		w.open = false
	}
}

// observe extends the current wait to the instant at.
func (w *waitTracker) observe(at float64) {
	s := &w.waits[len(w.waits)-1]
	s.until = at
	others := w.jobs.Counts().Waiting() - 1
	held, gpus := w.jobs.Held()
	if !s.seen {
		s.seen, s.held, s.gpus, s.queue = true, [2]int{held, held}, [2]int{gpus, gpus}, [2]int{others, others}
		for _, number := range w.running {
			s.holders = append(s.holders, w.names[number])
		}
	}
	s.held = [2]int{min(s.held[0], held), max(s.held[1], held)}
	s.gpus = [2]int{min(s.gpus[0], gpus), max(s.gpus[1], gpus)}
	s.queue = [2]int{min(s.queue[0], others), max(s.queue[1], others)}
}

// maxNames is the largest number of jobs that a line names.
const maxNames = 3

// jobList lists jobs: "long-1, long-2 and 3 more".
func jobList(jobs []string) string {
	if more := len(jobs) - maxNames; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(jobs[:maxNames], ", "), more)
	}
	return strings.Join(jobs, ", ")
}

// String describes the interval: "for 2 cores, while others held 4 of 4, first long-1; 0–2 other jobs waited". For a
// job with GPUs it describes the GPUs, unless they were always free and the cores were not.
func (s waitInterval) String() string {
	text, held, got, total, one, several := "while others held none", s.held, s.got, s.total[0], "core", "cores"
	if gpusFree := s.gpus[1]+s.gotGPUs <= s.total[1]; s.gotGPUs > 0 && !(gpusFree && s.held[1]+s.got > s.total[0]) {
		held, got, total, one, several = s.gpus, s.gotGPUs, s.total[1], "GPU", "GPUs"
	}
	if held[1] > 0 {
		text = "while others held " + fromTo(held)
		if total > 0 {
			text += fmt.Sprintf(" of %d", total)
		}
	}
	if len(s.holders) > 0 {
		text += ", first " + jobList(s.holders)
	}
	if got > 0 {
		text = "for " + show.Count(got, one, several) + ", " + text
	}
	if got > 0 && total > 0 && held[0]+got <= total {
		text += "; at times enough were free, but other jobs came first, or there was no room on one node"
	}
	switch s.queue {
	case [2]int{0, 0}:
		return text + "; no other job waited"
	case [2]int{1, 1}:
		return text + "; 1 other job waited"
	}
	return text + "; " + fromTo(s.queue) + " other jobs waited"
}

// fromTo writes a range: "3", or "3–5".
func fromTo(n [2]int) string {
	if n[0] == n[1] {
		return strconv.Itoa(n[0])
	}
	return fmt.Sprintf("%d–%d", n[0], n[1])
}

// addWaits adds the waits to the decisions. A job that was passed over waits for the decision's reason until the next
// entry. A wait without such a decision is described by its interval.
func addWaits(story []historyEntry, waits []waitInterval) []historyEntry {
	for i := range story {
		if story[i].Times == 0 {
			continue
		}
		for _, s := range waits {
			if s.from <= story[i].At && story[i].At < s.until {
				story[i].Until = s.until
				break
			}
		}
		if i+1 < len(story) && story[i+1].Times > 0 && story[i].Until > 0 {
			story[i].Until = min(story[i].Until, story[i+1].At)
		}
	}
	for _, s := range waits {
		until := s.until
		for _, m := range story {
			if m.Times > 0 && m.At >= s.from && m.At < until {
				until = m.At
			}
		}
		if s.seen && until > s.from {
			story = append(story, historyEntry{At: s.from, Until: until, What: "waited", Why: s.String()})
		}
	}
	return story
}
