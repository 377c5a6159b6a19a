package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/scheduler"
)

// Records says which files of a cell are kept on disk.
type Records string

// AllRecords keeps jobs, events, decisions and occupancy. MetricsOnly keeps only cell.json, for cells of millions of
// jobs, or for very many cells.
const (
	AllRecords  Records = "all"
	MetricsOnly Records = "metrics"
)

// Setup describes a cell whose trace is recorded.
type Setup struct {
	Cell CellRef
	measure.Setup
	// Began is when a real cell began; zero for other cells. Estimated are the estimates used at that time.
	Began     time.Time
	Estimated []Estimated
}

// CellWriter writes a cell's trace to the cell's folder. It implements scheduler.Recorder, and keeps no events in
// memory. Files get their final names in Finish, cell.json last, so that a folder with that file is complete. Finish
// or Abort must be called.
//
// The files of a real cell survive a power cut. The files of a simulated cell need not, since it can be simulated
// again: cell.json lists the sizes of its files, which show whether a power cut has truncated one.
type CellWriter struct {
	*measure.Collector
	dir       string
	setup     Setup
	records   Records
	durable   bool
	events    *table.Pending
	decisions *table.Pending
	occupancy *table.File[measure.Occupancy]
	drawn     *drawnJobs // nil if all jobs are written at the end
	jobs      scheduler.JobSet
	held      measure.Occupancy   // reused for each row
	changed   bool                // resources in use have changed since the last row of occupancy.csv
	rows      []measure.Occupancy // of a cell in containers; they wait for the containers' usage
	replayed  []ServerRow         // servers of recorded runs
	err       error
}

// NewCellWriter creates the folder dir if necessary, and removes a cell.json of an earlier run, so that the folder is
// incomplete. If dir is "", nothing is written, and the caller keeps the result of Finish; this requires MetricsOnly.
func NewCellWriter(dir string, s Setup, records Records) (*CellWriter, error) {
	w := &CellWriter{dir: dir, setup: s, records: records, durable: s.Cell.Real(), jobs: s.Set()}
	if s.Drawn != nil && records != MetricsOnly {
		w.drawn = &drawnJobs{w: w}
		s.Over = w.drawn.add
	}
	w.Collector = measure.NewCollector(s.Setup)
	if dir == "" && records == MetricsOnly {
		return w, nil
	}
	if err := folder.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("make cell folder: %w", err)
	}
	if err := folder.Remove(filepath.Join(dir, CellFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reopen cell: %w", err)
	}
	if records == MetricsOnly {
		return w, nil
	}
	var errs [3]error
	w.events, errs[0] = table.NewPending(filepath.Join(dir, EventsFile), w.durable)
	w.decisions, errs[1] = table.NewPending(filepath.Join(dir, DecisionsFile), w.durable)
	occupancy := Occupancy
	if !s.Cell.Contained {
		occupancy = Occupancy.Only(heldColumns)
	}
	w.occupancy, errs[2] = occupancy.Create(dir, w.durable, nil)
	err := errors.Join(errs[:]...)
	if w.drawn != nil && err == nil {
		w.drawn.file, err = w.createJobs()
	}
	if err != nil {
		w.Abort()
		return nil, err
	}
	return w, nil
}

// Event implements scheduler.Recorder. Finish returns an error that occurs here.
func (w *CellWriter) Event(e *scheduler.Event) {
	if e.Kind.OfNode() && w.records != MetricsOnly {
		w.Collector.Event(e)
		w.end(w.events, appendNodeEvent(w.events.Begin(), e, w.setup.Cluster.Nodes))
		return
	}
	if w.records == MetricsOnly || e.Job < 0 || e.Job >= w.setup.Len() {
		w.Collector.Event(e)
		return
	}
	if w.changed && table.ToMicros(e.At) != w.Last() {
		w.flushOccupancy()
	}
	w.Collector.Event(e)
	w.changed = true
	w.end(w.events, appendEvent(w.events.Begin(), e, w.jobs.At(e.Job), w.setup.Cluster.Nodes))
}

// Decision implements scheduler.Recorder.
func (w *CellWriter) Decision(d *scheduler.Decision) {
	if w.records != MetricsOnly && d.Job >= 0 && d.Job < w.setup.Len() {
		w.end(w.decisions, appendDecision(w.decisions.Begin(), d, &w.jobs))
	}
}

func (w *CellWriter) flushOccupancy() {
	w.held = w.Occupancy()
	if w.setup.Cell.Contained {
		w.rows = append(w.rows, w.held)
	} else {
		w.keep(w.occupancy.Add(&w.held, nil))
	}
	w.changed = false
}

// end ends a line of a file. It flushes the file of a real cell, so that others can follow it.
func (w *CellWriter) end(p *table.Pending, line []byte) {
	_, err := p.Write(line)
	w.keep(err)
	if w.durable {
		w.keep(p.Flush())
	}
}

func (w *CellWriter) keep(err error) {
	if w.err == nil {
		w.err = err
	}
}

// Finish writes the files of the folder, cell.json last. It returns the content of cell.json: c with the cell, its
// metrics, files and failures filled in. (Files in c come last.) An empty state in c becomes failed if a job or the
// cell has failed, otherwise finished. After an error the folder has no cell.json.
func (w *CellWriter) Finish(c Cell) (Cell, error) {
	defer w.Abort()
	c.CellRef, c.Estimated = w.setup.Cell, w.setup.Estimated
	if !w.setup.Began.IsZero() {
		c.Began = w.setup.Began.Format(time.RFC3339Nano)
	}
	known := c.Metrics
	c.Metrics, c.Failures, c.Load = w.Metrics(), w.Failures(), w.Load(c.Closed > 0)
	c.Metrics.Join(known)
	c.Groups = w.Groups()
	if warning, ok := c.saturation(); ok {
		c.Warnings = append(c.Warnings, warning)
	}
	if c.State == "" {
		c.State = CellFinished
		if measure.Failed.CountOf(&c.Metrics) > 0 || c.Error != "" {
			c.State = CellFailed
		}
	}
	tables, err := w.finishTables()
	if err != nil {
		return c, fmt.Errorf("write cell %s: %w", c.Cell, err)
	}
	c.Files = append(tables, c.Files...)
	if w.dir == "" {
		return c, nil
	}
	return c, Amend(w.dir, c)
}

// Amend replaces the cell.json of a cell. Its other files must be in dir.
func Amend(dir string, c Cell) error {
	raw, err := json.MarshalIndent(c, "", "  ")
	if err == nil {
		err = table.WriteWhole(filepath.Join(dir, CellFile), c.Real(), append(raw, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write cell %s: %w", c.Cell, err)
	}
	return nil
}

// Troubled reports whether something outside the experiment disturbed the cell, so that its times are doubtful.
func (c *Cell) Troubled() bool {
	return slices.ContainsFunc(c.Warnings, func(w Warning) bool { return w.Code == Disturbed || w.Code == BusyMachine })
}

// Paused reports whether tfexp was stopped or the machine slept while the cell ran, so that its times are wrong.
func (c *Cell) Paused() bool {
	return slices.ContainsFunc(c.Warnings, func(w Warning) bool { return w.Code == Disturbed })
}

// finishTables gives the tables their final names, and returns their sizes.
func (w *CellWriter) finishTables() ([]File, error) {
	if w.records == MetricsOnly {
		return nil, w.err
	}
	if w.changed {
		w.flushOccupancy()
	}
	if w.setup.Cell.Contained {
		if err := w.addUsed(); err != nil {
			return nil, err
		}
	}
	var jobs *table.File[JobRow]
	if w.drawn != nil {
		jobs = w.drawn.file
		w.drawn.flush()
		w.drawn.wait()
	} else {
		var err error
		if jobs, err = w.createJobs(); err != nil {
			return nil, err
		}
		defer jobs.Abort()
		w.keep(jobs.AddAll(w.setup.Len(), func(i int, row *JobRow) { row.Outcome = w.Outcome(i) }, w.axes()))
	}
	if w.err != nil {
		return nil, w.err
	}
	var files []File
	for _, p := range []*table.Pending{w.events, w.decisions, w.occupancy.Pending, jobs.Pending} {
		size, err := p.Replace()
		if err != nil {
			return nil, err
		}
		files = append(files, File{Name: filepath.Base(p.Path), Size: size})
	}
	if w.Meter() != nil || len(w.replayed) > 0 {
		file, err := w.writeServers()
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	if w.durable {
		return files, folder.SyncDir(w.dir)
	}
	return files, nil
}

// createJobs creates the table of jobs.
func (w *CellWriter) createJobs() (*table.File[JobRow], error) {
	jobs, err := Jobs.Create(w.dir, w.durable, axisNames(w.setup.Cell.Axes))
	if err == nil && w.setup.Len() > 0 {
		row := w.Row(0)
		jobs.Repeat(&row, cellColumnsOfJobs)
	}
	return jobs, err
}

// axes returns the values of the axes for the rows of the cell.
func (w *CellWriter) axes() []string {
	return axisValues(axisNames(w.setup.Cell.Axes), w.setup.Cell.Axes)
}

// drawnJobs writes the rows of drawn jobs that are over, several at a time, while other jobs are recorded.
type drawnJobs struct {
	w       *CellWriter
	file    *table.File[JobRow]
	rows    []measure.Outcome
	before  []measure.Outcome // rows that are being written
	writing sync.WaitGroup
	err     error // error of writing
}

// rowsTogether is the number of rows written at a time. They fit into the processor's cache.
const rowsTogether = 512

func (d *drawnJobs) add(job int) {
	if d.rows = append(d.rows, d.w.Outcome(job)); len(d.rows) == rowsTogether {
		d.flush()
	}
}

func (d *drawnJobs) flush() {
	d.wait()
	d.rows, d.before = d.before[:0], d.rows
	d.writing.Go(func() {
		row, axes := JobRow{}, d.w.axes()
		for i := 0; i < len(d.before) && d.err == nil; i++ {
			row.Outcome = d.before[i]
			d.err = d.file.Add(&row, axes)
		}
	})
}

// wait waits until the rows of the last flush are written.
func (d *drawnJobs) wait() {
	d.writing.Wait()
	d.w.keep(d.err)
}

// Row returns a job's row of jobs.csv.
func (w *CellWriter) Row(job int) JobRow {
	c := &w.setup.Cell
	return JobRow{
		Cell: c.Cell, Workload: c.Workload, Hardware: c.Hardware, Policy: c.Policy,
		Replicate: c.Replicate, Axes: c.Axes, Outcome: w.Outcome(job),
	}
}

// Abort removes the unfinished files. It does nothing after Finish.
func (w *CellWriter) Abort() {
	w.events.Abort()
	w.decisions.Abort()
	if w.occupancy != nil {
		w.occupancy.Abort()
	}
	if w.drawn != nil && w.drawn.file != nil {
		w.drawn.wait()
		w.drawn.file.Abort()
	}
}

func axisNames(axes []Setting) []string {
	return schema.Each(axes, func(a Setting) string { return a.Name })
}

// axisValues returns the values of the named axes; "" for axes that the cell does not read.
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
