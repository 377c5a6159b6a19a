package record

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/table"
)

// linkJobs makes the experiment's jobs.csv a hard link to the jobs.csv of its only cell, to save space. Neither file
// is written to; files are only replaced. linkJobs returns false and changes nothing if the files would differ, or if
// the file system has no links.
func (e *Experiment) linkJobs() bool {
	if len(e.Cells) != 1 || !slices.Equal(axisNames(e.Cells[0].Axes), e.Plan.Axes) {
		return false
	}
	f, err := e.open(e.Cells[0].CellRef, Jobs.File)
	if err != nil {
		return false
	}
	defer f.Close()
	header := Jobs.Header(e.Plan.Axes)
	first := make([]byte, len(header))
	if _, err := io.ReadFull(f, first); err != nil || !bytes.Equal(first, header) {
		return false // another version wrote the file
	}
	whole := table.Pending{Path: filepath.Join(e.Dir, Jobs.File)}
	if info, err := f.Stat(); err == nil {
		if there, err := os.Stat(whole.Path); err == nil && os.SameFile(info, there) {
			return true
		}
	}
	_ = folder.Remove(whole.Temporary()) // left by a killed run
	return folder.Link(f.Name(), whole.Temporary()) == nil && folder.Rename(whole.Temporary(), whole.Path) == nil
}

// WriteJobs writes jobs.csv with the jobs of all complete cells, in the order of the plan. It keeps only one row in
// memory, and calls each, unless it is nil, for every row. Unlike other tables, jobs.csv is not synced to disk: it
// can be large, and can be made again from the cells' tables.
func (e *Experiment) WriteJobs(each func(CellRef, *JobRow)) error {
	if each == nil && e.linkJobs() {
		return nil
	}
	jobs, err := Jobs.Create(e.Dir, false, e.Plan.Axes)
	if err != nil {
		return err
	}
	defer jobs.Abort()
	for _, c := range e.Cells {
		if err := e.addJobs(jobs, c.CellRef, each); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("write %s: %w", Jobs.File, err)
		}
	}
	_, err = jobs.Replace()
	return err
}

// addJobs appends the jobs of a cell to the experiment's jobs.csv. If each is nil, it copies the lines unchanged.
func (e *Experiment) addJobs(jobs *table.File[JobRow], c CellRef, each func(CellRef, *JobRow)) error {
	if each == nil {
		copied, err := e.copyJobs(jobs, c)
		if copied || err != nil {
			return err
		}
	}
	axes := axisValues(e.Plan.Axes, c.Axes)
	var failed error
	err := e.eachJob(c, Jobs, 1, func(r *JobRow) bool {
		failed = jobs.Add(r, axes)
		if each != nil {
			each(c, r)
		}
		return failed == nil
	})
	return errors.Join(err, failed)
}

// WriteCells writes metrics.csv and timings.csv with all complete cells, in the order of the plan.
func (e *Experiment) WriteCells() error {
	return errors.Join(writeCells(e, Metrics.Only(e.metricColumns()), func(c Cell) Cell { return c }),
		writeCells(e, Timings, func(c Cell) TimingRow { return TimingRow{c.CellRef, c.Seconds, c.Busy} }))
}

// metricColumns returns the columns of metrics.csv. A rare metric has a column if some cell has a value.
func (e *Experiment) metricColumns() (names []string) {
	for _, c := range Metrics.Columns() {
		m, _ := measure.MetricByName(c.Name)
		if !m.Rare || slices.ContainsFunc(e.Cells, func(c Cell) bool { return !math.IsNaN(m.Of(&c.Metrics)) }) {
			names = append(names, c.Name)
		}
	}
	return names
}

func writeCells[T any](e *Experiment, kind *table.Schema[T], row func(Cell) T) error {
	rows, err := kind.Create(e.Dir, true, e.Plan.Axes)
	if err != nil {
		return err
	}
	defer rows.Abort()
	for _, c := range e.Cells {
		one := row(c)
		if err := rows.Add(&one, axisValues(e.Plan.Axes, c.Axes)); err != nil {
			return fmt.Errorf("write %s: %w", kind.File, err)
		}
	}
	_, err = rows.Replace()
	return err
}

// copyJobs copies the lines of a cell's jobs.csv. It replaces the values of the cell's axes by the values of all axes of
// the experiment. It returns false and changes nothing if the file has other columns than this version writes.
func (e *Experiment) copyJobs(jobs *table.File[JobRow], c CellRef) (bool, error) {
	f, err := e.open(c, Jobs.File)
	if err != nil {
		return false, err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<16)
	own := axisNames(c.Axes)
	header, err := in.ReadBytes('\n')
	if err != nil || !bytes.Equal(header, Jobs.Header(own)) {
		return false, nil
	}
	was := table.EndLine([]byte{','}, axisValues(own, c.Axes))
	is := table.EndLine([]byte{','}, axisValues(e.Plan.Axes, c.Axes))
	if bytes.Equal(was, is) {
		_, err := in.WriteTo(jobs)
		return true, err
	}
	var row []byte
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 && len(row) == 0 {
			return true, nil
		}
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return true, fmt.Errorf("read %s: %w", f.Name(), err)
		}
		row = append(row, line...)
		if err != nil || bytes.Count(row, []byte{'"'})%2 != 0 { // the row continues: it is long, or has a line break in quotes
			continue
		}
		rest, ok := bytes.CutSuffix(row, was)
		if !ok {
			return true, fmt.Errorf("read %s: a row does not end in the cell's axes", f.Name())
		}
		if _, err := jobs.Write(append(rest, is...)); err != nil {
			return true, err
		}
		row = row[:0]
	}
}
