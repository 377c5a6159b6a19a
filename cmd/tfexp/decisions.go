package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
)

// moment is something that happened to a job, or was decided about it.
type moment struct {
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
}

// storyOf returns what was decided about a job, and why, in the order of time.
// It returns the jobs that the cell knows, for suggestions.
func storyOf(e *record.Experiment, c record.CellRef, job string) (story []moment, jobs []string, err error) {
	var began, ended []moment
	wait := newWatch(job)
	for ev, err := range e.Events(c) {
		if err != nil {
			return nil, nil, fmt.Errorf("read events: %w", noRecords(err, c))
		}
		wait.event(ev)
		if ev.Job != job {
			continue
		}
		m := moment{At: ev.At, Why: ev.Reason}
		switch ev.Event {
		case scheduler.Arrive:
			m.What = "arrived"
			began = append(began, m)
		case scheduler.Request:
			m.What = "the workload changed its request"
			began = append(began, m)
		case scheduler.Predict:
			m.What = "its prediction changed"
			began = append(began, m)
		case scheduler.Retry:
			m.What = "failed, and waits to be started again"
			began = append(began, m)
		case scheduler.Finish:
			m.What = "finished"
			ended = append(ended, m)
		case scheduler.Fail:
			m.What = "failed"
			ended = append(ended, m)
		case scheduler.Stop:
			m.What = "was stopped"
			ended = append(ended, m)
		}
	}
	for d, err := range e.Decisions(c) {
		if err != nil {
			return nil, nil, fmt.Errorf("read decisions: %w", noRecords(err, c))
		}
		if d.Job == job {
			story = append(story, moment{At: d.At, What: decided(d), Why: d.Reason, Passed: d.Passed, More: d.PassedMore})
			continue
		}
		for _, p := range d.Passed {
			if p.Job != job {
				continue
			}
			if last := len(story) - 1; last >= 0 && story[last].Times > 0 {
				if why, ok := alike(story[last].Why, p.Reason); ok {
					m := &story[last]
					m.Why, m.Times = why, m.Times+1
					if !slices.Contains(m.For, d.Job) {
						m.For = append(m.For, d.Job)
					}
					continue
				}
			}
			story = append(story, moment{At: d.At, What: "passed over", Why: p.Reason, Times: 1, For: []string{d.Job}})
		}
	}
	// What happens in one instant: arrivals come before decisions, ends after.
	story = slices.Concat(began, intervals(story, wait.waits), ended)
	slices.SortStableFunc(story, func(a, b moment) int { return cmp.Compare(a.At, b.At) })
	return story, wait.names, nil
}

// noRecords is the error for a cell without records.
func noRecords(err error, c record.CellRef) error {
	if errors.Is(err, fs.ErrNotExist) {
		return usagef(`decisions are not recorded when the experiment has records = "metrics"`,
			"cell %s has no record of its decisions", c.Cell)
	}
	return err
}

// decided is "started on cores 0-1".
func decided(d record.DecisionRow) string {
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

func (a *app) printStory(story []moment) {
	for _, m := range story {
		line := fmt.Sprintf("%10.3f s  %s", m.At, m.What)
		if m.Times > 1 {
			line += fmt.Sprintf(" %d times", m.Times)
		}
		if len(m.For) > 0 {
			line += " for " + named(m.For)
		}
		if m.Until > m.At {
			line += fmt.Sprintf(", until %.3f s", m.Until)
		}
		if m.Why != "" {
			line += ": " + m.Why
		}
		fmt.Fprintln(a.out, line)
		for _, p := range m.Passed {
			fmt.Fprintf(a.out, "%12s  before it %s was passed over: %s\n", "", p.Job, p.Reason)
		}
		if m.More > 0 {
			fmt.Fprintf(a.out, "%12s  and so were %d more\n", "", m.More)
		}
	}
}
