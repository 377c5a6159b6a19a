package record

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/table"
)

// Experiment is the state of an experiment's folder, read from its files. A run may write to them at the same time.
type Experiment struct {
	Dir  string
	Plan Plan
	// Run is the zero value if run.json does not exist yet.
	Run Run
	// Cells are the complete cells, in the order of the plan.
	Cells []Cell
	// Missing are the cells that are not complete yet, in the order of the plan.
	Missing []CellRef
	// Beyond are the complete cells outside the matrix. Plan.Cells and Cells do not contain them.
	Beyond []Cell

	shards *Shards // the cells without folders
}

// Open reads plan.json, run.json and the complete cells in dir. Missing are cells that do not exist, are incomplete,
// or were run under another plan. If plan.json does not exist, the error wraps fs.ErrNotExist.
func Open(dir string) (*Experiment, error) {
	folder.Enclose(dir)
	e := &Experiment{Dir: dir}
	if err := ReadPlan(dir, &e.Plan); err != nil {
		return nil, fmt.Errorf("open results: %w", err)
	}
	measure.SeeCurrency(e.Plan.Currency)
	if e.Plan.Experiment == "" || !filepath.IsLocal(e.Plan.Experiment) {
		return nil, fmt.Errorf("open results: %w", &folder.DamagedError{Path: filepath.Join(dir, PlanFile), Line: 1,
			Reason: "it names no experiment"})
	}
	if err := folder.ReadJSON(dir, &e.Run, RunFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open results: %w", err)
	}
	sharded, err := e.sharded()
	if err != nil {
		return nil, fmt.Errorf("open results: %w", err)
	}
	for i, ref := range e.Plan.Cells {
		if !filepath.IsLocal(ref.Cell) {
			return nil, fmt.Errorf("open results: %w", &folder.DamagedError{Path: filepath.Join(dir, PlanFile), Line: 1,
				Reason: fmt.Sprintf("it has a cell %q, which cannot be the name of a folder", ref.Cell)})
		}
		c, ok := sharded[i]
		delete(sharded, i)
		if !ok {
			c, err = readCell(dir, ref.Cell, ref)
		}
		switch {
		case !ok && unread(err):
			return nil, fmt.Errorf("open results: %w", err)
		case !ok && err != nil:
			e.Missing = append(e.Missing, ref)
		case ref.Beyond != nil:
			e.Beyond = append(e.Beyond, c)
		default:
			e.Cells = append(e.Cells, c)
		}
	}
	e.Plan.Cells = slices.DeleteFunc(e.Plan.Cells, func(c CellRef) bool { return c.Beyond != nil })
	return e, nil
}

// sharded reads the cells of the plan that are in shards, by index in the plan.
func (e *Experiment) sharded() (map[int]Cell, error) {
	var err error
	if e.shards, err = OpenShards(e.Dir, ""); err != nil {
		return nil, err
	}
	cells, refs := map[int]Cell{}, e.Plan.Cells
	key := func(i int) (string, string) { return refs[i].Cell, refs[i].Key }
	err = e.shards.All(len(refs), key, func(i int, l ShardLine) {
		l.Result.CellRef = refs[i]
		cells[i] = l.Result
	})
	return cells, err
}

// Description returns the description of a cell's key: everything that the cell depends on. The error wraps
// fs.ErrNotExist if it is unknown.
func (e *Experiment) Description(c CellRef) (string, error) {
	if at, ok := e.shards.Find(c.Cell, c.Key); ok {
		l, err := e.shards.Line(at)
		return l.DependsOn, err
	}
	raw, err := folder.ReadFile(e.Dir, CellsDir, c.Cell, KeyFile)
	return string(raw), err
}

var (
	errOtherPlan = errors.New("cell belongs to another plan")
	errTorn      = errors.New("files of the cell are missing or truncated")
)

// unread reports whether the system could not read a file, because of the disk or too many open files. The content
// may be fine.
func unread(err error) bool {
	var number syscall.Errno
	return errors.As(err, &number) && !slices.Contains([]syscall.Errno{syscall.ENOENT, syscall.ENOTDIR, syscall.EISDIR,
		syscall.EACCES, syscall.EPERM, syscall.ELOOP, syscall.ENAMETOOLONG}, number)
}

// readCell reads the cell (or simulation of a cell) in a folder below cells.
func readCell(dir, at string, ref CellRef) (Cell, error) {
	c := Cell{Load: measure.OfferedLoad{Offered: math.NaN()}} // files of earlier versions lack it
	if err := folder.ReadJSON(dir, &c, filepath.Join(CellsDir, at, CellFile)); err != nil {
		return Cell{}, err
	}
	if c.Key != "" && ref.Key != "" && c.Key != ref.Key {
		return Cell{}, errOtherPlan
	}
	if !whole(dir, filepath.Join(CellsDir, at), c.Files) {
		return Cell{}, errTorn
	}
	// The place of the cell can have changed in the plan; equal keys mean that the results are the same.
	c.CellRef = ref
	return c, nil
}

// Simulation reads the simulation of a real cell.
func (e *Experiment) Simulation(c CellRef) (Cell, error) {
	return readCell(e.Dir, c.Twin().Cell, c.Twin())
}

// Complete reports whether every cell of the plan exists.
func (e *Experiment) Complete() bool { return len(e.Missing) == 0 }

// FailedCells returns the complete cells with the state failed.
func (e *Experiment) FailedCells() []Cell {
	var failed []Cell
	for _, c := range e.Cells {
		if c.State == CellFailed {
			failed = append(failed, c)
		}
	}
	return failed
}

// Warnings returns the warnings of the run and then of its cells, without repetitions.
func (e *Experiment) Warnings() []Warning {
	var out []Warning
	seen := map[Warning]bool{}
	add := func(w Warning) {
		if !seen[w] {
			seen[w] = true
			out = append(out, w)
		}
	}
	for _, w := range e.Run.Warnings {
		add(w)
	}
	for _, c := range slices.Concat(e.Cells, e.Beyond) {
		for _, w := range c.Warnings {
			w.Cell = cmp.Or(w.Cell, c.Cell)
			add(w)
		}
	}
	if failed := len(e.FailedCells()); failed > 0 {
		noun := "cells"
		if len(e.Cells) == 1 {
			noun = "cell"
		}
		add(Warning{Code: "failed_cells", Text: fmt.Sprintf(
			"something failed in %d of %d %s: means are over the finished jobs, and only cells in which the same jobs finished "+
				"are compared",
			failed, len(e.Cells), noun)})
	}
	return out
}

// open opens a file of a cell.
func (e *Experiment) open(c CellRef, file string) (*folder.File, error) {
	if e.lacksFolder(c) {
		return nil, &fs.PathError{Op: "open", Path: filepath.Join(e.Dir, CellsDir, c.Cell, file), Err: fs.ErrNotExist}
	}
	return folder.Open(e.Dir, CellsDir, c.Cell, file)
}

// lacksFolder reports whether the cell is in a shard, so that it has no files.
func (e *Experiment) lacksFolder(c CellRef) bool {
	_, sharded := e.shards.Find(c.Cell, c.Key)
	return sharded
}

// ReadLive reads a table of a cell that may still run. The error wraps fs.ErrNotExist if there is no table.
func ReadLive[T any](e *Experiment, c CellRef, kind *table.Schema[T]) ([]T, error) {
	if e.lacksFolder(c) {
		return nil, fs.ErrNotExist
	}
	return kind.ReadLive(e.Dir, CellsDir, c.Cell)
}

// Jobs reads a cell's jobs.csv. If the cell recorded only metrics, the error wraps fs.ErrNotExist.
func (e *Experiment) Jobs(c CellRef) ([]JobRow, error) {
	var rows []JobRow
	err := e.eachJob(c, Jobs, 1, func(r *JobRow) bool {
		rows = append(rows, *r)
		return true
	})
	return rows, err
}

// EachJob calls each for rows of a cell's jobs.csv, until it returns false. Only the named columns are read; other
// fields are unspecified. With step > 1, only every step-th row is read, starting with the first. The row is reused:
// each must not keep it. EachJob returns the errors of Jobs.
func (e *Experiment) EachJob(c CellRef, names []string, step int, each func(*JobRow) bool) error {
	return e.eachJob(c, Jobs.Only(names), step, each)
}

func (e *Experiment) eachJob(c CellRef, kind *table.Schema[JobRow], step int, each func(*JobRow) bool) error {
	f, err := e.open(c, Jobs.File)
	if err != nil {
		return fmt.Errorf("read jobs of cell %s: %w", c.Cell, err)
	}
	defer f.Close()
	return kind.Each(f, f.Name(), step, func(r *JobRow) bool {
		r.Axes = c.Axes
		return each(r)
	})
}

// Events reads a cell's events.jsonl, line by line.
func (e *Experiment) Events(c CellRef) iter.Seq2[EventRow, error] {
	return readLines[EventRow](e, c, EventsFile)
}

// Decisions reads a cell's decisions.jsonl, line by line.
func (e *Experiment) Decisions(c CellRef) iter.Seq2[DecisionRow, error] {
	return readLines[DecisionRow](e, c, DecisionsFile)
}

// Occupancy reads a cell's occupancy.csv. If the cell recorded only metrics, the error wraps fs.ErrNotExist.
func (e *Experiment) Occupancy(c CellRef) ([]measure.Occupancy, error) {
	var rows []measure.Occupancy
	err := e.EachOccupancy(c, 1, func(r *measure.Occupancy) bool {
		rows = append(rows, *r)
		return true
	})
	return rows, err
}

// EachOccupancy calls each for rows of a cell's occupancy.csv, until it returns false. With step > 1, only every
// step-th row is read, starting with the first. The row is reused: each must not keep it. EachOccupancy returns the
// errors of Occupancy.
func (e *Experiment) EachOccupancy(c CellRef, step int, each func(*measure.Occupancy) bool) error {
	f, err := e.open(c, Occupancy.File)
	if err != nil {
		return fmt.Errorf("read occupancy of cell %s: %w", c.Cell, err)
	}
	defer f.Close()
	return Occupancy.Each(f, f.Name(), step, each)
}

// Pictures reads the list of drawn pictures, with paths relative to the experiment's folder. It is empty if the file
// does not exist.
func (e *Experiment) Pictures() ([]Picture, error) {
	var pictures []Picture
	err := folder.ReadJSON(e.Dir, &pictures, filepath.Join(PlotsDir, PicturesFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for i := range pictures {
		for _, p := range []*string{&pictures[i].SVG, &pictures[i].PNG, &pictures[i].PDF} {
			if *p != "" {
				*p = PlotsDir + "/" + *p
			}
		}
	}
	return pictures, err
}

// Source returns the name and the content of the experiment file that was run.
func (e *Experiment) Source() (name, text string, err error) {
	for _, name := range []string{ExperimentFile, ExperimentFile + ".json"} {
		raw, err := folder.ReadFile(e.Dir, name)
		if err == nil {
			return name, strings.ToValidUTF8(string(raw), "\uFFFD"), nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return "", "", fmt.Errorf("read experiment file: %w", err)
		}
	}
	return "", "", fmt.Errorf("read experiment file: %w", fs.ErrNotExist)
}
