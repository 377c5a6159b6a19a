package report

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages/adaptation"
)

// A schedule for the page has the known values, with times no more precise than a screen shows.
func TestChart(t *testing.T) {
	cores := scheduler.CoreSet{{Lo: 0, Hi: 2}}
	s := &analysis.Schedule{Classes: []string{"x", "y"}, Cores: 4, GPUs: 1, From: 0.00004, Until: 123456.789}
	s.Jobs = []analysis.ScheduledJob{
		{JobRow: record.JobRow{Outcome: measure.Outcome{Job: "a", Class: "y", State: "finished", Arrival: 1, FirstStart: 0,
			Waiting: 2.5, Service: 999.99996, ThreadsRequested: 2}}, End: 1000.04,
			Held:  []analysis.Span{{From: 3, To: 4, Cores: cores, Guest: true}},
			Waits: []analysis.Wait{{From: 1, To: 1}, {From: 1, To: 3, Why: "no cores", Holders: []string{"b"}, Others: 7}}},
		{JobRow: record.JobRow{Outcome: measure.Outcome{Job: "b", Class: "x", FirstStart: -1, Waiting: math.NaN(),
			Service: -1}}, End: math.Inf(1)},
	}
	got := chartOf(s, &analysis.Palette{})
	number := func(v float64) *float64 { return &v }
	want := &chart{From: 0, Until: 123456.8, Cores: 4, GPUs: 1, Classes: s.Classes, Colors: got.Colors, Jobs: []chartJob{
		{Name: "a", Class: 1, State: "finished", Arrival: 1, Start: number(0), End: 1000.04, Waiting: number(2.5),
			Service: number(1000), Threads: 2, Held: []chartHeld{{From: 3, To: 4, Cores: cores.String(), Guest: true}},
			Waits: []chartWait{{From: 1, To: 3, Why: "no cores", Holders: []string{"b"}, Others: 7}}},
		{Name: "b", Class: 0},
	}}
	if d := cmp.Diff(want, got); d != "" || len(got.Colors) != 2 || got.Colors[0] == got.Colors[1] {
		t.Error(d, got.Colors)
	}
	for seconds, want := range map[float64]float64{
		999.99994: 999.9999, 1000.00006: 1000, -1234.56789: -1234.568, 0.00006: 0.0001, math.Inf(1): 0,
	} {
		if got := short(seconds); got != want {
			t.Errorf("%g s are %g s for the page, want %g", seconds, got, want)
		}
	}
}

// A limited number of failures is shown, with failures of whole cells among them; the others are counted.
func TestFailuresAreCounted(t *testing.T) {
	for _, c := range []struct{ jobs, known, shown, more int }{{3, 3, 4, 0}, {19, 19, 20, 0}, {30, 25, 20, 11}} {
		failed := record.Cell{CellRef: record.CellRef{Cell: "c"}, State: record.CellFailed, Error: "no plan"}
		failed.Metrics.Set(measure.Failed, float64(c.jobs))
		for i := range c.known {
			failed.Failures = append(failed.Failures, measure.Failure{Job: fmt.Sprint("j", i), At: 2, Reason: "exit status 1"})
		}
		e := &record.Experiment{Dir: t.TempDir(), Cells: []record.Cell{failed, {State: record.CellFinished}}}
		logs := filepath.Join(e.Dir, record.CellsDir, "c", record.LogsDir)
		if err := os.MkdirAll(logs, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(logs, "j0.log"), []byte("the end\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		var v view
		if err := v.failures(e); err != nil {
			t.Fatal(err)
		}
		if len(v.Failures) != c.shown || v.MoreFailures != c.more {
			t.Errorf("%+v: %d are shown, and %d more", c, len(v.Failures), v.MoreFailures)
		}
		if v.Failures[0] != (failure{Cell: "c", Reason: "no plan"}) ||
			v.Failures[1] != (failure{"c", "j0", "2 s", "exit status 1", "the end"}) {
			t.Errorf("%+v", v.Failures[:2])
		}
	}
}

// Where the experiment has no cells, the results of its controllers are the answer, and appear once.
func TestAdaptations(t *testing.T) {
	dir := t.TempDir()
	err := adaptation.Tables{Ranking: []adaptation.RankingRow{
		{Adaptation: "a", Controller: "one", Kind: "agent", Scenario: "s", Seeds: 3,
			Rank: 2, BestRank: 1, WorstRank: 3, Of: 9, Accuracy: 0.5},
		{Adaptation: "a", Controller: "two", Kind: "best_constant", Scenario: "s", Seeds: 3,
			Rank: 5, BestRank: 5, WorstRank: 5, Of: 9, Accuracy: 0.4},
	}}.Write(dir)
	if err != nil {
		t.Fatal(err)
	}
	for cells := range 2 {
		e := &record.Experiment{Dir: dir, Plan: record.Plan{Cells: make([]record.CellRef, cells)}}
		v := view{shownAnswers: shownAnswers{NoAnswer: "none"}}
		told, err := analysis.Parts(e)
		if err != nil {
			t.Fatal(err)
		}
		if err := v.answers(e, told); err != nil {
			t.Fatal(err)
		}
		v.sections(told)
		said, below := len(v.Answers)+len(v.Headline.Sentence), len(v.Middle[0].Report[0].Sentences)
		if alone := cells == 0; v.NoCells != alone ||
			(v.NoAnswer == "none") != alone || (said > 0) != alone || (below > 0) == alone {
			t.Errorf("%d cells: %+v", cells, v)
		}
	}
	var v view
	e := &record.Experiment{Dir: t.TempDir()}
	told, err := analysis.Parts(e)
	if err := errors.Join(err, v.answers(e, told)); err != nil || v.NoCells || v.NoAnswer == "" {
		t.Errorf("without controllers: %v, %+v", err, v)
	}
}

// The head and the foot of the page: the time of the run, its machine, and the lines that repeat it.
func TestAboutTheRun(t *testing.T) {
	run := func(ended string, ran, reused int) record.Run {
		return record.Run{Started: "2026-01-02T03:04:05Z", Ended: ended, Ran: ran, Reused: reused}
	}
	for want, r := range map[string]record.Run{
		"": {}, "2 January 2026, 03:04 UTC": run("", 1, 0),
		"2 January 2026, 03:04 UTC, took 61 s":                              run("2026-01-02T03:05:06Z", 1, 3),
		"2 January 2026, 03:04 UTC, took 2 s":                               run("2026-01-02T03:04:07Z", 0, 0),
		"2 January 2026, 03:04 UTC, with all cells taken from earlier runs": run("2026-01-02T03:05:06Z", 0, 1),
	} {
		if got := when(r); got != want {
			t.Errorf("when = %q, want %q", got, want)
		}
	}
	if replicates(1) != "one replicate" || replicates(2) != "2 replicates" {
		t.Error(replicates(1), replicates(2))
	}
	for arg, want := range map[string]string{
		"aAzZ09-_./=:,+@%": "aAzZ09-_./=:,+@%", "a;b": "'a;b'", "a[": "'a['", "`": "'`'",
	} {
		if got := shell([]string{arg}); got != want {
			t.Errorf("shell %s = %s, want %s", arg, got, want)
		}
	}
	e := &record.Experiment{Dir: t.TempDir()}
	e.Run.Command = []string{"tfexp", "run", "my.hcl"}
	e.Plan.Variables = []record.Setting{{Name: "n", Value: "2 3"}}
	if got := commands(e); !slices.Equal(got, []string{"tfexp run my.hcl"}) {
		t.Errorf("without the file: %q", got)
	}
	if err := os.WriteFile(filepath.Join(e.Dir, record.ExperimentFile), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	again := "tfexp run " + record.ExperimentFile + " -var 'n=2 3'"
	if got := commands(e); !slices.Equal(got, []string{"tfexp run my.hcl", again}) {
		t.Errorf("%q", got)
	}
	e.Run.Command = nil
	if got := commands(e); !slices.Equal(got, []string{again}) {
		t.Errorf("without a command: %q", got)
	}
	host := []record.Setting{{Name: "cpu", Value: "x"}}
	got := environment(record.Run{Host: host, Version: "v1", Git: "abc",
		Python: []record.Python{{Interpreter: "p", Error: "broken"}}})
	want := append(slices.Clone(host), record.Setting{Name: "tfexp", Value: "v1"},
		record.Setting{Name: "git", Value: "abc"}, record.Setting{Name: "Python", Value: "p: broken"})
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// The table of cells has all cells of the plan, as many as a page can hold, and the metrics that some cell has.
func TestCellsOfThePlan(t *testing.T) {
	e := &record.Experiment{Plan: record.Plan{Cells: make([]record.CellRef, mostCells+1)}}
	for i := range e.Plan.Cells {
		e.Plan.Cells[i].Cell = fmt.Sprint("c", i)
	}
	done := record.Cell{CellRef: e.Plan.Cells[1], State: record.CellFinished}
	shown := measure.ShownIn(measure.InCells)
	done.Metrics.Set(shown[0], 7)
	e.Cells = []record.Cell{done}
	var v view
	v.cells(e)
	if len(v.Cells.Rows) != mostCells || v.MoreCells != 1 || !slices.Equal(v.Cells.Header(), []string{"cell", "state", shown[0].Label()}) ||
		!slices.Equal(v.Cells.Rows[0], []string{"c0", "not written yet", ""}) ||
		!slices.Equal(v.Cells.Rows[1], []string{"c1", "finished", "7"}) {
		t.Errorf("%d rows, %q, %q", len(v.Cells.Rows), v.Cells.Header(), v.Cells.Rows[:2])
	}
}

// A long table is printed in part, as many rows as the style leaves, with a note; on a screen it is whole.
func TestLongTablesOnPaper(t *testing.T) {
	if !strings.Contains(style, fmt.Sprintf(".long tbody tr:nth-child(n + %d of", printed+1)) {
		t.Errorf("the style does not leave %d rows", printed)
	}
	for rows, long := range map[int]bool{printed: false, printed + 1: true, 1500: true} {
		view := table.New(1, "cell")
		for i := range rows {
			view.Rows = append(view.Rows, []string{fmt.Sprint("c", i)})
		}
		var b strings.Builder
		if err := pageTemplate.ExecuteTemplate(&b, "table", view); err != nil {
			t.Fatal(err)
		}
		note := fmt.Sprintf("Printed are %d of the %s rows", printed, table.Number(float64(rows)))
		if got := b.String(); strings.Contains(got, `<table class="long">`) != long || strings.Contains(got, note) != long ||
			strings.Count(got, "<tr>") != rows+1 {
			t.Errorf("%d rows: %s …", rows, got[:200])
		}
	}
}
