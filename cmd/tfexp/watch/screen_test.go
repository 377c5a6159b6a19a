package watch

import (
	"bytes"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/mattn/go-runewidth"

	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/scheduler"
)

// begun returns a run in which a-1 runs on both cores and b-1 waits.
func begun(t *testing.T) *WrittenRun {
	run := BeginRun(t)
	run.Start("p-r1")
	run.Event(scheduler.Arrive, 0, nil)
	run.Event(scheduler.Start, 0, scheduler.CoreSet{{Lo: 0, Hi: 2}})
	run.Event(scheduler.Arrive, 1, nil)
	run.Passed(1, "wants 1 core, and none is free")
	for epoch, loss := range []float64{4, 2, 1, 0.5} {
		run.Report("a-1", epoch+1, loss, 0.9)
	}
	return run
}

// The printed screen has the answer so far, though nothing waits for it on a terminal.
func TestPrintedScreenHasTheAnswer(t *testing.T) {
	run := BeginRun(t)
	run.Start("p-r1")
	for job := range 2 {
		run.Event(scheduler.Arrive, job, nil)
		run.Event(scheduler.Start, job, scheduler.CoreSet{{Lo: int32(job), Hi: int32(job) + 1}})
		run.Event(scheduler.Finish, job, nil)
	}
	run.Finish()
	var out bytes.Buffer
	if err := PrintScreen(&out, NewFolder(run.Results), 100); err != nil || !strings.Contains(out.String(), "So far, with 1 of 2 cells: ") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// The screen fits every terminal with at least 20 columns and 5 rows, for any names.
func TestNothingIsWiderThanTheTerminal(t *testing.T) {
	m := &screenModel{results: NewFolder(begun(t).Results)}
	v := m.look("", "")
	if v.trouble != nil {
		t.Fatal(v.trouble)
	}
	odd := v
	cell := *v.cell
	odd.all = append([]Experiment{{Name: strings.Repeat("実験", 60), State: "finished"}, {Name: "a\x1b[2Jb\n"}},
		v.all...)
	odd.chosen, odd.cell = 2, &cell
	cell.Cell, cell.Cores, cell.GPUs = strings.Repeat("cell-", 40), 4096, 8
	cell.Names = []string{strings.Repeat("訓", 50), "b-1"}
	cell.Jobs = append([]Job{{Name: cell.Names[0], State: "running", Waits: strings.Repeat("no cores ", 30)}},
		cell.Jobs...)
	for _, v := range []screenView{v, odd} {
		for _, width := range []int{20, 40, 60, 80, 200} {
			for _, height := range []int{5, 12, 24, 60} {
				rows := v.draw(width, height)
				if len(rows) > height {
					t.Errorf("%d rows at a height of %d", len(rows), height)
				}
				for _, r := range rows {
					if w := runewidth.StringWidth(r); w > width || strings.ContainsAny(r, "\x1b\n") {
						t.Errorf("%d columns at a width of %d: %q", w, width, r)
					}
				}
			}
		}
	}
}

func TestThePicture(t *testing.T) {
	run := begun(t)
	for _, cell := range []string{"p-r1", "p-r2"} {
		run.note(store.JournalEntry{Event: "warning", Unit: cell, State: "busy", Text: "the machine was busy"})
	}
	var out bytes.Buffer
	results := NewFolder(run.Results)
	if err := PrintScreen(&out, results, 100); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "4 of 8") {
		t.Errorf("the job has trained 4 of 8 epochs:\n%s", out.String())
	}
	text := out.String()
	for _, want := range []string{
		"▸ study", "running", "0/2 cells  about ", "p-r1", "0 done, 1 running, 1 " +
			"waiting", "cores  ████", " 2/2", "core 0 ···", "AAAA\ncore 1 ···",
		"A a-1", "0.5", "█▅▃▁", "B b-1", "queued", "wants 1 core, and none is free",
		"! the machine was busy (p-r2, p-r1)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	run.Kill()
	out.Reset()
	if err := PrintScreen(&out, results, 100+len(run.Dir)); err != nil { // the line has the whole path
		t.Fatal(err)
	}
	for _, want := range []string{"interrupted", "0/2 cells  resume with: tfexp resume " + run.Dir,
		"0 done, 1 running, 1 waiting, when it was interrupted", "A a-1   interrupted"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("after the end of the process: no %q in\n%s", want, out.String())
		}
	}
	out.Reset()
	if err := PrintScreen(&out, NewFolder(t.TempDir()), 80); err != nil ||
		!strings.Contains(out.String(), "No experiments here yet") {
		t.Errorf("an empty folder: %v\n%s", err, out.String())
	}
}

func TestKeys(t *testing.T) {
	m := &screenModel{results: NewFolder(begun(t).Results), width: 80, height: 24}
	m.Update(folderRead(m.look("", "")))
	press := func(k rune) { m.Update(tea.KeyPressMsg{Code: k}) }
	press(tea.KeyRight)
	if m.cell != "p-r2" || m.name != "study" {
		t.Errorf("right leads to cell %q of %q", m.cell, m.name)
	}
	press(tea.KeyRight)
	press(tea.KeyLeft)
	if m.cell != "p-r1" {
		t.Errorf("left leads to cell %q", m.cell)
	}
	press(tea.KeyEsc)
	press(tea.KeyDown)
	press(tea.KeyPgUp)
	if m.cell != "" || m.view.chosen != 0 || m.view.scroll != 0 {
		t.Errorf("after esc and down: cell %q, experiment %d", m.cell, m.view.chosen)
	}
	if _, cmd := m.Update(tea.KeyPressMsg{Code: 'q', Text: "q"}); cmd == nil || cmd() != tea.Quit() {
		t.Error("q does not quit")
	}
	if !strings.Contains(m.View().Content, "q quit") {
		t.Errorf("the screen is %q", m.View().Content)
	}
}

// The progress of a job is shown in epochs, or in steps if its length is in steps.
func TestTrained(t *testing.T) {
	for _, c := range []struct {
		job  Job
		want string
	}{
		{Job{}, ""}, {Job{Epoch: 17}, "17"}, {Job{Epoch: 17, Epochs: 50}, "17 of 50"}, {Job{Step: 900, Steps: 1000}, "900 of 1000"},
		{Job{Epoch: 2, Step: 900, Steps: 1000}, "900 of 1000"}, {Job{Epoch: 2, Step: 900, Epochs: 5}, "2 of 5"}, {Job{Step: 9}, "9"},
	} {
		if got := c.job.trained(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.job, got, c.want)
		}
	}
}
