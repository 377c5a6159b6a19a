package tasks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/stages"
)

// The tests have two engines: one with a batch system, which is the test's own, and one of this machine.
const batched, local = "batched", "local"

var system *memory

func init() {
	kind := engine.Kind{
		Name: local, Doc: "Test.", Traits: engine.Traits{Real: true, Here: true},
		Capabilities: func(*engine.Hardware) scheduler.Capabilities { return scheduler.Capabilities{} },
		Open:         func(engine.Run) (engine.Session, []string, error) { return nil, nil, nil },
	}
	other := kind
	other.Name, other.Here, other.Batch = batched, false, func() engine.Batch { return system }
	engine.Register(&kind)
	engine.Register(&other)
}

// memory is a batch system in memory, and the run that has its cells. A task runs about a minute after it was
// submitted, on the virtual clock of a synctest bubble.
type memory struct {
	stages.Experiment
	stages.Sampling
	stages.PastRuns
	stages.CellQueue
	stages.Shards
	stages.CellFolders
	stages.Pieces
	stages.Engines
	stages.Log
	dir   string
	cells []record.CellRef
	how   Place
	// fate returns the outcome of a task at a start, which is counted from 1. check and submit are errors of the
	// system. waits is why tasks wait.
	fate          func(task, start int) string
	check, submit error
	waits         string

	nodes     sync.WaitGroup
	mu        sync.Mutex // guards the fields below
	submitted []engine.Array
	cancelled []string
	forgotten []string
	alive     map[string][]int
	starts    map[int]int
	done      map[string]record.Cell // by cell
	hidden    map[string]bool        // cells that are done, but not seen yet
	told      []string               // notes, and the names of finished cells
}

func newMemory(t *testing.T, cells ...record.CellRef) *memory {
	m := &memory{dir: t.TempDir(), cells: cells, how: Place{On: batched, Command: []string{"tfexp", "task"}},
		alive: map[string][]int{}, starts: map[int]int{}, done: map[string]record.Cell{}, hidden: map[string]bool{},
		fate: func(int, int) string { return "" }}
	system = m
	return m
}

// cell returns a cell of an engine. Without an engine, the cell is simulated.
func cell(name, engine string, cores int) record.CellRef {
	c := record.CellRef{Cell: name, Key: "key of " + name, Engine: engine, Simulated: engine == "", Cores: cores}
	if c.Simulated {
		c.Engine = "simulated"
	}
	return c
}

func simulatedCells(n int) (cells []record.CellRef) {
	for i := range n {
		cells = append(cells, cell(fmt.Sprint("s", i), "", 4))
	}
	return cells
}

// run runs all cells. It returns the cells that must run here.
func (m *memory) run(ctx context.Context) (here []int, err error) {
	all := make([]int, len(m.cells))
	for i := range all {
		all[i] = i
	}
	return m.how.Run(ctx, m.stage(), all, m.End)
}

func (m *memory) stage() *stages.Run {
	return &stages.Run{Dir: m.dir, Plan: &record.Plan{Experiment: "x", Cells: m.cells}, Place: &m.how,
		Experiment: m, Sampling: m, PastRuns: m,
		CellQueue: m, Shards: m, CellFolders: m, Pieces: m, Engines: m, Log: m}
}

// bubble calls a function on a virtual clock, and waits until all tasks are over.
func (m *memory) bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		defer m.nodes.Wait()
		f(t)
	})
}

func (m *memory) Check(context.Context, engine.Array) (string, error) { return m.waits, m.check }

func (m *memory) Submit(_ context.Context, a engine.Array) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.submit != nil && len(m.submitted) > 0 {
		return "", m.submit
	}
	m.submitted = append(m.submitted, a)
	job := fmt.Sprint("job", len(m.submitted))
	m.alive[job] = slices.Clone(a.Tasks)
	for _, n := range a.Tasks {
		m.starts[n]++
		start := m.starts[n]
		m.nodes.Go(func() { m.task(job, n, start) })
	}
	return job, nil
}

func (m *memory) UnfinishedTasks(_ context.Context, jobs []string) (map[string][]int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	alive := map[string][]int{}
	for _, j := range jobs {
		if len(m.alive[j]) > 0 {
			alive[j] = slices.Clone(m.alive[j])
		}
	}
	return alive, nil
}

func (m *memory) Cancel(_ context.Context, jobs []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cancelled = append(m.cancelled, jobs...)
	m.nodes.Go(func() { // programs take a while to end
		time.Sleep(2500 * time.Millisecond)
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, j := range jobs {
			delete(m.alive, j)
		}
	})
	return nil
}

func (m *memory) Forget(_ context.Context, jobs []string) error {
	m.forgotten = append(m.forgotten, jobs...)
	return nil
}

// task runs a task on its node.
func (m *memory) task(job string, n, start int) {
	time.Sleep(time.Minute + lookPause/3) // between two looks, so that all that ends then is seen by the same one
	m.mu.Lock()
	wanted := slices.Contains(m.alive[job], n)
	if start > 1 {
		clear(m.hidden)
	}
	m.mu.Unlock()
	if !wanted {
		return
	}
	fate := m.fate(n, start)
	ran := 0
	one := func(_ context.Context, t stages.Task, _ string) (record.Cell, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		ref := t.Setup.Cell
		if ran++; fate == "dies" || fate == "dies after one" && ran > 1 {
			return record.Cell{}, errors.New("killed")
		}
		m.hidden[ref.Cell] = fate == "unseen"
		m.done[ref.Cell] = record.Cell{CellRef: ref, State: record.CellFinished, Seconds: 2}
		return m.done[ref.Cell], nil
	}
	complete := func(string, string) bool { return false }
	if err := runCells(context.Background(), m.dir, n, complete, one); err != nil {
		os.WriteFile(taskFile(m.dir, n, ".out"), []byte("begins\nout of memory\n"), 0o644)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.alive[job] = slices.DeleteFunc(m.alive[job], func(t int) bool { return t == n })
}

// fakeCell is a cell with a description. Cells named "unknown" have no estimate.
type fakeCell struct{ record.CellRef }

func (c fakeCell) Twin(stages.Seen) (stages.Task, string, error) { return stages.Task{}, "", nil }
func (fakeCell) Beside() int                                     { return 0 }
func (fakeCell) Estimated() []record.Estimated                   { return nil }
func (c fakeCell) Task(f stages.Folders) (stages.Task, error) {
	if c.Cell == "unknown" {
		return stages.Task{}, stages.ErrNoEstimate
	}
	task := stages.Task{Folders: f, Setup: record.Setup{Cell: c.CellRef}}
	if c.Simulated {
		task.Records = record.MetricsOnly
	}
	return task, nil
}

func (m *memory) Cell(i int) stages.Cell   { return fakeCell{m.cells[i]} }
func (m *memory) Description(i int) string { return m.cells[i].Key }
func (m *memory) Sharded(i int) bool       { return m.cells[i].Simulated }
func (m *memory) RefreshShards() error     { return nil }
func (m *memory) Reused() int              { return 0 }
func (m *memory) FollowingCells() int      { return 0 }
func (m *memory) Observe(p stages.Progress) {
	if p.Kind == stages.WarningSeen {
		_ = m.say("warning: %s", p.Text)
	}
}
func (m *memory) Begin(i int) (string, error) {
	if m.Sharded(i) {
		return "", nil
	}
	return os.MkdirTemp(m.dir, "cell")
}
func (m *memory) say(format string, args ...any) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told = append(m.told, fmt.Sprintf(format, args...))
	return nil
}
func (m *memory) ShardCell(i int) (record.Cell, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	name := m.cells[i].Cell
	c, ok := m.done[name]
	return c, ok && !m.hidden[name]
}
func (m *memory) AddToShard(i int, c record.Cell) error {
	return m.say("%s is in a shard", m.cells[i].Cell)
}
func (m *memory) Note(n stages.Note) error { return m.say("%s %s: %s", n.Event, n.Unit, n.Text) }
func (m *memory) End(i int, c record.Cell, took time.Duration) error {
	return m.say("%s", strings.TrimSuffix(fmt.Sprintf("%s: %s %s: %s", m.cells[i].Cell, c.State, took, c.Error), ": "))
}

// requests describes the submitted tasks.
func (m *memory) requests() string {
	var all []string
	for _, a := range m.submitted {
		text := fmt.Sprintf("tasks %v on %d cores", a.Tasks, a.Threads)
		if a.Whole {
			text += " of a node of their own"
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

func (m *memory) wants(t *testing.T, what string, want ...string) {
	t.Helper()
	if d := cmp.Diff(want, m.told); d != "" {
		t.Errorf("%s:\n%s", what, d)
	}
}

// hasFolder reports whether there is a folder of tasks.
func (m *memory) hasFolder() bool {
	_, err := os.Stat(filepath.Join(m.dir, arrayDir))
	return err == nil
}

// Simulated cells share tasks; each real cell of this machine has its own node. Cells of the batch system's own engine,
// and cells without an estimate, run here.
func TestCells(t *testing.T) {
	m := newMemory(t, append(simulatedCells(22), cell("r1", local, 8), cell("far", batched, 64), cell("unknown", "", 4),
		cell("r2", local, 2))...)
	m.how.AtOnce, m.how.Args = 3, map[string]string{"qos": "low"}
	m.bubble(t, func(t *testing.T) {
		here, err := m.run(t.Context())
		if err != nil || !slices.Equal(here, []int{23, 24}) {
			t.Fatalf("cells %v run here: %v", here, err)
		}
	})
	want := "tasks [0 1] on 1 cores; tasks [2 3] on 8 cores of a node of their own"
	if got := m.requests(); got != want {
		t.Errorf("submitted: %s; want %s", got, want)
	}
	a := m.submitted[0]
	if want := append(slices.Clone(m.how.Command), m.dir); !slices.Equal(a.Command, want) || a.AtOnce != 3 ||
		a.Args["qos"] != "low" || a.Dir != filepath.Join(m.dir, arrayDir) || a.Name != "tfexp-x" {
		t.Errorf("submitted: %+v", a)
	}
	if len(m.told) != 2+24 || m.told[0] != "array_submitted job1: 2 tasks on batched" ||
		!slices.Contains(m.told, "s21: finished 2s") || !slices.Contains(m.told, "r2: finished 2s") || len(m.cancelled) > 0 {
		t.Errorf("%q, cancelled: %q", m.told, m.cancelled)
	}
	if m.hasFolder() || !slices.Equal(m.forgotten, []string{"job1", "job2"}) {
		t.Errorf("something is left behind; removed: %q", m.forgotten)
	}
}

// A warning says why tasks wait, and they are submitted.
func TestWaitingTasks(t *testing.T) {
	m := newMemory(t, simulatedCells(1)...)
	m.waits = "no node has room"
	m.bubble(t, func(t *testing.T) {
		if _, err := m.run(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	m.wants(t, "tasks that wait", "warning: the tasks wait on batched, and could not be checked before: no node has room",
		"array_submitted job1: 1 tasks on batched", "s0: finished 2s")
}

// A lost task is submitted again. After the third loss, its incomplete cells have failed. The results of a task are
// collected as soon as they are visible.
func TestLostTasks(t *testing.T) {
	cells := append(simulatedCells(4), cell("r", local, 2))
	for _, c := range []struct {
		name string
		fate func(task, start int) string
		runs string
		told []string
	}{
		{"lost once", func(task, start int) string {
			if task != 1 && start == 1 {
				return "dies"
			}
			return ""
		}, "tasks [0 1] on 1 cores; tasks [2] on 2 cores of a node of their own; tasks [0] on 1 cores; " +
			"tasks [2] on 2 cores of a node of their own", []string{
			"array_submitted job1: 2 tasks on batched", "array_submitted job2: 1 tasks on batched",
			"s2: finished 2s", "s3: finished 2s", "task_lost 0: out of memory", "task_lost 2: out of memory",
			"array_submitted job3: 1 tasks on batched", "array_submitted job4: 1 tasks on batched",
			"s0: finished 2s", "s1: finished 2s", "r: finished 2s"}},
		{"lost for good", func(task, start int) string {
			switch {
			case task == 0 && start == 1:
				return "dies after one"
			case task != 1:
				return "dies"
			}
			return ""
		}, "tasks [0 1] on 1 cores; tasks [2] on 2 cores of a node of their own; tasks [0] on 1 cores; " +
			"tasks [2] on 2 cores of a node of their own; tasks [0] on 1 cores; tasks [2] on 2 cores of a node of their own",
			[]string{
				"array_submitted job1: 2 tasks on batched", "array_submitted job2: 1 tasks on batched",
				"s2: finished 2s", "s3: finished 2s",
				"ONE: finished 2s", "task_lost 0: out of memory", "task_lost 2: out of memory",
				"array_submitted job3: 1 tasks on batched", "array_submitted job4: 1 tasks on batched",
				"task_lost 0: out of memory", "task_lost 2: out of memory",
				"array_submitted job5: 1 tasks on batched", "array_submitted job6: 1 tasks on batched",
				"OTHER is in a shard", "OTHER: failed 0s: its task was lost 3 times on batched; its last output: out of memory",
				"r: failed 0s: its task was lost 3 times on batched; its last output: out of memory"}},
		{"not seen", func(task, start int) string {
			if task == 1 && start == 1 {
				return "unseen"
			}
			return ""
		}, "tasks [0 1] on 1 cores; tasks [2] on 2 cores of a node of their own; tasks [1] on 1 cores", []string{
			"array_submitted job1: 2 tasks on batched", "array_submitted job2: 1 tasks on batched",
			"s0: finished 2s", "s1: finished 2s", "r: finished 2s", "task_lost 1: ",
			"array_submitted job3: 1 tasks on batched", "s2: finished 2s", "s3: finished 2s"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMemory(t, cells...)
			m.how.Batch, m.fate = 2, c.fate
			m.bubble(t, func(t *testing.T) {
				if here, err := m.run(t.Context()); err != nil || len(here) > 0 {
					t.Fatal(here, err)
				}
			})
			one, other := "s0", "s1" // the cells of a task run side by side
			if slices.Contains(m.told, "s1: finished 2s") {
				one, other = other, one
			}
			for i := range c.told {
				c.told[i] = strings.ReplaceAll(strings.ReplaceAll(c.told[i], "ONE", one), "OTHER", other)
			}
			if got := m.requests(); got != c.runs {
				t.Errorf("submitted: %s; want %s", got, c.runs)
			}
			m.wants(t, "notes and cells", c.told...)
		})
	}
}

// A run that does not wait leaves its tasks running, and the next run takes them over. If a cell then has another key,
// the tasks are canceled and all cells are submitted again. If the cells are to run here, the tasks are canceled too.
func TestDetached(t *testing.T) {
	for _, c := range []struct {
		name                  string
		change                func(m *memory)
		how                   Place
		runs, cancelled, here int
	}{
		{"gone on with", func(*memory) {}, Place{}, 1, 0, 0},
		{"changed", func(m *memory) { m.cells[2].Key = "another" }, Place{}, 2, 1, 0},
		{"here", func(*memory) {}, Place{On: onHere}, 1, 1, 3},
		{"nothing left", func(m *memory) { m.cells = nil }, Place{}, 1, 1, 0},
		{"one more", func(m *memory) { m.cells = append(m.cells, cell("more", "", 1)) }, Place{}, 2, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newMemory(t, simulatedCells(3)...)
			m.how.Batch, m.how.AtOnce, m.how.Detach = 2, 5, true
			m.bubble(t, func(t *testing.T) {
				if here, err := m.run(t.Context()); !errors.As(err, new(*stages.Detached)) || len(here) > 0 {
					t.Fatal(here, err)
				}
				old, ok, err := readArray(m.dir)
				if err != nil || !ok || len(old.Tasks) != 2 || old.Tasks[1].Job != "job1" || old.AtOnce != 5 {
					t.Fatalf("%+v, %v, %v", old, ok, err)
				}
				c.change(m)
				m.how = c.how
				here, err := m.run(t.Context())
				if err != nil || len(here) != c.here {
					t.Fatal(here, err)
				}
			})
			if len(m.submitted) != c.runs || len(m.cancelled) != c.cancelled || m.submitted[len(m.submitted)-1].AtOnce != 5 {
				t.Errorf("submitted: %s; cancelled: %v", m.requests(), m.cancelled)
			}
			if want := len(m.cells) - c.here; len(m.done) < want || m.hasFolder() {
				t.Errorf("%d cells of %d; a folder: %v", len(m.done), want, m.hasFolder())
			}
		})
	}
}

// Without a batch system, and without tasks of an earlier run, nothing can be detached.
func TestDetachedHere(t *testing.T) {
	m := newMemory(t, simulatedCells(1)...)
	m.how = Place{Detach: true}
	m.bubble(t, func(t *testing.T) {
		if _, err := m.run(t.Context()); err == nil || !strings.Contains(err.Error(), "--detach needs --on") {
			t.Error(err)
		}
	})
}

// An interrupted run cancels its tasks, and waits until they have ended.
func TestBrokenOff(t *testing.T) {
	m := newMemory(t, append(simulatedCells(1), cell("r", local, 2))...)
	m.bubble(t, func(t *testing.T) {
		ctx, end := context.WithTimeout(t.Context(), 20*time.Second)
		defer end()
		began := time.Now()
		if _, err := m.run(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if took := time.Since(began); took != 23*time.Second {
			t.Errorf("it ended after %s", took)
		}
	})
	if !slices.Equal(m.cancelled, []string{"job1", "job2"}) || m.hasFolder() || len(m.done) > 0 {
		t.Errorf("cancelled: %v, a folder: %v, %v", m.cancelled, m.hasFolder(), slices.Collect(maps.Keys(m.done)))
	}
}

// A cell that cannot run is an error before anything is submitted. If the second array is refused, the first array is
// still recorded.
func TestRefused(t *testing.T) {
	refused := errors.New("no such partition")
	m := newMemory(t, append(simulatedCells(1), cell("r", local, 2))...)
	m.check = refused
	if _, err := m.run(t.Context()); !errors.Is(err, refused) || len(m.submitted) > 0 || m.hasFolder() {
		t.Errorf("%v; submitted: %s", err, m.requests())
	}
	m.check, m.submit = nil, refused
	m.bubble(t, func(t *testing.T) {
		if _, err := m.run(t.Context()); !errors.Is(err, refused) {
			t.Error(err)
		}
	})
	if old, ok, err := readArray(m.dir); err != nil || !ok || old.Tasks[0].Job != "job1" || old.Tasks[1].Job != "" {
		t.Errorf("%+v, %v, %v", old, ok, err)
	}

	m = newMemory(t, simulatedCells(1)...)
	for _, name := range []string{"nothing", local} {
		m.how.On = name
		if _, err := m.run(t.Context()); !errors.As(err, new(*engine.Unavailable)) {
			t.Errorf("%s has a batch system: %v", name, err)
		}
	}
	m.how = Place{}
	if here, err := m.run(t.Context()); err != nil || len(here) != 1 || m.hasFolder() {
		t.Errorf("without a batch system, %v run here: %v", here, err)
	}
}

// Looking for results fails if the cells of a task are missing or damaged. Indexes refer to the list of tasks.
func TestLook(t *testing.T) {
	dir := t.TempDir()
	a := command.New(io.Discard, io.Discard)
	if err := runIndexed(a, dir, "0,3", []string{lookOnly}); err == nil || !strings.Contains(err.Error(), "read the cells") {
		t.Error(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, arrayDir), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(taskFile(dir, 0, cellsEnding), []byte("damaged"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := runIndexed(a, dir, "0,3", []string{lookOnly}); err == nil {
		t.Error("damaged cells are accepted")
	}
	for _, index := range []string{"2", "-1", "x"} {
		err := runIndexed(a, dir, "0,3", []string{index})
		if err == nil || !strings.Contains(err.Error(), "one of 2 tasks") {
			t.Error(err)
		}
	}
}

// The number of tasks of an array is limited. With a lower limit, more simulated cells share a task.
func TestRoomInAnArray(t *testing.T) {
	for _, c := range []struct{ earlier, real, tasks int }{
		{engine.MaxTasks - 5, 2, 3 + 2}, {engine.MaxTasks - 3, 2, 1 + 2}, {engine.MaxTasks - 2, 2, 0}, {0, 0, 3},
	} {
		m := newMemory(t, simulatedCells(45)...)
		for i := range c.real {
			m.cells = append(m.cells, cell(fmt.Sprint("r", i), local, 1))
		}
		a := &array{run: m.stage(), dir: m.dir, cells: m.cells, how: &m.how}
		a.Tasks = make([]task, c.earlier)
		all := make([]int, len(m.cells))
		for i := range all {
			all[i] = i
		}
		failed, err := a.write(all, nil)
		if refused := errors.As(err, new(*engine.Unavailable)); refused != (c.tasks == 0) || !refused && err != nil {
			t.Errorf("%+v: %v", c, err)
		}
		if got := len(a.Tasks) - c.earlier; got != c.tasks || len(a.open) != got || len(failed) > 0 {
			t.Errorf("%d tasks, %d of them open, %v; want %+v", got, len(a.open), failed, c)
		}
	}
}

// A task runs its incomplete cells. It writes their number, and a line in its journal for each cell that ran. If the
// file of cells is damaged, the task fails and writes no result.
func TestRunTask(t *testing.T) {
	dir := taskFolder(t)
	path := taskFile(dir, 3, cellsEnding)
	err := writeCells(path, func(add func(stages.Task, string) error) error {
		for _, name := range []string{"whole", "fails", "finishes", "too"} {
			task := stages.Task{Folders: stages.Folders{Dir: name}, Setup: record.Setup{Cell: cell(name, local, 1)}}
			if err := add(task, "description of "+name); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	complete := func(dir, description string) bool { return dir == "whole" && description == "description of whole" }
	run := func(_ context.Context, t stages.Task, _ string) (record.Cell, error) {
		c := record.Cell{CellRef: t.Setup.Cell, State: record.CellFinished}
		if c.Cell == "fails" {
			c.State, c.Error = record.CellFailed, "exit status 3"
		}
		return c, nil
	}
	if err := runCells(t.Context(), dir, 3, complete, run); err != nil {
		t.Fatal(err)
	}
	x, ok := readTaskExit(dir, 3)
	if x.Host, _ = os.Hostname(); !ok || x.Cells != 4 || x.Ran != 3 || x.Failed != 1 || x.Seconds < 0 {
		t.Errorf("%+v, %v", x, ok)
	}
	journal, err := os.ReadFile(taskFile(dir, 3, ".jsonl"))
	if err != nil || strings.Count(string(journal), "\n") != 3 || !strings.Contains(string(journal),
		`"unit":"fails","state":"failed","text":"exit status 3","seconds":0,"key":"key of fails"}`) {
		t.Errorf("%v, %s", err, journal)
	}

	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(taskFile(dir, 3, ".json"))
	if err := os.WriteFile(path, whole[:len(whole)-20], 0o644); err != nil {
		t.Fatal(err)
	}
	if err := runCells(t.Context(), dir, 3, complete, run); err == nil {
		t.Error("a damaged file of cells is no error")
	}
	if x, ok := readTaskExit(dir, 3); ok {
		t.Errorf("a task that was broken off left %+v", x)
	}
}

// Cells whose jobs need sensitive values are not submitted, because a task does not have these values.
func TestSensitiveCells(t *testing.T) {
	c := cell("a", "process", 1)
	c.Key = "env TOKEN=(sensitive:0123456789abcdef0123456789abcdef)"
	m := newMemory(t, c)
	m.bubble(t, func(t *testing.T) {
		var away *engine.Unavailable
		if _, err := m.run(t.Context()); !errors.As(err, &away) || !strings.Contains(err.Error(), "sensitive") || m.requests() != "" {
			t.Errorf("%v, submitted %q", err, m.requests())
		}
	})
}
