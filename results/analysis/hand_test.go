package analysis

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

func span(lo, hi int32) scheduler.CoreSet { return scheduler.CoreSet{{Lo: lo, Hi: hi}} }

// byHand is a cell of four jobs on four cores and two GPUs:
//
//	a: runs from 0 to 6 s, from 2 s on with one core in place of two, and is over
//	b: runs from 0 to 1 s, waits until 4 s, and runs until the trace ends at 8 s
//	c: arrives at 1 s, and starts at once on a GPU of a
//	d: arrives at 3 s, and waits until the end
func byHand(t *testing.T) (*record.Experiment, record.Cell) {
	t.Helper()
	s := record.Setup{Cell: record.CellRef{Cell: "c", Engine: "simulated", Simulated: true, Cores: 2}, Setup: measure.Setup{
		Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Name: "n", Threads: 4, GPUs: 2}}}}}
	for i, name := range []string{"a", "b", "c", "d"} {
		s.Jobs = append(s.Jobs, scheduler.Job{Number: i, Name: name, Class: []string{"x", "y"}[i%2], Threads: 1, Malleable: true,
			Arrival: time.Duration([]int{0, 0, 1, 3}[i]) * time.Second})
	}
	at := func(seconds int, kind scheduler.EventKind, job int, cores, gpus scheduler.CoreSet) scheduler.Event {
		return scheduler.Event{At: time.Duration(seconds) * time.Second, Kind: kind, Job: job, Cores: cores, GPUs: gpus}
	}
	events := []scheduler.Event{
		at(0, scheduler.Arrive, 0, nil, nil), at(0, scheduler.Arrive, 1, nil, nil), at(0, scheduler.Start, 0, span(0, 2), span(0, 1)),
		at(0, scheduler.Start, 1, span(2, 3), nil), at(1, scheduler.Pause, 1, nil, nil), at(1, scheduler.Arrive, 2, nil, nil),
		at(1, scheduler.Start, 2, span(3, 4), nil), at(2, scheduler.ResizeJob, 0, span(0, 1), span(0, 1)),
		at(3, scheduler.Arrive, 3, nil, nil), at(4, scheduler.Resume, 1, span(1, 2), nil), at(5, scheduler.Finish, 2, nil, nil),
		at(6, scheduler.Finish, 0, nil, nil), at(8, scheduler.Level, 3, nil, nil),
	}
	events[6].GPUs, events[6].Beside = span(0, 1), &cluster.Beside{Job: 0, Name: "a"}
	decisions := []scheduler.Decision{{At: time.Second, Kind: scheduler.Start, Job: 2, Passed: []scheduler.Passed{{Job: 1, Reason: "its turn is over"}}},
		{At: 4 * time.Second, Kind: scheduler.Resume, Job: 1, Passed: []scheduler.Passed{{Job: 3, Reason: "no core"}}}}
	e := &record.Experiment{Dir: t.TempDir()}
	dir := filepath.Join(e.Dir, record.CellsDir, "c")
	w, err := record.NewCellWriter(dir, s, record.AllRecords)
	if err != nil {
		t.Fatal(err)
	}
	for i := range events {
		w.Event(&events[i])
	}
	for i := range decisions {
		w.Decision(&decisions[i])
	}
	cell, err := w.Finish(record.Cell{})
	if err != nil {
		t.Fatal(err)
	}
	write(t, e, record.Progress.File, "t_s,job,epoch\n0.5,b,1\n0.75,a,0\n1,a,1\n2,stranger,1\n5,a,2\n")
	return e, cell
}

func write(t *testing.T, e *record.Experiment, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(e.Dir, record.CellsDir, "c", name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestScheduleByHand(t *testing.T) {
	e, cell := byHand(t)
	s, err := ReadSchedule(e, cell, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Explain(e, cell.CellRef); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, j := range s.Jobs {
		text := j.JobRow.Job + ":"
		for _, h := range j.Held {
			text += fmt.Sprintf(" %g–%g on %s", h.From, h.To, h.Cores)
			if len(h.GPUs) > 0 {
				text += " GPU " + h.GPUs.String()
			}
			if h.Guest {
				text += " as a guest"
			}
		}
		for _, w := range j.Waits {
			text += fmt.Sprintf("; waits %g–%g behind %v and %d, %q", w.From, w.To, w.Holders, w.Others, w.Why)
		}
		got = append(got, fmt.Sprintf("%s; resizes %v, epochs %v, ends %g", text, j.Resizes, j.Epochs, j.End))
	}
	want := []string{
		`a: 0–2 on 0-1 GPU 0 2–6 on 0 GPU 0; waits 0–0 behind [] and 0, ""; resizes [2], epochs [1 5], ends 6`,
		`b: 0–1 on 2 4–8 on 1; waits 0–0 behind [] and 0, ""; waits 1–4 behind [a c] and 0, "its turn is over"; resizes [], epochs [0.5], ends 8`,
		`c: 1–5 on 3 GPU 0 as a guest; waits 1–1 behind [] and 0, ""; resizes [], epochs [], ends 5`,
		`d:; waits 3–8 behind [c a] and 1, "no core"; resizes [], epochs [], ends 8`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if s.Cores != 4 || s.GPUs != 1 || s.From != 0 || s.Until != 8 || !cmp.Equal(s.Classes, []string{"x", "y"}) {
		t.Errorf("%d cores, %d GPUs, %g to %g, %q", s.Cores, s.GPUs, s.From, s.Until, s.Classes)
	}
}

// A cell without recorded jobs or events has no schedule. Damaged files are errors; missing files are not.
func TestWhatIsThere(t *testing.T) {
	e, cell := byHand(t)
	path := func(name string) string { return filepath.Join(e.Dir, record.CellsDir, "c", name) }
	s, err := ReadSchedule(e, cell, nil)
	if s == nil || err != nil {
		t.Fatal(s, err)
	}
	write(t, e, record.DecisionsFile, "no line\n")
	if err := s.Explain(e, cell.CellRef); err == nil {
		t.Error("damaged decisions are no error")
	}
	if err := errors.Join(os.Remove(path(record.DecisionsFile)), s.Explain(e, cell.CellRef), os.Remove(path(record.Progress.File))); err != nil {
		t.Error(err)
	}
	if s, err := ReadSchedule(e, cell, nil); s == nil || err != nil || len(s.Jobs[0].Epochs) != 0 {
		t.Errorf("without reports: %v, %v", s, err)
	}
	write(t, e, record.Progress.File, "t_s,job\n\"a\"x,y\n")
	if _, err := ReadSchedule(e, cell, nil); err == nil {
		t.Error("damaged reports are no error")
	}
	if err := os.Remove(path(record.Progress.File)); err != nil {
		t.Fatal(err)
	}
	write(t, e, record.EventsFile, "no line\n")
	if _, err := ReadSchedule(e, cell, nil); err == nil {
		t.Error("damaged events are no error")
	}
	if err := os.Remove(path(record.EventsFile)); err != nil {
		t.Fatal(err)
	}
	if s, err := ReadSchedule(e, cell, nil); s != nil || err != nil {
		t.Errorf("without events: %v, %v", s, err)
	}
	write(t, e, record.Jobs.File, "job,class\n\"a\"x,y\n")
	if _, err := ReadSchedule(e, cell, nil); err == nil {
		t.Error("a damaged table of jobs is no error")
	}
	write(t, e, record.Jobs.File, "job,class\n")
	if s, err := ReadSchedule(e, cell, nil); s != nil || err != nil {
		t.Errorf("no job: %v, %v", s, err)
	}
	if err := os.Remove(path(record.Jobs.File)); err != nil {
		t.Fatal(err)
	}
	if s, err := ReadSchedule(e, cell, nil); s != nil || err != nil {
		t.Errorf("without jobs: %v, %v", s, err)
	}
}

func TestReasons(t *testing.T) {
	s := &Schedule{Jobs: []ScheduledJob{{Waits: []Wait{{From: 0, To: 1}, {From: 2, To: 5}}}}}
	s.Jobs[0].JobRow.Job = "a"
	at := map[string]int{"a": 0}
	for _, d := range []record.DecisionRow{
		{At: 2, Passed: []record.PassedRow{{Job: "a", Reason: "first"}}},
		{At: 3, Passed: []record.PassedRow{{Job: "a", Reason: "last"}, {Job: "b", Reason: "another"}}},
		{At: 5, Passed: []record.PassedRow{{Job: "a", Reason: "too late"}}},
	} {
		s.passed(d, at)
	}
	if w := s.Jobs[0].Waits; w[0].Why != "" || w[1].Why != "last" {
		t.Errorf("%+v", w)
	}
}
