package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/tfexp/tfexp/cmd/tfexp/progress"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/prose"
	"github.com/tfexp/tfexp/results/record"
)

// lastEvents is how many lines of the journal are shown.
const lastEvents = 5

// experimentStatus is an entry of status --json.
type experimentStatus struct {
	Experiment string `json:"experiment"`
	Dir        string `json:"dir"`
	// State is running, finished, failed or interrupted (also when tfexp was killed).
	State    string `json:"state"`
	Holder   string `json:"holder,omitempty"` // the process that works in the folder
	Started  string `json:"started"`
	Ended    string `json:"ended,omitempty"`
	Cells    int    `json:"cells"`
	Finished int    `json:"finished"`
	Failed   int    `json:"failed"`
	Left     int    `json:"left"`
	// Running are the samples and cells that are running.
	Running     []string             `json:"running,omitempty"`
	FailedCells []failedCell         `json:"failed_cells,omitempty"`
	Thresholds  []prose.Verdict      `json:"thresholds,omitempty"`
	Warnings    []record.Warning     `json:"warnings,omitempty"`
	Journal     []store.JournalEntry `json:"journal"`
}

// failedCell is what went wrong in a cell.
type failedCell struct {
	Cell     string            `json:"cell"`
	Error    string            `json:"error,omitempty"` // of the cell as a whole
	Failures []measure.Failure `json:"failures,omitempty"`
	// More is how many jobs failed beside those that Failures lists.
	More int `json:"more,omitempty"`
}

func (a *app) statusCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status [DIR] [--json]",
		Short: "Show the progress of experiments, and what failed",
		Long: `Show each experiment in DIR (` + defaultOut + ` by default, or one experiment's folder):
whether it is running, how many cells have finished, failed and are left, and the
last lines of its journal. This only reads files; it does not disturb a run.

Exit status: 0, whatever the state; 2 when there are no results.`,
		Example: `  tfexp status
  tfexp status results/fcfs_vs_rr --json`,
		Args:              between(0, 1, ""),
		ValidArgsFunction: completeDir,
		RunE: func(_ *cobra.Command, args []string) error {
			dirs, err := experimentsIn(dirArgument(args))
			if err != nil {
				return err
			}
			all := make([]experimentStatus, 0, len(dirs))
			for _, dir := range dirs {
				s, err := statusOf(dir)
				if err != nil {
					return fmt.Errorf("%s: %w", dir, err)
				}
				all = append(all, s)
			}
			if asJSON {
				return a.printJSON(all)
			}
			for i, s := range all {
				if i > 0 {
					fmt.Fprintln(a.out)
				}
				a.printStatus(s)
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

func statusOf(dir string) (experimentStatus, error) {
	e, err := record.Open(dir)
	if err != nil {
		return experimentStatus{}, err
	}
	journal, err := store.ReadJournal(dir)
	if err != nil {
		return experimentStatus{}, err
	}
	s := experimentStatus{
		Experiment: e.Plan.Experiment, Dir: dir, State: e.Run.State,
		Started: e.Run.Started, Ended: e.Run.Ended,
		Cells: len(e.Plan.Cells), Warnings: e.Warnings(),
	}
	for _, c := range e.Cells {
		if c.State == record.CellFailed {
			s.Failed++
			s.FailedCells = append(s.FailedCells, failedCell{
				Cell: c.CellRef.Cell, Error: c.Error, Failures: c.Failures, More: max(0, c.Metrics.Failed-len(c.Failures)),
			})
		} else {
			s.Finished++
		}
	}
	s.Left = s.Cells - s.Finished - s.Failed
	if s.Left == 0 { // thresholds are decided once all cells have results
		if s.Thresholds, err = prose.Thresholds(e); err != nil {
			return experimentStatus{}, err
		}
	}
	holder, running := store.Holder(dir)
	switch {
	case running:
		s.State, s.Holder = "running", holder
		s.Running = underWay(journal)
	case s.State == "running" || !e.Run.Reported && s.State == "finished": // it was killed
		s.State = "interrupted"
	}
	s.Journal = append([]store.JournalEntry{}, journal[max(0, len(journal)-lastEvents):]...)
	return s, nil
}

// underWay lists the cells that the journal's last run has started and not ended.
func underWay(journal []store.JournalEntry) []string {
	var running []string
	for _, e := range journal {
		switch e.Event {
		case "run_start":
			running = nil
		case "cell_start":
			running = append(running, e.Unit)
		case "cell_end":
			kept := running[:0]
			for _, unit := range running {
				if unit != e.Unit {
					kept = append(kept, unit)
				}
			}
			running = kept
		}
	}
	return running
}

func (a *app) printStatus(s experimentStatus) {
	ink := green
	switch s.State {
	case "failed":
		ink = red
	case "interrupted", "running":
		ink = yellow
	}
	fmt.Fprintf(a.out, "%s: %s, %d of %s finished", paint(a.outColor, bold, s.Experiment),
		paint(a.outColor, ink, s.State), s.Finished, count(s.Cells, "cell", "cells"))
	if s.Failed > 0 {
		fmt.Fprintf(a.out, ", %d failed", s.Failed)
	}
	if s.Left > 0 {
		fmt.Fprintf(a.out, ", %d left", s.Left)
	}
	fmt.Fprintln(a.out)
	if s.Holder != "" {
		fmt.Fprintf(a.out, "  by %s\n", s.Holder)
	}
	for _, unit := range s.Running {
		fmt.Fprintf(a.out, "  running: %s\n", unit)
	}
	for _, c := range s.FailedCells {
		fmt.Fprintf(a.out, "  failed: %s\n", c.Cell)
		if c.Error != "" {
			fmt.Fprintf(a.out, "    %s\n", c.Error)
		}
		for _, f := range c.Failures {
			fmt.Fprintf(a.out, "    %s: %s\n", f.Job, f.Reason)
		}
		if c.More > 0 {
			fmt.Fprintf(a.out, "    and %s more\n", count(c.More, "job", "jobs"))
		}
	}
	a.printThresholds(s.Thresholds, "  ")
	for _, d := range prose.Doubts(s.Warnings, namedCells) {
		fmt.Fprintf(a.out, "  warning: %s\n", d)
	}
	for _, e := range s.Journal {
		fmt.Fprintf(a.out, "  %s  %s\n", e.Time.Local().Format("15:04:05"), entry(e))
	}
	switch s.State {
	case "interrupted":
		fmt.Fprintf(a.out, "  resume with: tfexp resume %s\n", s.Dir)
	case "finished", "failed":
		fmt.Fprintf(a.out, "  report: %s\n", filepath.Join(s.Dir, record.ReportFile))
	}
}

// entry is a line of the journal for people.
func entry(e store.JournalEntry) string {
	text, state := e.Event, e.State
	if e.Event == "warning" { // the state is a code for the text
		state = ""
	}
	for _, part := range []string{e.Unit, state} {
		if part != "" {
			text += " " + part
		}
	}
	if e.Seconds > 0 {
		text += " in " + progress.Duration(time.Duration(e.Seconds*float64(time.Second)))
	}
	if e.Text != "" {
		text += ": " + e.Text
	}
	return text
}
