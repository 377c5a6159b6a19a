package cells

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/tfexp/tfexp/cmd/tfexp/show"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
)

// historyEntry is an event of a job or a decision about it.
type historyEntry struct {
	At float64 `json:"t_s"`
	// Until is the end of a wait, in seconds from the cell's start.
	Until float64 `json:"until_s,omitempty"`
	What  string  `json:"what"` // "started on cores 0-1", "passed over"
	Why   string  `json:"why,omitempty"`
	// Passed are the jobs that the policy ranked before this job and that were passed over.
	Passed []record.PassedRow `json:"passed,omitempty"`
	More   int                `json:"passed_more,omitempty"`
	// Times counts the decisions in a row that passed over the job for the same reason, numbers in the reason apart.
	// For names the jobs that started instead.
	Times int      `json:"times,omitempty"`
	For   []string `json:"for,omitempty"`

	lacks []shortage // the smallest and the largest shortage over these Times
}

// jobHistory returns the decisions about a job and its events, in the order of time. jobs are the names of all jobs of
// the cell, for suggestions. The error wraps fs.ErrNotExist when the cell has no records.
func jobHistory(e *record.Experiment, c record.CellRef, job string) (story []historyEntry, jobs []string, err error) {
	began, ended, wait, err := jobEvents(e, c, job)
	if err != nil {
		return nil, nil, fmt.Errorf("read events: %w", err)
	}
	if story, err = jobDecisions(e, c, job); err != nil {
		return nil, nil, fmt.Errorf("read decisions: %w", err)
	}
	for i := range story {
		if m := &story[i]; m.Times == 0 && len(wait.gpus[m.At]) > 0 && strings.Contains(m.What, " on cores ") {
			m.What += " and GPUs " + wait.gpus[m.At].String()
		}
	}
	// Within one instant, arrivals come before decisions, and ends after them.
	story = slices.Concat(began, addWaits(story, wait.waits), ended)
	slices.SortStableFunc(story, func(a, b historyEntry) int { return cmp.Compare(a.At, b.At) })
	return story, wait.names, nil
}

// eventTexts describes events in a history. Events that follow from decisions, such as starts, are not in it.
var eventTexts = map[scheduler.EventKind]struct {
	what string
	end  bool // sorted after the decisions of the same instant
}{
	scheduler.Arrive:      {"arrived", false},
	scheduler.Request:     {"the workload changed its request", false},
	scheduler.Predict:     {"its prediction changed", false},
	scheduler.Retry:       {"failed, and waits to be started again", false},
	scheduler.Decided:     {"its controller decided", false},
	scheduler.Reconfigure: {"its request or settings changed, and it waits to be started", false},
	scheduler.Revoke:      {"lost its server, and waits to be started again", false},
	scheduler.Profiled:    {"ran as a sample, and waits to be started", false},
	scheduler.Move:        {"left its servers for others, and waits to be started again", false},
	scheduler.Finish:      {"finished", true},
	scheduler.Fail:        {"failed", true},
	scheduler.Stop:        {"was stopped", true},
}

// jobEvents returns the events and the waits of a job. ended has the events that come after the decisions of the same
// instant.
func jobEvents(e *record.Experiment, c record.CellRef, job string) (began, ended []historyEntry, wait *waitTracker,
	err error) {
	wait = newWaitTracker(job, c)
	for ev, err := range e.Events(c) {
		if err != nil {
			return nil, nil, nil, err
		}
		wait.event(ev)
		h, ok := eventTexts[ev.Event]
		if ev.Job != job || !ok {
			continue
		}
		m := historyEntry{At: ev.At, What: h.what, Why: ev.Reason}
		if h.end {
			ended = append(ended, m)
		} else {
			began = append(began, m)
		}
	}
	return began, ended, wait, nil
}

// jobDecisions returns the decisions about a job, including decisions that passed it over. Consecutive decisions with
// the same reason become one entry.
func jobDecisions(e *record.Experiment, c record.CellRef, job string) ([]historyEntry, error) {
	var story []historyEntry
	for d, err := range e.Decisions(c) {
		if err != nil {
			return nil, err
		}
		if d.Job == job {
			story = append(story, historyEntry{At: d.At, What: decisionText(d), Why: d.Reason, Passed: d.Passed,
				More: d.PassedMore})
			continue
		}
		for _, p := range d.Passed {
			if p.Job == job && !mergeRepeat(story, d, p) {
				story = append(story, historyEntry{At: d.At, What: "passed over", Why: p.Reason, Times: 1, For: []string{d.Job},
					lacks: shortagesOf(p)})
			}
		}
	}
	return story, nil
}

// mergeRepeat adds a decision that passed over the job to the last entry, if the reason is the same apart from numbers.
// It reports whether it did.
func mergeRepeat(story []historyEntry, d record.DecisionRow, p record.PassedRow) bool {
	last := len(story) - 1
	if last < 0 || story[last].Times == 0 {
		return false
	}
	m := &story[last]
	switch {
	case len(p.Lacks)+len(m.lacks) == 0 && m.Why == p.Reason:
	case mergeShortages(m.lacks, shortagesOf(p)):
		m.Why = shortageText(m.lacks)
	default:
		return false
	}
	m.Times++
	m.For = schema.AddOnce(m.For, d.Job)
	return true
}

// decisionText describes a decision: "started on cores 0-1".
func decisionText(d record.DecisionRow) string {
	switch d.Decision {
	case scheduler.Start:
		return "started on cores " + d.Cores.String()
	case scheduler.Resume:
		return "resumed on cores " + d.Cores.String()
	case scheduler.ResizeJob:
		return "resized to cores " + d.Cores.String()
	case scheduler.Pause:
		return "paused"
	}
	return string(d.Decision)
}

// clock formats instants of a cell. Its value is the Unix time of the cell's start in seconds: instants are then dates.
// Where it is 0, instants are seconds from the start.
type clock float64

func (c clock) at(seconds float64) string {
	if c == 0 {
		return fmt.Sprintf("%.3f s", seconds)
	}
	whole, part := math.Modf(float64(c) + seconds)
	return time.Unix(int64(whole), int64(part*1e9)).UTC().Round(time.Second).Format("2006-01-02 15:04:05")
}

// instant matches an instant in the reason of a decision, written as time since the cell's start.
var instant = regexp.MustCompile(`\b(at|until) ((?:[0-9]+h)?(?:[0-9]+m)?[0-9.]+(?:s|ms|µs))\b`)

// reason returns the reason of a decision, with its instants formatted by the clock.
func (c clock) reason(text string) string {
	return instant.ReplaceAllStringFunc(text, func(found string) string {
		word, span, _ := strings.Cut(found, " ")
		d, err := time.ParseDuration(span)
		if err != nil {
			return found
		}
		return word + " " + c.at(d.Seconds())
	})
}

// printHistory prints a history, with instants formatted by the clock.
func printHistory(p *show.Printer, story []historyEntry, c clock) {
	for _, m := range story {
		line := fmt.Sprintf("%12s  %s", c.at(m.At), m.What)
		if m.Times > 1 {
			line += fmt.Sprintf(" %d times", m.Times)
		}
		if len(m.For) > 0 {
			line += " for " + jobList(m.For)
		}
		if m.Until > m.At {
			line += ", until " + c.at(m.Until)
		}
		if m.Why != "" {
			line += ": " + c.reason(m.Why)
		}
		fmt.Fprintln(p.Out, line)
		for _, before := range m.Passed {
			fmt.Fprintf(p.Out, "%12s  %s was ahead of it and was passed over: %s\n", "", before.Job, c.reason(before.Reason))
		}
		if m.More > 0 {
			fmt.Fprintf(p.Out, "%12s  %d more jobs ahead of it were passed over\n", "", m.More)
		}
	}
}
