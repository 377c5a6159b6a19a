// Package states reads and prints the state of experiments: running, finished and failed cells, and cells that have not
// run.
package states

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/tfexp/tfexp/cmd/tfexp/live"
	"github.com/tfexp/tfexp/cmd/tfexp/show"
	"github.com/tfexp/tfexp/pipeline/history"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
)

// lastEvents is the number of journal lines that are shown.
const lastEvents = 5

// State is an experiment in the output of status --json.
type State struct {
	Experiment string `json:"experiment"`
	Dir        string `json:"dir"`
	// State is running, finished, failed or interrupted. A killed run counts as interrupted.
	State    string `json:"state"`
	Holder   string `json:"holder,omitempty"` // the process that uses the folder
	Started  string `json:"started"`
	Ended    string `json:"ended,omitempty"`
	Cells    int    `json:"cells"`
	Finished int    `json:"finished"`
	Failed   int    `json:"failed"`
	Left     int    `json:"left"`
	// TimeLeft is the predicted remaining time of the cells in seconds, and LeftRange its range. Both are nil if
	// unknown.
	TimeLeft  *float64    `json:"time_left_s,omitempty"`
	LeftRange *[2]float64 `json:"time_left_range_s,omitempty"`
	// Running are the names of running samples and cells.
	Running []string `json:"running,omitempty"`
	// Standings are the states of running cells, except cells that have just started.
	Standings   []Standing           `json:"standings,omitempty"`
	FailedCells []failedCell         `json:"failed_cells,omitempty"`
	Thresholds  []analysis.Verdict   `json:"thresholds,omitempty"`
	Warnings    []record.Warning     `json:"warnings,omitempty"`
	Journal     []store.JournalEntry `json:"journal"`
}

// Standing is the progress of a running cell.
type Standing struct {
	Cell      string `json:"cell"`
	Simulated bool   `json:"simulated,omitempty"`
	record.CellProgress
}

// Follower sets TimeLeft and Standings in the states of experiments, from the reports of running cells. It may keep
// data between calls.
type Follower func([]State) error

var followers []func(dir string) Follower

// RegisterFollower registers a function that returns a follower for the experiments in a folder.
func RegisterFollower(f func(dir string) Follower) { followers = append(followers, f) }

// Followers returns the registered followers for the experiments in a folder.
func Followers(dir string) (list []Follower) {
	for _, f := range followers {
		list = append(list, f(dir))
	}
	return list
}

// failedCell describes why a cell failed.
type failedCell struct {
	Cell     string            `json:"cell"`
	Error    string            `json:"error,omitempty"` // an error of the whole cell, not of single jobs
	Failures []measure.Failure `json:"failures,omitempty"`
	// More is the number of failed jobs that are not in Failures.
	More int `json:"more,omitempty"`
}

// Of reads the state of the experiment in a folder.
func Of(dir string) (State, error) {
	e, err := record.Open(dir)
	if err != nil {
		return State{}, err
	}
	journal, err := history.ReadJournal(dir)
	if err != nil {
		return State{}, err
	}
	s := State{
		Experiment: e.Plan.Experiment, Dir: dir, State: e.Run.State,
		Started: e.Run.Started, Ended: e.Run.Ended,
		Cells: len(e.Cells) + len(e.Beyond) + len(e.Missing), Finished: len(e.Beyond), Warnings: e.Warnings(),
	}
	for _, c := range e.Cells {
		if c.State == record.CellFailed {
			s.Failed++
			s.FailedCells = append(s.FailedCells, failedCell{
				Cell: c.CellRef.Cell, Error: c.Error, Failures: c.Failures,
				More: max(0, measure.Failed.CountOf(&c.Metrics)-len(c.Failures)),
			})
		} else {
			s.Finished++
		}
	}
	s.Left = s.Cells - s.Finished - s.Failed
	if s.Left == 0 { // thresholds need the results of all cells
		if s.Thresholds, err = analysis.Thresholds(e); err != nil {
			return State{}, err
		}
	}
	holder, running := store.Holder(dir)
	switch {
	case running:
		s.State, s.Holder = "running", holder
		s.Running = underWay(journal)
	case s.State == "running" || !e.Run.Reported && s.State == "finished": // the run was killed
		s.State = "interrupted"
	}
	s.Journal = append([]store.JournalEntry{}, journal[max(0, len(journal)-lastEvents):]...)
	return s, nil
}

// underWay returns the cells that the last run in the journal has started but not ended.
func underWay(journal []store.JournalEntry) []string {
	var running []string
	for _, e := range journal {
		switch e.Event {
		case "run_start":
			running = nil
		case "cell_start":
			running = append(running, e.Unit)
		case "cell_end":
			running = slices.DeleteFunc(running, func(unit string) bool { return unit == e.Unit })
		}
	}
	return running
}

// Print prints the state of an experiment.
func (s *State) Print(p *show.Printer) {
	ink := table.Green
	switch s.State {
	case "failed":
		ink = table.Red
	case "interrupted", "running":
		ink = table.Yellow
	}
	fmt.Fprintf(p.Out, "%s: %s, %d of %s finished", p.Paint(table.Bold, s.Experiment),
		p.Paint(ink, s.State), s.Finished, show.Count(s.Cells, "cell", "cells"))
	if s.Failed > 0 {
		fmt.Fprintf(p.Out, ", %d failed", s.Failed)
	}
	if s.Left > 0 {
		fmt.Fprintf(p.Out, ", %d left", s.Left)
	}
	if s.TimeLeft != nil {
		fmt.Fprintf(p.Out, ", %s", live.TimeLeft(s.TimeLeft, s.LeftRange))
	}
	fmt.Fprintln(p.Out)
	if s.Holder != "" {
		fmt.Fprintf(p.Out, "  by %s\n", s.Holder)
	}
	for _, unit := range s.Running {
		fmt.Fprintf(p.Out, "  running: %s", unit)
		for i := range s.Standings {
			if at := &s.Standings[i]; at.Cell == unit {
				fmt.Fprintf(p.Out, ", %s", ProgressStanding(&at.CellProgress, at.Simulated))
			}
		}
		fmt.Fprintln(p.Out)
	}
	for _, c := range s.FailedCells {
		fmt.Fprintf(p.Out, "  failed: %s\n", c.Cell)
		if c.Error != "" {
			fmt.Fprintf(p.Out, "    %s\n", c.Error)
		}
		p.FailedJobs(c.Failures, c.More)
	}
	p.Thresholds(s.Thresholds, "  ")
	for _, d := range analysis.Doubts(s.Warnings, show.NamedCells) {
		fmt.Fprintf(p.Out, "  warning: %s\n", d)
	}
	for _, e := range s.Journal {
		fmt.Fprintf(p.Out, "  %s  %s\n", e.Time.Local().Format("15:04:05"), entry(e))
	}
	switch {
	case s.State == "interrupted", s.State == "finished" && s.Left > 0: // the files of cells are damaged or gone
		fmt.Fprintf(p.Out, "  resume with: tfexp resume %s\n", s.Dir)
	case s.State == "finished", s.State == "failed":
		fmt.Fprintf(p.Out, "  report: %s\n", filepath.Join(s.Dir, record.ReportFile))
	}
}

// events describes journal events for people, by event name: the subject, and the outcome for entries without a state.
// Unlisted events are printed unchanged.
var events = map[string][2]string{
	"run_start":      {"run", "started"},
	"run_end":        {"run", "ended"},
	"stage_end":      {"stage", "ended"},
	"cell_start":     {"cell", "started"},
	"cell_end":       {"cell", "ended"},
	"cell_simulated": {"simulation of", "ended"},
	"cell_removed":   {"cell", "removed"},
	"cell_restored":  {"cell", "restored"},
}

// RegisterEvent sets the subject and the outcome of a journal event.
func RegisterEvent(name, subject, outcome string) { events[name] = [2]string{subject, outcome} }

// entry formats a line of the journal for people.
func entry(e store.JournalEntry) string {
	about, became := e.Event, ""
	if words, ok := events[e.Event]; ok {
		about, became = words[0], words[1]
	}
	if e.State != "" && e.Event != "warning" { // the state of a warning is the code of its text
		became = e.State
	}
	text := about
	for _, part := range []string{e.Unit, became} {
		if part != "" {
			text += " " + part
		}
	}
	if e.Seconds > 0 {
		text += " in " + live.Duration(time.Duration(e.Seconds*float64(time.Second)))
	}
	if e.Text != "" {
		text += ": " + e.Text
	}
	return text
}

// RunningFirst sorts running experiments before the others; otherwise the order stays.
func RunningFirst(all []State) {
	running, rest := []State{}, []State{}
	for _, s := range all {
		if s.Holder != "" {
			running = append(running, s)
		} else {
			rest = append(rest, s)
		}
	}
	copy(all, append(running, rest...))
}
