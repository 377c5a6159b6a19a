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

// linkJobs links the jobs.csv of the only cell to the experiment, when the two
// are the same: a table of a million jobs need not exist twice. Both are only
// ever replaced as a whole, never written to. It returns false, having done
// nothing, when they are not the same, or the file system has no links.
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
		return false // written by another version
	}
	whole := table.Pending{Path: filepath.Join(e.Dir, Jobs.File)}
	if info, err := f.Stat(); err == nil {
		if there, err := os.Stat(whole.Path); err == nil && os.SameFile(info, there) {
			return true
		}
	}
	_ = folder.Remove(whole.Temporary()) // of a run that was killed
	return folder.Link(f.Name(), whole.Temporary()) == nil && folder.Rename(whole.Temporary(), whole.Path) == nil
}

// WriteJobs writes jobs.csv over the complete cells, in the order of the plan.
// Rows are streamed: no more than one is in memory; each, which may be nil, sees
// them all. Unlike the other tables, jobs.csv, which can be large and is made of
// the cells' own, need not survive a power cut.
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

// addJobs adds the jobs of a cell to the experiment's jobs.csv. When each is
// nil, the lines are copied unchanged.
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

// WriteCells writes metrics.csv and timings.csv over the complete cells, in the
// order of the plan.
func (e *Experiment) WriteCells() error {
	return errors.Join(writeCells(e, Metrics.Only(e.metricColumns()), func(c Cell) Cell { return c }),
		writeCells(e, Timings, func(c Cell) TimingRow { return TimingRow{c.CellRef, c.Seconds, c.Busy} }))
}

// metricColumns are the columns of metrics.csv: rare metrics have one where they are known of a cell.
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

// copyJobs copies the lines of a cell's jobs.csv, with the values of all axes
// of the experiment in place of the cell's own. It returns false, having done
// nothing, when the columns are not the current ones.
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
		if err != nil || bytes.Count(row, []byte{'"'})%2 != 0 { // continues: too long, or a line break in quotes
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
