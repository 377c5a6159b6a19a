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

// historyEntry is something that happened to a job, or was decided about it.
type historyEntry struct {
	At float64 `json:"t_s"`
	// Until is the end of a time of waiting.
	Until float64 `json:"until_s,omitempty"`
	What  string  `json:"what"` // "started on cores 0-1", "passed over"
	Why   string  `json:"why,omitempty"`
	// Passed are the jobs before it in the policy's order that were passed over.
	Passed []record.PassedRow `json:"passed,omitempty"`
	More   int                `json:"passed_more,omitempty"`
	// Times counts how often the job was passed over in a row, for reasons that
	// differ in numbers only, and For names the jobs that went ahead.
	Times int      `json:"times,omitempty"`
	For   []string `json:"for,omitempty"`

	lacks []shortage // over all these times
}

// jobHistory returns the decisions about a job with their reasons, in the order of
// time. The jobs of the cell are returned for suggestions. The error wraps
// fs.ErrNotExist when the cell has no records.
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
	// The order within one instant: arrivals come before decisions, ends after.
	story = slices.Concat(began, addWaits(story, wait.waits), ended)
	slices.SortStableFunc(story, func(a, b historyEntry) int { return cmp.Compare(a.At, b.At) })
	return story, wait.names, nil
}

// eventTexts describes the events that a history has, except those that follow from
// decisions.
var eventTexts = map[scheduler.EventKind]struct {
	what string
	end  bool // comes after the decisions of its instant
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

// jobEvents returns the events of a job, and its waits. Events that come after
// the decisions of their instant are in ended.
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

// jobDecisions returns the decisions about a job, with the ones that passed it
// over: successive ones for the same reason are one entry.
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

// mergeRepeat adds a decision in which the job was passed over to the last entry, and
// reports whether the reason is the same except for the amounts needed and free.
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

// decisionText is "started on cores 0-1".
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

// clock writes the instants of a cell: as dates, if the instant from which its times count is known (in seconds since
// the beginning of 1970), else in seconds.
type clock float64

func (c clock) at(seconds float64) string {
	if c == 0 {
		return fmt.Sprintf("%.3f s", seconds)
	}
	whole, part := math.Modf(float64(c) + seconds)
	return time.Unix(int64(whole), int64(part*1e9)).UTC().Round(time.Second).Format("2006-01-02 15:04:05")
}

// instant matches an instant in the reason of a decision, as the time since the beginning of the cell.
var instant = regexp.MustCompile(`\b(at|until) ((?:[0-9]+h)?(?:[0-9]+m)?[0-9.]+(?:s|ms|µs))\b`)

// reason is the reason of a decision, with its instants as the other ones are written.
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

// printHistory prints the decisions about a job, with their instants by a clock.
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
