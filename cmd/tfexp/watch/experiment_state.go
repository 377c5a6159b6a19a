package watch

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
)

// complete reports whether the cell has results under its current key in the plan.
func (x *experiment) complete(c record.CellRef) bool {
	e, ok := x.done[c.Cell]
	_, runs := x.now[c.Cell]
	return ok && !runs && (e.key == c.Key || e.key == "" || c.Key == "")
}

func (x *experiment) state(c record.CellRef) string {
	if _, runs := x.now[c.Cell]; runs {
		if _, held := store.Holder(x.dir); held {
			return running
		}
		return interrupted
	}
	if x.complete(c) {
		return x.done[c.Cell].state
	}
	return "waiting"
}

// refresh reads changes of the experiment's files.
func (x *experiment) refresh() error {
	if x.journal == nil {
		x.journal = &fileFollower{dir: x.dir, name: [][]string{{record.JournalFile}}}
		x.now, x.done, x.cells = map[string]time.Time{}, map[string]completeCell{}, map[string]*cellFollower{}
		x.stands = map[string]*progressFollower{}
	}
	lines, _, err := x.journal.newLines()
	if err != nil {
		return fmt.Errorf("read journal: %w", err)
	}
	first := x.planAt == nil
	for _, line := range lines {
		var e store.JournalEntry
		if json.Unmarshal(line, &e) == nil {
			x.entry(e, first)
		}
	}
	info, err := folder.Stat(x.dir, record.PlanFile)
	if err != nil {
		return err
	}
	if first || !sameVersion(info, x.planAt) {
		if err := x.readPlan(info); err != nil {
			return err
		}
	}
	if err := folder.ReadJSON(x.dir, &x.run, record.RunFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// entry processes a line of the journal. first is true for lines of the first read; the cells are read afterwards, so
// ends of cells are ignored.
func (x *experiment) entry(e store.JournalEntry, first bool) {
	if x.lines = append(x.lines, e); len(x.lines) > mostJournal {
		x.lines = slices.Clone(x.lines[1:])
	}
	switch e.Event {
	case "run_start":
		x.began, x.over, x.first, x.ran, x.warned = e.Time, time.Time{}, time.Time{}, 0, nil
		clear(x.now)
	case "run_end":
		x.over = e.Time
		clear(x.now)
		clear(x.stands)
	case "cell_start":
		x.now[e.Unit] = e.Time
		if x.first.IsZero() {
			x.first = e.Time
		}
		if c := x.cells[e.Unit]; c != nil { // the new files of the cell have other names
			delete(x.cells, e.Unit)
			x.used = slices.DeleteFunc(x.used, func(n string) bool { return n == e.Unit })
		}
	case "cell_end":
		delete(x.now, e.Unit)
		delete(x.stands, e.Unit)
		x.ran++
		if !first {
			x.readCell(e.Unit)
		}
	case "warning":
		x.warned = append(x.warned, record.Warning{Code: e.State, Cell: e.Unit, Text: e.Text})
	case "cell_restored":
		if !first {
			x.readCell(e.Unit)
		}
	}
}

// readPlan reads the plan and the complete cells.
func (x *experiment) readPlan(info fs.FileInfo) error {
	var plan record.Plan
	if err := record.ReadPlan(x.dir, &plan); err != nil {
		return err
	}
	x.plan, x.planAt, x.index = plan, info, map[string]int{}
	for i, c := range plan.Cells {
		x.index[c.Cell] = i
	}
	if x.shards == nil {
		var err error
		if x.shards, err = record.OpenShards(x.dir, ""); err != nil {
			return err
		}
	}
	for _, c := range plan.Cells {
		if !filepath.IsLocal(c.Cell) {
			return fmt.Errorf("%s has a cell %q, which cannot be the name of a folder", record.PlanFile, c.Cell)
		}
		if e, ok := x.done[c.Cell]; !ok || e.key != c.Key {
			x.readCell(c.Cell)
		}
	}
	return nil
}

// readCell reads the result of a cell, if it is complete.
func (x *experiment) readCell(cell string) {
	delete(x.done, cell)
	c := record.Cell{}
	if !x.readSharded(cell, &c) && folder.ReadJSON(x.dir, &c, record.CellsDir, cell, record.CellFile) != nil {
		return
	}
	e := completeCell{key: c.Key, state: c.State, error: c.Error, seconds: c.Seconds}
	e.began, _ = time.Parse(time.RFC3339Nano, c.Began)
	if e.error == "" && len(c.Failures) > 0 {
		e.error = c.Failures[0].Job + ": " + c.Failures[0].Reason
	}
	known := func(m measure.Metric) *float64 {
		if v := m.Of(&c.Metrics); v == v {
			return &v
		}
		return nil
	}
	e.jct, e.makespan = known(measure.MeanJCT), known(measure.Makespan)
	e.jobs, e.finished, e.lost = measure.Jobs.CountOf(&c.Metrics), measure.Finished.CountOf(&c.Metrics),
		measure.Failed.CountOf(&c.Metrics)
	x.done[cell] = e
}

// readSharded reads a cell from a shard.
func (x *experiment) readSharded(cell string, c *record.Cell) bool {
	i, ok := x.index[cell]
	if !ok {
		return false
	}
	at, ok := x.shards.Find(cell, x.plan.Cells[i].Key)
	if !ok && x.shards.Update() == nil {
		at, ok = x.shards.Find(cell, x.plan.Cells[i].Key)
	}
	if !ok {
		return false
	}
	l, err := x.shards.Line(at)
	if err != nil {
		return false
	}
	*c = l.Result
	return true
}
