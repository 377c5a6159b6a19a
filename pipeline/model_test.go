package pipeline

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/pipeline/history"
	"github.com/tfexp/tfexp/results/record"
)

// A model is the abstract state of one folder of results: its lock, its cells, and the processes of the run that uses
// it.
type model struct {
	locked, swept          bool // by the run that is alive: it holds the lock; it has removed leftovers
	guardian, jobs, noted  bool // the guardian process lives; jobs live; the folder names their processes
	alive                  bool // a run exists
	begun, whole, recorded [4]bool
}

// Events of a run in a folder. An event of a cell is followed by the number of the cell.
const (
	evStart, evLock, evSweep, evBegin, evNote, evFork   = "start", "lock", "sweep", "begin", "note", "fork"
	evExit, evWhole, evEnd, evRelease                   = "exit", "whole", "end", "release"
	evKill, evKillGuardian, evGuardianKills, evPowerCut = "kill", "kill guardian", "guardian kills", "power cut"
)

// next returns the state after an event, and whether the event is possible in state m.
func (m model) next(event string, cell int) (model, bool) {
	running := m.alive && m.locked && m.swept
	switch event {
	case evStart:
		ok := !m.alive
		m.alive, m.guardian, m.locked, m.swept, m.begun = true, true, false, false, [4]bool{}
		return m, ok
	case evLock:
		ok := m.alive && !m.locked
		m.locked = true
		return m, ok
	case evSweep: // by the names in the folder; it waits for processes that the guardian kills
		ok := m.alive && m.locked && !m.swept && (!m.jobs || m.noted)
		m.swept, m.jobs, m.noted = true, false, false
		return m, ok
	case evBegin:
		ok := running && !m.whole[cell]
		m.begun[cell] = true
		return m, ok
	case evNote:
		m.noted = true
		return m, running
	case evFork:
		m.jobs = true
		return m, running && m.noted
	case evExit: // the last job exits
		ok := m.jobs
		m.jobs = false
		return m, ok
	case evWhole: // all files of the cell are on the disk
		ok := running && m.begun[cell] && !m.jobs
		m.whole[cell] = true
		return m, ok
	case evEnd: // the journal and the cache record that the cell has finished
		ok := running && m.whole[cell]
		m.recorded[cell] = true
		return m, ok
	case evRelease:
		ok := running && !m.jobs
		m.alive, m.locked, m.swept, m.guardian = false, false, false, false
		return m, ok
	case evKill: // the operating system releases the lock
		ok := m.alive
		m.alive, m.locked, m.swept = false, false, false
		return m, ok
	case evKillGuardian:
		ok := m.guardian && !m.alive
		m.guardian = false
		return m, ok
	case evGuardianKills:
		ok := m.guardian && !m.alive
		m.jobs, m.guardian = false, false
		return m, ok
	case evPowerCut:
		m.alive, m.locked, m.swept, m.guardian, m.jobs = false, false, false, false, false
		return m, true
	}
	return m, false
}

// wrong returns why a state must never occur, or "" if it may.
func (m model) wrong() string {
	for i := range m.whole {
		if m.recorded[i] && !m.whole[i] {
			return "a cell is recorded, and not on the disk"
		}
	}
	switch {
	case m.jobs && !m.alive && !m.guardian && !m.noted:
		return "jobs run that nobody knows of"
	case m.locked && !m.alive:
		return "the lock has no holder"
	}
	return ""
}

// TestModel visits all states of two cells that runs, kills and power cuts can reach. From each state a last run must
// finish all cells and leave no process.
func TestModel(t *testing.T) {
	events := []string{evStart, evLock, evSweep, evNote, evFork, evExit, evRelease, evKill, evKillGuardian, evGuardianKills,
		evPowerCut, evBegin, evWhole, evEnd}
	seen := map[model]bool{{}: true}
	steps := 0
	for queue := []model{{}}; len(queue) > 0; queue = queue[1:] {
		m := queue[0]
		if why := m.wrong(); why != "" {
			t.Fatalf("%s: %+v", why, m)
		}
		finishes(t, m)
		for _, event := range events {
			for cell := range 2 {
				if to, ok := m.next(event, cell); ok && !seen[to] {
					seen[to] = true
					queue = append(queue, to)
				} else if ok {
					steps++
				}
			}
		}
	}
	t.Logf("%d states, %d steps between them", len(seen), steps)
	if len(seen) < 300 {
		t.Error("the model has become too small")
	}
}

// finishes runs the model from state m to its end, without faults.
func finishes(t *testing.T, m model) {
	t.Helper()
	do := func(event string, cell int) {
		to, ok := m.next(event, cell)
		if !ok {
			t.Fatalf("%s %d cannot happen in %+v", event, cell, m)
		}
		m = to
	}
	if m.alive {
		do(evKill, 0)
	}
	if m.guardian {
		do(evGuardianKills, 0)
	}
	do(evStart, 0)
	do(evLock, 0)
	do(evSweep, 0)
	for cell := range 2 {
		if !m.whole[cell] {
			do(evBegin, cell)
			do(evNote, cell)
			do(evFork, cell)
			do(evExit, cell)
			do(evWhole, cell)
		}
		do(evEnd, cell)
	}
	if do(evRelease, 0); m.jobs || m.wrong() != "" {
		t.Fatalf("in the end: %+v", m)
	}
}

// TestTracesAreOfTheModel checks that the operations of runs that are killed again and again are transitions of the
// model.
func TestTracesAreOfTheModel(t *testing.T) {
	quiet(t)
	if engine.Find(dice.Name) == nil {
		engine.Register(dice)
	}
	top := memory(t)
	n := need.Cases(4, 8)
	switch {
	case *seeds > 0:
		n = 100
	case testing.Short():
		n = 2
	}
	checked := 0
	for seed := range n {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, filepath.Join(top, fmt.Sprint(seed)), uint64(seed))
			for try := range 4 {
				what := []int{kill, killBoth, kill, nothing}[try]
				w.note(evStart)
				_ = w.run(t, chaosFile, what, 1+w.random.IntN(2000))
				switch {
				case w.dead == nil:
					w.note(evRelease)
				case what == kill:
					w.note(evKill)
					w.note(evGuardianKills)
				default:
					w.note(evKill)
					w.note(evKillGuardian)
				}
			}
			checked += follows(t, w)
		})
	}
	t.Logf("%d steps of %d folders", checked, n)
}

// note adds an event to the world's trace.
func (w *world) note(event string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trace = append(w.trace, event)
}

// traced adds to the trace the event that corresponds to an operation on files. mu must be held.
func (w *world) traced(op, path string) {
	_, to, _ := strings.Cut(path, " -> ")
	event := ""
	switch base := filepath.Base(path); {
	case op == "lock" && base == record.LockFile:
		event = evLock
	case op == "write" && base == record.JournalFile:
		event = "journal"
	case op == "write" && base == "dice.txt":
		event = evNote
	case op == "rename" && filepath.Base(to) == record.CellFile && filepath.Base(filepath.Dir(to)) != record.TwinDir:
		event = evWhole + " " + filepath.Base(filepath.Dir(to))
	}
	if event != "" {
		w.trace = append(w.trace, event)
	}
}

// follows checks that a trace is a path through the model, and returns the number of its events.
func follows(t *testing.T, w *world) int {
	t.Helper()
	lines, err := history.ReadJournal(filepath.Join(w.out, "chaos"))
	if err != nil {
		t.Fatal(err)
	}
	var m model
	var cells []string
	steps, alive := 0, 0
	for i, event := range w.trace {
		name := ""
		if event == "journal" {
			if len(lines) == 0 {
				t.Fatal("the journal lacks lines")
			}
			event, name = lines[0].Event, lines[0].Unit
			switch lines = lines[1:]; event {
			case "cell_start":
				event = evBegin
			case "cell_end":
				event = evEnd
			default:
				continue
			}
		} else if word, rest, ok := strings.Cut(event, " "); ok && word == evWhole {
			event, name = word, rest
		}
		switch event {
		case evFork:
			alive++
		case evExit:
			if alive--; alive > 0 {
				continue // the model's event is the exit of the last process
			}
		case evGuardianKills, evSweep, evPowerCut:
			alive = 0
		}
		cell := 0
		if name != "" {
			if cell = slices.Index(cells, name); cell < 0 {
				cell, cells = len(cells), append(cells, name)
			}
		}
		to, ok := m.next(event, cell)
		if !ok || to.wrong() != "" {
			t.Fatalf("step %d, %s %s, is none of the model in %+v %s\n%v", i, event, name, m, to.wrong(), w.trace[max(0, i-12):i+1])
		}
		m = to
		steps++
	}
	return steps
}
