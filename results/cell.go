package results

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"

	"github.com/tfexp/tfexp/scheduler"
)

// Records says how much a cell leaves on disk.
type Records string

// AllRecords keeps jobs, events, decisions and occupancy; MetricsOnly keeps
// nothing but cell.json, for cells of millions of jobs.
const (
	AllRecords  Records = "all"
	MetricsOnly Records = "metrics"
)

// CellWriter records a cell's trace in its folder. It implements
// scheduler.Recorder, and streams: it keeps no events in memory. Nothing
// appears under its final name before Finish; cell.json comes last, so that a
// folder which has one is complete. Either Finish or Abort must be called.
type CellWriter struct {
	*Collector
	dir       string
	setup     Setup
	records   Records
	events    *lines
	decisions *lines
	occupancy *tableFile[Occupancy]
	changed   bool // what is held has changed since the last row of occupancy.csv
	err       error
}

// NewCellWriter prepares the folder dir, which is made when it is not there.
// A cell.json of an earlier run is removed first: from now on the folder is
// not complete.
func NewCellWriter(dir string, s Setup, records Records) (*CellWriter, error) {
	w := &CellWriter{Collector: NewCollector(s), dir: dir, setup: s, records: records}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make cell folder: %w", err)
	}
	if err := os.Remove(filepath.Join(dir, CellFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reopen cell: %w", err)
	}
	if records == MetricsOnly {
		return w, nil
	}
	var errs [3]error
	w.events, errs[0] = newLines(filepath.Join(dir, EventsFile))
	w.decisions, errs[1] = newLines(filepath.Join(dir, DecisionsFile))
	w.occupancy, errs[2] = newTableFile(filepath.Join(dir, OccupancyFile), occupancyColumns, nil)
	if err := errors.Join(errs[:]...); err != nil {
		w.Abort()
		return nil, err
	}
	return w, nil
}

// Event implements scheduler.Recorder. An error of the disk is kept for Finish.
func (w *CellWriter) Event(e scheduler.Event) {
	if w.records == MetricsOnly || e.Job < 0 || e.Job >= len(w.setup.Jobs) {
		w.Collector.Event(e)
		return
	}
	if w.changed && toMicros(e.At).seconds() != w.Occupancy().At {
		w.flushOccupancy()
	}
	w.Collector.Event(e)
	w.changed = true
	w.keep(w.events.write(eventRow(e, w.setup.Jobs)))
}

// Decision implements scheduler.Recorder.
func (w *CellWriter) Decision(d scheduler.Decision) {
	if w.records != MetricsOnly && d.Job >= 0 && d.Job < len(w.setup.Jobs) {
		w.keep(w.decisions.write(decisionRow(d, w.setup.Jobs)))
	}
}

func (w *CellWriter) flushOccupancy() {
	row := w.Occupancy()
	w.keep(w.occupancy.write(&row, nil))
	w.changed = false
}

func (w *CellWriter) keep(err error) {
	if w.err == nil {
		w.err = err
	}
}

// Finish writes the folder's files durably, cell.json last, and returns what
// went into it: c with the cell, its metrics and failures filled in. A state
// that c leaves empty is finished, or failed when a job or the cell has. On an
// error the folder is left without a cell.json.
func (w *CellWriter) Finish(c Cell) (Cell, error) {
	defer w.Abort()
	c.CellRef = w.setup.Cell
	c.Metrics, c.Failures = w.Metrics(), w.Failures()
	if c.State == "" {
		c.State = CellFinished
		if c.Metrics.Failed > 0 || c.Error != "" {
			c.State = CellFailed
		}
	}
	if err := w.finishTables(); err != nil {
		return c, fmt.Errorf("write cell %s: %w", c.Cell, err)
	}
	raw, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return c, fmt.Errorf("write cell %s: %w", c.Cell, err)
	}
	if err := writeDurably(filepath.Join(w.dir, CellFile), append(raw, '\n')); err != nil {
		return c, fmt.Errorf("write cell %s: %w", c.Cell, err)
	}
	return c, nil
}

func (w *CellWriter) finishTables() error {
	if w.records == MetricsOnly {
		return w.err
	}
	if w.changed {
		w.flushOccupancy()
	}
	jobs, err := newTableFile(filepath.Join(w.dir, JobsFile), jobColumns, axisNames(w.setup.Cell.Axes))
	if err != nil {
		return err
	}
	defer jobs.abort()
	axes := axisValues(axisNames(w.setup.Cell.Axes), w.setup.Cell.Axes)
	for i := range w.setup.Jobs {
		row := w.Row(i)
		w.keep(jobs.write(&row, axes))
	}
	if w.err != nil {
		return w.err
	}
	if err := errors.Join(w.events.replace(), w.decisions.replace(), w.occupancy.replace(), jobs.replace()); err != nil {
		return err
	}
	return syncDir(w.dir)
}

// Abort removes what was written so far and not finished. It does nothing
// after Finish.
func (w *CellWriter) Abort() {
	w.events.abort()
	w.decisions.abort()
	w.occupancy.abort()
}

// WriteCell writes the folder of a cell whose trace is in memory; see
// CellWriter.Finish.
func WriteCell(dir string, s Setup, records Records, events []scheduler.Event, decisions []scheduler.Decision, c Cell) (Cell, error) {
	w, err := NewCellWriter(dir, s, records)
	if err != nil {
		return c, err
	}
	for _, e := range events {
		w.Event(e)
	}
	for _, d := range decisions {
		w.Decision(d)
	}
	return w.Finish(c)
}

func axisNames(axes []Setting) []string {
	var names []string
	for _, a := range axes {
		names = append(names, a.Name)
	}
	return names
}

// axisValues are the values of the named axes, empty for those that are not read.
func axisValues(names []string, axes []Setting) []string {
	values := make([]string, len(names))
	for i, n := range names {
		for _, a := range axes {
			if a.Name == n {
				values[i] = a.Value
			}
		}
	}
	return values
}

// pending is a file that appears under its name all at once, when it is complete.
type pending struct {
	file *renameio.PendingFile
	buf  *bufio.Writer
}

func newPending(path string) (pending, error) {
	f, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o644), renameio.WithTempDir(filepath.Dir(path)))
	if err != nil {
		return pending{}, fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return pending{file: f, buf: bufio.NewWriterSize(f, 1<<16)}, nil
}

// replace makes the file durable and gives it its name.
func (p pending) replace() error {
	if err := p.buf.Flush(); err != nil {
		return err
	}
	return p.file.CloseAtomicallyReplace()
}

// abort removes the file unless it has its name already.
func (p pending) abort() {
	if p.file != nil {
		// Cleanup fails only where there is nothing left to be done about it.
		_ = p.file.Cleanup()
	}
}

// lines is a file of JSON objects, one a line.
type lines struct {
	pending
	encoder *json.Encoder
}

func newLines(path string) (*lines, error) {
	p, err := newPending(path)
	if err != nil {
		return nil, err
	}
	e := json.NewEncoder(p.buf)
	e.SetEscapeHTML(false)
	return &lines{p, e}, nil
}

func (l *lines) write(row any) error { return l.encoder.Encode(row) }

func (l *lines) abort() {
	if l != nil {
		l.pending.abort()
	}
}

// tableFile is a CSV file.
type tableFile[T any] struct {
	pending
	*tableWriter[T]
}

func newTableFile[T any](path string, columns []column[T], extra []string) (*tableFile[T], error) {
	p, err := newPending(path)
	if err != nil {
		return nil, err
	}
	t, err := newTableWriter(p.buf, columns, extra)
	if err != nil {
		p.abort()
		return nil, fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return &tableFile[T]{p, t}, nil
}

func (t *tableFile[T]) replace() error {
	if err := t.flush(); err != nil {
		return err
	}
	return t.pending.replace()
}

func (t *tableFile[T]) abort() {
	if t != nil {
		t.pending.abort()
	}
}

// writeDurably writes a file all at once, so that it survives a power cut.
func writeDurably(path string, raw []byte) error {
	p, err := newPending(path)
	if err != nil {
		return err
	}
	defer p.abort()
	if _, err := p.buf.Write(raw); err != nil {
		return err
	}
	if err := p.replace(); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes renames in a folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
