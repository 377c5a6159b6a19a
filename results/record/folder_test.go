package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/scheduler"
)

// simulated is a cell of two jobs, one after the other: a from 0 to 2 s, b from 2 to 3 s.
func simulated(name string) (Setup, []scheduler.Event) {
	core := scheduler.CoreSet{{Lo: 0, Hi: 1}}
	s := Setup{Cell: CellRef{Cell: name, Workload: "w", Hardware: "h", Policy: "p", Replicate: 1, Engine: "simulated",
		Simulated: true, Key: "k-" + name}, Setup: measure.Setup{
		Cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Name: "n", Threads: 1}}},
		Jobs:    []scheduler.Job{{Number: 0, Name: "a", Class: "x", Threads: 1}, {Number: 1, Name: "b", Class: "x", Threads: 1}}}}
	return s, []scheduler.Event{{Kind: scheduler.Arrive, Job: 0}, {Kind: scheduler.Arrive, Job: 1},
		{Kind: scheduler.Start, Job: 0, Cores: core}, {At: 2 * time.Second, Kind: scheduler.Finish, Job: 0},
		{At: 2 * time.Second, Kind: scheduler.Start, Job: 1, Cores: core}, {At: 3 * time.Second, Kind: scheduler.Finish, Job: 1}}
}

// keep writes a plan of cells, and the results of the cells in written.
func keep(t *testing.T, p Plan, written ...string) string {
	t.Helper()
	dir := t.TempDir()
	p.Experiment = "e"
	raw, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, PlanFile), raw, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range written {
		s, events := simulated(name)
		if _, err := WriteCell(filepath.Join(dir, CellsDir, name), s, AllRecords, events, nil, Cell{}); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func opened(t *testing.T, dir string) *Experiment {
	t.Helper()
	e, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func refs(names ...string) (all []CellRef) {
	for _, n := range names {
		s, _ := simulated(n)
		all = append(all, s.Cell)
	}
	return all
}

// Open returns the complete cells of the plan that ran under their keys, including cells in shards. It returns trials
// separately.
func TestOpen(t *testing.T) {
	p := Plan{Cells: refs("a", "trial", "missing", "sharded", "other")}
	p.Cells[1].Beyond = NewFeatureValue(&struct{ Number int }{1})
	dir := keep(t, p, "a", "trial", "other")
	p.Cells[4].Key = "another"
	raw, _ := json.Marshal(p)
	raw = []byte(strings.Replace(string(raw), `"experiment":""`, `"experiment":"e"`, 1))
	if err := os.WriteFile(filepath.Join(dir, PlanFile), raw, 0o644); err != nil {
		t.Fatal(err)
	}
	w, err := CreateShard(dir, "s")
	if err != nil {
		t.Fatal(err)
	}
	s, events := simulated("sharded")
	cell, err := WriteCell("", s, MetricsOnly, events, nil, Cell{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Add(ShardLine{Cell: "sharded", DependsOn: "what it depends on", Result: cell}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	e := opened(t, dir)
	names := func(cells []Cell) (out []string) {
		for _, c := range cells {
			out = append(out, fmt.Sprintf("%s %g", c.Cell, measure.Makespan.Of(&c.Metrics)))
		}
		return out
	}
	if d := cmp.Diff([]string{"a 3", "sharded 3"}, names(e.Cells)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"trial 3"}, names(e.Beyond)); d != "" {
		t.Error(d)
	}
	if len(e.Missing) != 2 || e.Missing[0].Cell != "missing" || e.Missing[1].Cell != "other" || e.Complete() {
		t.Errorf("missing: %v", e.Missing)
	}
	if len(e.Plan.Cells) != 4 || e.Plan.Cells[1].Cell != "missing" {
		t.Errorf("the cells of the matrix: %v", e.Plan.Cells)
	}
	if text, err := e.Description(p.Cells[3]); err != nil || text != "what it depends on" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := e.Description(p.Cells[0]); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a cell without a key: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, CellsDir, "a", KeyFile), []byte("jobs 2\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if text, err := e.Description(p.Cells[0]); err != nil || text != "jobs 2\n" {
		t.Errorf("%q, %v", text, err)
	}
	if e := opened(t, keep(t, Plan{Cells: refs("a")}, "a")); !e.Complete() {
		t.Errorf("missing: %v", e.Missing)
	}
}

// If a cell or a plan has no key, keys are not compared.
func TestCellsWithoutKeys(t *testing.T) {
	for _, c := range []struct {
		cell, plan string
		there      bool
	}{{"k", "k", true}, {"k", "", true}, {"", "k", true}, {"", "", true}, {"k", "l", false}} {
		dir := t.TempDir()
		s, events := simulated("a")
		s.Cell.Key = c.cell
		if _, err := WriteCell(filepath.Join(dir, CellsDir, "a"), s, MetricsOnly, events, nil, Cell{}); err != nil {
			t.Fatal(err)
		}
		s.Cell.Key = c.plan
		if _, err := readCell(dir, "a", s.Cell); (err == nil) != c.there || err != nil && !errors.Is(err, errOtherPlan) {
			t.Errorf("%q under %q: %v", c.cell, c.plan, err)
		}
	}
}

// TestStates: a cell fails if one of its jobs fails or if it has its own error, unless its state is given.
func TestStates(t *testing.T) {
	s, events := simulated("a")
	failed := append(events[:5:5], scheduler.Event{At: 3 * time.Second, Kind: scheduler.Fail, Job: 1, Reason: "no"})
	began := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	s.Began = began
	for _, c := range []struct {
		events []scheduler.Event
		cell   Cell
		want   string
	}{
		{events, Cell{}, CellFinished}, {failed, Cell{}, CellFailed}, {events, Cell{Error: "no schedule"}, CellFailed},
		{failed, Cell{State: CellFinished}, CellFinished},
	} {
		dir := t.TempDir()
		got, err := WriteCell(dir, s, MetricsOnly, c.events, nil, c.cell)
		var back Cell
		if err := errors.Join(err, ReadCellFile(dir, &back)); err != nil || got.State != c.want || back.State != c.want ||
			back.Began != "2026-01-02T03:04:05.000000006Z" || len(got.Warnings) != 0 {
			t.Errorf("%s, in the file %s, began %s, want %s: %v", got.State, back.State, back.Began, c.want, err)
		}
	}
}

// TestUnknownJobs: events and decisions of jobs that the cell does not have are not written.
func TestUnknownJobs(t *testing.T) {
	dir := t.TempDir()
	s, events := simulated("a")
	s.Cluster.Nodes = append(s.Cluster.Nodes, scheduler.Node{Name: "m", Threads: 1})
	events = append(events, scheduler.Event{At: 3 * time.Second, Kind: scheduler.NodeStart, Node: 1, Job: -1})
	decisions := []scheduler.Decision{{Kind: scheduler.Start, Job: -1}, {Kind: scheduler.Start, Job: 1, Reason: "next"},
		{Kind: scheduler.Start, Job: 2}}
	if _, err := WriteCell(dir, s, AllRecords, events, decisions, Cell{}); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{EventsFile: 7, DecisionsFile: 1} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if n := strings.Count(string(raw), "\n"); err != nil || n != want {
			t.Errorf("%s has %d lines, want %d: %v\n%s", name, n, want, err, raw)
		}
	}
}

// Real cells can be followed while they run: each line is written to the file at once.
func TestRealCellsCanBeFollowed(t *testing.T) {
	for _, real := range []bool{true, false} {
		dir := t.TempDir()
		s, events := simulated("a")
		s.Cell.Simulated = !real
		s.Cell.Engine = "process"
		w, err := NewCellWriter(dir, s, AllRecords)
		if err != nil {
			t.Fatal(err)
		}
		w.Event(&events[0])
		raw, err := os.ReadFile(w.events.Temporary())
		if err != nil || (len(raw) > 0) != real {
			t.Errorf("real %v: %q, %v", real, raw, err)
		}
		w.Abort()
		if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
			t.Errorf("left behind: %v, %v", entries, err)
		}
	}
}

// Each warning appears once, and warnings of the run come first. A cell's warning names the cell.
func TestWarnings(t *testing.T) {
	busy := Warning{Code: BusyMachine, Text: "busy"}
	e := &Experiment{Run: Run{Warnings: []Warning{busy, {Code: Refused, Text: "no"}, busy}}}
	e.Cells = []Cell{{CellRef: CellRef{Cell: "a"}, Warnings: []Warning{busy, busy, {Code: BusyMachine, Cell: "b", Text: "busy"}}},
		{CellRef: CellRef{Cell: "b"}, Warnings: []Warning{busy}}}
	var got []string
	for _, w := range e.Warnings() {
		got = append(got, w.Cell+": "+w.Text)
	}
	if d := cmp.Diff([]string{": busy", ": no", "a: busy", "b: busy"}, got); d != "" {
		t.Error(d)
	}
	last := func() string { w := e.Warnings(); return w[len(w)-1].Text }
	e.Cells[1].State = CellFailed
	if !strings.HasPrefix(last(), "something failed in 1 of 2 cells: ") || len(e.FailedCells()) != 1 {
		t.Error(last())
	}
	e.Cells = e.Cells[1:]
	if !strings.HasPrefix(last(), "something failed in 1 of 1 cell: ") {
		t.Error(last())
	}
	e.Cells[0].Warnings = []Warning{{Code: Disturbed}}
	if !e.Cells[0].Troubled() || !e.Cells[0].Paused() {
		t.Error("a disturbed cell is not troubled")
	}
}

// The experiment's file can be read in either syntax. Invalid text is marked.
func TestSource(t *testing.T) {
	e := &Experiment{Dir: t.TempDir()}
	if _, _, err := e.Source(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	for _, name := range []string{ExperimentFile + ".json", ExperimentFile} { // the second counts where both exist
		if err := os.WriteFile(filepath.Join(e.Dir, name), []byte("in "+name+"\xff"), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, text, err := e.Source(); err != nil || got != name || text != "in "+name+"\uFFFD" {
			t.Errorf("%s: %q, %v", got, text, err)
		}
	}
	if err := errors.Join(os.Remove(filepath.Join(e.Dir, ExperimentFile)), os.Mkdir(filepath.Join(e.Dir, ExperimentFile), 0o755)); err != nil {
		t.Fatal(err)
	}
	if _, _, err := e.Source(); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder in its place: %v", err)
	}
}

// If an experiment has a single cell, the cell's table of jobs is also the table of the experiment, as a link. It is a
// separate file if the rows are inspected or other axes are requested.
func TestLinkedJobs(t *testing.T) {
	one := func(change func(*Experiment)) (linked bool, text string) {
		t.Helper()
		e := opened(t, keep(t, Plan{Cells: refs("a")}, "a"))
		if change != nil {
			change(e)
		}
		for range 2 {
			if err := e.WriteJobs(nil); err != nil {
				t.Fatal(err)
			}
		}
		a, err := os.Stat(filepath.Join(e.Dir, Jobs.File))
		b, err2 := os.Stat(filepath.Join(e.Dir, CellsDir, "a", Jobs.File))
		raw, err3 := os.ReadFile(filepath.Join(e.Dir, Jobs.File))
		if err := errors.Join(err, err2, err3); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(e.Dir, Jobs.File) + ".tmp"); err == nil {
			t.Error("a file is left")
		}
		return os.SameFile(a, b), string(raw)
	}
	linked, text := one(nil)
	if !linked || strings.Count(text, "\n") != 3 {
		t.Errorf("linked: %v\n%s", linked, text)
	}
	if linked, got := one(func(e *Experiment) { e.Plan.Axes = []string{"load"} }); linked ||
		!strings.HasSuffix(strings.Split(got, "\n")[0], ",load") || strings.Count(got, "\n") != 3 {
		t.Errorf("another axis: %v\n%s", linked, got)
	}
	if linked, got := one(func(e *Experiment) { e.Cells = append(e.Cells, e.Cells[0]) }); linked || strings.Count(got, "\n") != 5 {
		t.Errorf("two cells: %v\n%s", linked, got)
	}
	if linked, got := one(func(e *Experiment) {
		path := filepath.Join(e.Dir, CellsDir, "a", Jobs.File)
		if err := os.WriteFile(path, []byte(strings.Replace(text, "cell,", "older,", 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	}); linked || !strings.HasPrefix(got, "cell,") || strings.Count(got, "\n") != 3 {
		t.Errorf("columns of another version: %v\n%s", linked, got)
	}
	e := opened(t, keep(t, Plan{Cells: refs("a")}, "a"))
	var names []string
	if err := e.WriteJobs(func(c CellRef, r *JobRow) { names = append(names, c.Cell+" "+r.Job) }); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(filepath.Join(e.Dir, Jobs.File)); err != nil || string(raw) != text {
		t.Errorf("%s, %v", raw, err)
	}
	if d := cmp.Diff([]string{"a a", "a b"}, names); d != "" {
		t.Error(d)
	}
	if err := os.WriteFile(filepath.Join(e.Dir, CellsDir, "a", Jobs.File), []byte(text+"\"torn"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := e.WriteJobs(func(CellRef, *JobRow) {}); err == nil {
		t.Error("a torn table is no error")
	}
	names = nil
	if err := e.EachJob(e.Cells[0].CellRef, []string{"job", "service_s"}, 2, func(r *JobRow) bool {
		names = append(names, fmt.Sprint(r.Job, r.Service, r.Class))
		return true
	}); len(names) == 0 || names[0] != "a2" {
		t.Errorf("%q, %v", names, err)
	}
}

// The table of GPUs appears when it is complete.
func TestGPURows(t *testing.T) {
	dir := t.TempDir()
	c := CellRef{Cell: "a"}
	folder := filepath.Join(dir, CellsDir, "a")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	rows := []GPURow{{At: 1, GPU: 0, Device: "u", Utilization: 50, Power: 70.5, Memory: 1 << 40}, {At: 2, GPU: 1, Device: "v",
		Utilization: -1, Power: -1, Memory: -1}, {At: 3, Memory: 0}}
	w, err := GPUs.Create(folder, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if err := w.Add(&r, nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := GPUs.ReadLive(dir, CellsDir, c.Cell); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("before the end: %v", err)
	}
	size, err := w.Replace()
	if err != nil || !whole(folder, "", []File{{Name: GPUs.File, Size: size}}) {
		t.Errorf("%d, %v", size, err)
	}
	w.Abort() // does nothing any more
	if back, err := GPUs.ReadLive(dir, CellsDir, c.Cell); err != nil || !cmp.Equal(rows, back) {
		t.Errorf("%v, %v", cmp.Diff(rows, back), err)
	}
	w, err = GPUs.Create(t.TempDir(), true, nil)
	if err != nil {
		t.Fatal(err)
	}
	path := w.Temporary()
	w.Abort()
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was aborted: %v", err)
	}
}

// listed is a meter of nodes with servers.
type listed []ServerRow

func (listed) Event(*scheduler.Event) int { return 0 }
func (listed) JobCost(int) float64        { return 0 }
func (listed) Cost() float64              { return 0 }
func (l listed) Servers() []ServerRow     { return l }

// TestServersOfCells: a cell with nodes that come and go lists its servers, after the recorded ones; the table of the
// experiment has the servers of all cells.
func TestServersOfCells(t *testing.T) {
	dir := keep(t, Plan{Cells: refs("a", "b", "c")}, "c")
	for _, name := range []string{"a", "b"} {
		s, events := simulated(name)
		s.Meter = func(*measure.Setup) measure.NodeMeter {
			return listed{{Node: "n", Region: "north", Market: "spot", Down: 4, Cores: "0"},
				{Node: "spare", Market: "spot", Up: 3, Down: -1, Cores: "1-2"}}
		}
		w, err := NewCellWriter(filepath.Join(dir, CellsDir, name), s, AllRecords)
		if err != nil {
			t.Fatal(err)
		}
		if name == "b" {
			w.AddServer(ServerRow{Node: "before", Down: -1})
		}
		for _, e := range events {
			w.Event(&e)
		}
		if _, err := w.Finish(Cell{}); err != nil {
			t.Fatal(err)
		}
	}
	e := opened(t, dir)
	if err := e.WriteServers(); err != nil {
		t.Fatal(err)
	}
	rows, err := Servers.Read(e.Dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprintf("%s %d %s %s %s %q %g %g %d", r.Cell, r.Server, r.Node, r.Region, r.Market, r.Cores, r.Up, r.Down, r.Revoked))
	}
	want := []string{`a 1 n north spot "0" 0 4 0`, `a 2 spare  spot "1-2" 3 -1 0`, `b 1 before   "" 0 -1 0`,
		`b 2 n north spot "0" 0 4 0`, `b 3 spare  spot "1-2" 3 -1 0`}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	plain := opened(t, keep(t, Plan{Cells: refs("c")}, "c"))
	if err := plain.WriteServers(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(plain.Dir, Servers.File)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without servers: %v", err)
	}
}

// Cells, estimators and events have texts for people.
func TestSmallRows(t *testing.T) {
	if got := AxesLabel([]Setting{{Name: "a", Value: "1"}, {Name: "b", Value: "2"}}); got != "a=1 b=2" {
		t.Errorf("%q", got)
	}
	if got := (AccuracyRow{Model: "m", Made: MadeCorrected}).Estimator() + "; " + (AccuracyRow{Model: "m", Made: MadeBefore}).Estimator(); got != "m, corrected; m" {
		t.Errorf("%q", got)
	}
	if e := (&EventRow{At: 1.5000004, Event: scheduler.Start}).Of(3); e.At != 1500*time.Millisecond || e.Job != 3 || e.Kind != scheduler.Start {
		t.Errorf("%+v", e)
	}
}

// The paths of pictures are relative to the experiment's folder.
func TestPictures(t *testing.T) {
	e := &Experiment{Dir: t.TempDir()}
	if all, err := e.Pictures(); all != nil || err != nil {
		t.Errorf("%v, %v", all, err)
	}
	path := filepath.Join(e.Dir, PlotsDir, PicturesFile)
	text := `[{"name": "a", "svg": "a.svg", "pdf": "a.pdf"}, {"name": "b", "skipped": "no data"}]`
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
	want := []Picture{{Name: "a", SVG: "plots/a.svg", PDF: "plots/a.pdf"}, {Name: "b", Skipped: "no data"}}
	if all, err := e.Pictures(); err != nil || !cmp.Equal(want, all) {
		t.Errorf("%v, %v", all, err)
	}
}

// If several writes fail, the cell reports the first error.
func TestFirstError(t *testing.T) {
	first := errors.New("first")
	for _, records := range []Records{AllRecords, MetricsOnly} {
		dir := t.TempDir()
		s, events := simulated("a")
		w, err := NewCellWriter(dir, s, records)
		if err != nil {
			t.Fatal(err)
		}
		w.Event(&events[0])
		w.keep(first)
		w.keep(errors.New("second"))
		w.keep(nil)
		if _, err := w.Finish(Cell{}); !errors.Is(err, first) {
			t.Errorf("%s: %v", records, err)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
			t.Errorf("%s: left behind %v, %v", records, left, err)
		}
	}
}

// If the file of estimates is damaged, it is written again.
func TestDamagedEstimates(t *testing.T) {
	dir := t.TempDir()
	row := EstimateRow{Job: "j", Model: "m", Predicted: 2, Actual: 3}
	if err := WriteEstimates(dir, []EstimateRow{row}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, Estimates.File)
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	row.Actual = -1
	for text, want := range map[string]float64{string(raw): 3, string(raw) + "1,2\n": -1} {
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o644), WriteEstimates(dir, []EstimateRow{row})); err != nil {
			t.Fatal(err)
		}
		rows, err := Estimates.Read(dir)
		if err != nil || len(rows) != 1 || rows[0].Actual != want {
			t.Errorf("%+v, %v, want %g", rows, err, want)
		}
	}
}
