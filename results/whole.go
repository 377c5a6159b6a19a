package results

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// WriteTables writes jobs.csv, metrics.csv, comparisons.csv and, where real
// cells were simulated as well, fidelity.csv and fidelity_jobs.csv of the
// experiment in dir over its complete cells, in the order of the plan, and
// puts the actual run times into estimates.csv, with accuracy.csv and
// profiling.csv beside it. Rows are streamed: no more
// than one is in memory. Unlike the others, jobs.csv, which can be large and is
// made of the cells' own, need not survive a power cut.
func WriteTables(dir string) error {
	e, err := Open(dir)
	if err != nil {
		return err
	}
	estimates, err := e.Estimates()
	if err != nil {
		return err
	}
	actual := make([]outcomes, len(estimates))
	var jobs *tableFile[JobRow]
	linked := len(estimates) == 0 && e.linkJobs()
	if !linked {
		if jobs, err = newTableFile(filepath.Join(dir, JobsFile), false, jobColumns, e.Plan.Axes); err != nil {
			return err
		}
		defer jobs.abort()
	}
	metrics, err := newTableFile(filepath.Join(dir, MetricsFile), true, cellColumns, e.Plan.Axes)
	if err != nil {
		return err
	}
	defer metrics.abort()
	for _, c := range e.Cells {
		if err := metrics.write(&c, axisValues(e.Plan.Axes, c.Axes)); err != nil {
			return fmt.Errorf("write %s: %w", MetricsFile, err)
		}
		if linked {
			continue
		}
		if err := e.addJobs(jobs, c.CellRef, estimates, actual); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("write %s: %w", JobsFile, err)
		}
	}
	if !linked {
		_, err = jobs.replace()
	}
	_, merr := metrics.replace()
	if err := errors.Join(err, merr); err != nil {
		return fmt.Errorf("write tables: %w", err)
	}
	if err := writeTable(filepath.Join(dir, ComparisonsFile), comparisonColumns, e.Comparisons()); err != nil {
		return err
	}
	if err := e.writeFidelity(); err != nil {
		return err
	}
	if len(estimates) > 0 {
		if err := e.writeAccuracy(estimates, actual); err != nil {
			return err
		}
	}
	return syncDir(dir)
}

// linkJobs makes the jobs.csv of the only cell that of the experiment, when the
// two are the same: a table of a million jobs need not be there twice. Both are
// only ever replaced as a whole, never written to. It returns false, having done
// nothing, when they are not the same, or the file system has no links.
func (e *Experiment) linkJobs() bool {
	if len(e.Cells) != 1 || !slices.Equal(axisNames(e.Cells[0].Axes), e.Plan.Axes) {
		return false
	}
	own := e.cellPath(e.Cells[0].Cell, JobsFile)
	f, err := os.Open(own)
	if err != nil {
		return false
	}
	defer f.Close()
	header := appendHeader(nil, jobColumns, e.Plan.Axes)
	first := make([]byte, len(header))
	if _, err := io.ReadFull(f, first); err != nil || !bytes.Equal(first, header) {
		return false // written by another version
	}
	table := pending{path: filepath.Join(e.Dir, JobsFile)}
	if info, err := f.Stat(); err == nil {
		if there, err := os.Stat(table.path); err == nil && os.SameFile(info, there) {
			return true
		}
	}
	_ = os.Remove(table.temporary()) // of a run that was killed
	return os.Link(own, table.temporary()) == nil && os.Rename(table.temporary(), table.path) == nil
}

// addJobs adds the jobs of a cell to the experiment's jobs.csv. Where no
// estimate wants to be compared with them, the lines are copied as they are.
func (e *Experiment) addJobs(jobs *tableFile[JobRow], c CellRef, estimates []EstimateRow, actual []outcomes) error {
	if len(estimates) == 0 {
		copied, err := e.copyJobs(jobs, c)
		if copied || err != nil {
			return err
		}
	}
	axes := axisValues(e.Plan.Axes, c.Axes)
	var failed error
	err := e.eachJob(c, jobColumns, 1, func(r *JobRow) bool {
		failed = jobs.write(r, axes)
		for i, est := range estimates {
			if r.tells(est) && within(est.Axes, c.Axes) {
				actual[i].add(est, r.Service, c.Real())
			}
		}
		return failed == nil
	})
	return errors.Join(err, failed)
}

// copyJobs copies the lines of a cell's jobs.csv, with the values of all axes
// of the experiment in place of those of the cell; false, having done nothing,
// when the columns are not those of today.
func (e *Experiment) copyJobs(jobs *tableFile[JobRow], c CellRef) (bool, error) {
	f, err := os.Open(e.cellPath(c.Cell, JobsFile))
	if err != nil {
		return false, err
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<16)
	own := axisNames(c.Axes)
	header, err := in.ReadBytes('\n')
	if err != nil || !bytes.Equal(header, appendHeader(nil, jobColumns, own)) {
		return false, nil
	}
	was := endLine([]byte{','}, axisValues(own, c.Axes))
	is := endLine([]byte{','}, axisValues(e.Plan.Axes, c.Axes))
	if bytes.Equal(was, is) {
		_, err := in.WriteTo(jobs.buf)
		return true, err
	}
	var row []byte
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, io.EOF) && len(line) == 0 && len(row) == 0 {
			return true, nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return true, fmt.Errorf("read %s: %w", f.Name(), noEOF(err))
		}
		row = append(row, line...)
		if err != nil || bytes.Count(row, []byte{'"'})%2 != 0 { // it goes on: too long, or a line break within quotes
			continue
		}
		rest, ok := bytes.CutSuffix(row, was)
		if !ok {
			return true, fmt.Errorf("read %s: a row does not end in the cell's axes", f.Name())
		}
		if _, err := jobs.buf.Write(append(rest, is...)); err != nil {
			return true, err
		}
		row = row[:0]
	}
}
