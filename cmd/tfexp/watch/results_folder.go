// Package watch shows runs of this or other processes while they are in progress, by reading the files that they write.
// "tfexp serve" shows them in a browser, and "tfexp top" in the whole terminal.
package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/tfexp/tfexp/cmd/tfexp/states"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/pipeline/store"
	"github.com/tfexp/tfexp/results/analysis"
	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
)

// ErrUnknown is returned when an experiment, a cell or a log does not exist.
var ErrUnknown = errors.New("there is no experiment of this name")

// fresh is how long data are reused after reading, since several views may show the same run.
const fresh = 250 * time.Millisecond

// Limits on the data that are kept of one experiment.
const (
	mostJournal = 12 // lines of the journal
	mostFollow  = 8  // cells whose files are followed
)

// Folder reads a folder of results. Its methods are safe for concurrent use.
type Folder struct {
	Dir string

	mu   sync.Mutex // guards the fields below
	open map[string]*experiment
}

// NewFolder returns a Folder for dir, which need not exist yet.
func NewFolder(dir string) *Folder {
	return &Folder{Dir: filepath.Clean(dir), open: map[string]*experiment{}}
}

// Experiment is the state of an experiment.
type Experiment struct {
	Name        string `json:"name"` // the name of its folder
	Description string `json:"description,omitempty"`
	// State is running, finished, failed, interrupted or unreadable. A killed run counts as interrupted.
	State  string `json:"state"`
	Holder string `json:"holder,omitempty"` // the process that uses the folder
	// Doing is the current activity of the run: profiling, running cells, or writing results. For an interrupted run, it
	// is the command that resumes it.
	Doing    string `json:"doing,omitempty"`
	Cells    int    `json:"cells"`
	Finished int    `json:"finished"`
	Failed   int    `json:"failed"`
	Left     int    `json:"left"`
	// Elapsed is how long the last run has taken so far. TimeLeft is the predicted remaining time of its cells, and
	// LeftRange its range; both are nil if unknown. All are in seconds.
	Elapsed   float64     `json:"elapsed_s"`
	TimeLeft  *float64    `json:"time_left_s"`
	LeftRange *[2]float64 `json:"time_left_range_s,omitempty"`
	// Running are the running cells, up to a limit. Standings are their states, except for cells that have just
	// started.
	Running   []string          `json:"running"`
	Standings []states.Standing `json:"standings,omitempty"`
	// Report is set if a report exists. Pictures are the paths of the pictures.
	Report   bool     `json:"report"`
	Pictures []string `json:"pictures,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
	// Answer is the answer from the results so far; nil before the first cell has ended.
	Answer *Headline `json:"answer,omitempty"`
}

// CellRow is a cell in the list of an experiment's cells.
type CellRow struct {
	Cell      string           `json:"cell"`
	Policy    string           `json:"policy"`
	Workload  string           `json:"workload"`
	Hardware  string           `json:"hardware"`
	Replicate int              `json:"replicate"`
	Axes      []record.Setting `json:"axes,omitempty"`
	State     string           `json:"state"`
	Seconds   float64          `json:"seconds,omitempty"` // how long the cell took
	MeanJCT   *float64         `json:"mean_jct_s"`
	Makespan  *float64         `json:"makespan_s"`
	Error     string           `json:"error,omitempty"`
}

// States of runs, cells and jobs that are not over.
const (
	running     = "running"
	interrupted = "interrupted"
)

// experiment follows the folder of one experiment.
type experiment struct {
	dir  string
	name string

	mu      sync.Mutex // guards the fields below
	at      time.Time  // when the folder was last read
	planAt  fs.FileInfo
	plan    record.Plan
	run     record.Run
	index   map[string]int // indices of cells in the plan
	shards  *record.Shards // for cells without a folder
	done    map[string]completeCell
	journal *fileFollower
	lines   []store.JournalEntry         // the last lines of the journal
	began   time.Time                    // when the last run began
	over    time.Time                    // when the last run ended; zero while it runs
	first   time.Time                    // when the last run began its first cell
	ran     int                          // cells that the last run has ended
	now     map[string]time.Time         // when a running cell began
	stands  map[string]*progressFollower // progress of running cells
	cells   map[string]*cellFollower
	used    []string         // keys of cells, the latest last
	warned  []record.Warning // warnings of the last run
	answers headlineCache
}

// completeCell has the results of a complete cell that are shown.
type completeCell struct {
	key, state, error string
	seconds           float64
	began             time.Time // zero for a simulated cell
	jct, makespan     *float64
	jobs, finished    int
	lost              int // failed jobs
}

// on sets the numbers of jobs by state. A cell may have more jobs than are followed.
func (e *completeCell) on(c *Cell) {
	if c.Total = e.jobs; e.jobs > len(c.Names) {
		c.Done, c.Failed, c.Running, c.Waiting = e.finished, e.lost, 0, 0
	}
}

// complete sets the remaining times of running experiments and the progress of their cells.
func (f *Folder) complete(all []states.State) error {
	seen, err := f.Experiments()
	seen = slices.DeleteFunc(seen, func(x Experiment) bool { return x.State == unreadable })
	if err == nil && len(seen) == len(all) { // the lengths differ if an experiment has just begun
		for i := range all {
			all[i].TimeLeft, all[i].LeftRange, all[i].Standings = seen[i].TimeLeft, seen[i].LeftRange, seen[i].Standings
		}
	}
	return err
}

// unreadable is the state of an experiment whose files cannot be read. Its warning says why.
const unreadable = "unreadable"

// Experiments returns the experiments in the folder, sorted by name; none if the folder does not exist. It returns an
// error if none of them can be read.
func (f *Folder) Experiments() ([]Experiment, error) {
	all, err := f.look()
	if err != nil {
		return nil, err
	}
	out := make([]Experiment, 0, len(all))
	var errs []error
	for _, x := range all {
		s, err := x.summary()
		if err != nil {
			s = Experiment{Name: x.name, State: unreadable, Running: []string{}, Warnings: []string{err.Error()}}
			errs = append(errs, fmt.Errorf("%s: %w", x.name, err))
		}
		out = append(out, s)
	}
	if len(errs) > 0 && len(errs) == len(all) {
		return nil, errors.Join(errs...)
	}
	return out, nil
}

// look returns the current experiments in the folder.
func (f *Folder) look() ([]*experiment, error) {
	dirs, err := pipeline.Experiments(f.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []*experiment
	for _, dir := range dirs {
		x := f.open[dir]
		if x == nil {
			abs, err := filepath.Abs(dir)
			if err != nil {
				return nil, err
			}
			x = &experiment{dir: dir, name: filepath.Base(abs)}
			f.open[dir] = x
		}
		all = append(all, x)
	}
	return all, nil
}

func (f *Folder) find(name string) (*experiment, error) {
	all, err := f.look()
	if err != nil {
		return nil, err
	}
	for _, x := range all {
		if x.name == name {
			return x, nil
		}
	}
	return nil, ErrUnknown
}

// Experiment returns the state of an experiment, its cells in the order of the plan, and the last lines of its journal.
func (f *Folder) Experiment(name string) (Experiment, []CellRow, []store.JournalEntry, error) {
	x, err := f.find(name)
	if err != nil {
		return Experiment{}, nil, nil, err
	}
	s, err := x.summary()
	if err != nil {
		return s, nil, nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	rows := make([]CellRow, len(x.plan.Cells))
	for i, c := range x.plan.Cells {
		e := x.done[c.Cell]
		rows[i] = CellRow{
			Cell: c.Cell, Policy: c.Policy, Workload: c.Workload, Hardware: c.Hardware, Replicate: c.Replicate, Axes: c.Axes,
			State: x.state(c), Seconds: e.seconds, MeanJCT: e.jct, Makespan: e.makespan, Error: e.error,
		}
	}
	return s, rows, slices.Clone(x.lines), nil
}

// Cell returns the state of a cell. An empty name selects the first running cell, or else the cell that ended last. The
// error is ErrUnknown if the cell does not exist.
func (f *Folder) Cell(name, cell string) (*Cell, error) {
	x, err := f.find(name)
	if err != nil {
		return nil, err
	}
	if _, err := x.summary(); err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if cell == "" {
		if cell = x.latest(); cell == "" {
			return nil, ErrUnknown
		}
	}
	i, known := x.index[cell]
	if !known {
		return nil, ErrUnknown
	}
	ref := x.plan.Cells[i]
	c := x.cells[cell]
	if c == nil {
		if len(x.used) == mostFollow {
			delete(x.cells, x.used[0])
			x.used = x.used[1:]
		}
		c = followCell(x.dir, ref, x.complete(ref))
		x.cells[cell] = c
	} else {
		x.used = slices.DeleteFunc(x.used, func(n string) bool { return n == cell })
	}
	x.used = append(x.used, cell)
	if err := c.read(); err != nil {
		return nil, err
	}
	out := c.show(x.state(ref))
	if out.State == interrupted { // its jobs have ended with the run
		for i := range out.Jobs {
			if j := &out.Jobs[i]; j.State == running {
				j.State, j.Since = interrupted, out.At
			}
		}
	}
	for _, h := range x.plan.Hardware {
		if h.Name == ref.Hardware {
			out.Nodes = h.Nodes
		}
	}
	switch {
	case out.State == running && ref.Simulated:
		x.progressOf(cell).addTo(out)
	case x.complete(ref):
		e := x.done[cell]
		e.on(out)
	}
	return out, nil
}

// Log reads the log of a job from a byte offset, or its end if from is negative. The logs of samples belong to the cell
// SamplesCell.
func (f *Folder) Log(name, cell, job string, from int64) (LogPart, error) {
	x, err := f.find(name)
	if err != nil {
		return LogPart{}, err
	}
	parts := []string{record.CellsDir, cell, record.LogsDir}
	if cell == SamplesCell {
		parts = []string{record.SamplesDir}
	}
	l, err := readLogPart(x.dir, from, append(parts, job+".log")...)
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrUnknown
	}
	return l, err
}

// SamplesCell is used as the name of a cell in requests for logs of samples.
const SamplesCell = "samples"

// Path returns the folder of an experiment, as an argument for folder.Open.
func (f *Folder) Path(name string) (string, error) {
	x, err := f.find(name)
	if err != nil {
		return "", err
	}
	return x.dir, nil
}

// summary reads the changes in the folder and returns the experiment's state.
func (x *experiment) summary() (Experiment, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if time.Since(x.at) > fresh {
		if err := x.refresh(); err != nil {
			return Experiment{}, err
		}
		x.at = time.Now()
	}
	s := Experiment{Name: x.name, Description: x.plan.Description, State: x.run.State, Cells: len(x.plan.Cells),
		Running: []string{}}
	holder, held := store.Holder(x.dir)
	for _, c := range x.plan.Cells {
		switch e, ok := x.done[c.Cell]; {
		case !x.complete(c):
			s.Left++
		case ok && e.state == record.CellFailed:
			s.Failed++
		default:
			s.Finished++
		}
	}
	switch {
	case held:
		s.State, s.Holder = running, holder
		for _, c := range x.plan.Cells {
			if _, runs := x.now[c.Cell]; runs && len(s.Running) < mostFollow {
				s.Running = append(s.Running, c.Cell)
				if at := x.progressOf(c.Cell); at.last != nil {
					s.Standings = append(s.Standings, states.Standing{Cell: c.Cell, Simulated: c.Simulated, CellProgress: *at.last})
				}
			}
		}
		s.Doing = x.doing(s.Left)
		if p := x.remainingTime(); p != nil {
			s.TimeLeft, s.LeftRange = &p.Seconds, &[2]float64{p.Low, p.High}
		}
	case s.State == running || !x.run.Reported && s.State == "finished", s.State == "": // the run was killed
		s.State = interrupted
	}
	if s.State == interrupted {
		s.Doing = "resume with: tfexp resume " + x.dir
	}
	if end := x.over; !x.began.IsZero() {
		if held && end.IsZero() {
			end = time.Now()
		} else if end.IsZero() && len(x.lines) > 0 {
			end = x.lines[len(x.lines)-1].Time
		}
		s.Elapsed = max(0, math.Floor(end.Sub(x.began).Seconds()))
	}
	_, err := folder.Stat(x.dir, record.ReportFile)
	s.Report = err == nil
	s.Pictures = x.pictures()
	warned := x.run.Warnings
	if held { // run.json has the warnings only after the run
		warned = slices.Clone(x.warned)
		slices.Reverse(warned) // the latest warnings first
	}
	for _, d := range analysis.Doubts(warned, mostNamed) {
		s.Warnings = append(s.Warnings, d.String())
	}
	x.refreshHeadline(s.Finished + s.Failed)
	s.Answer = x.answers.answer
	return s, nil
}

// doing returns the current activity of the run.
func (x *experiment) doing(left int) string {
	switch {
	case len(x.now) > 0:
		return "running cells"
	case left == 0:
		return "writing tables, pictures and the report"
	case x.ran == 0:
		return "profiling the jobs"
	}
	return "between cells"
}

// latest returns the cell to show if the user has not chosen one.
func (x *experiment) latest() string {
	for _, c := range x.plan.Cells {
		if _, runs := x.now[c.Cell]; runs {
			return c.Cell
		}
	}
	for _, e := range slices.Backward(x.lines) {
		if _, known := x.index[e.Unit]; known && e.Event == "cell_end" {
			return e.Unit
		}
	}
	for _, c := range x.plan.Cells {
		if x.complete(c) {
			return c.Cell
		}
	}
	return ""
}

// pictures returns the paths of the experiment's pictures: the SVG files in its folder of plots.
func (x *experiment) pictures() []string {
	var list []record.Picture
	if folder.ReadJSON(x.dir, &list, record.PlotsDir, record.PicturesFile) != nil {
		return nil
	}
	var out []string
	for _, p := range list {
		if p.SVG != "" && len(out) < 100 {
			out = append(out, p.SVG)
		}
	}
	return out
}

// sameVersion reports whether a file was not changed between two calls of Stat.
func sameVersion(a, b fs.FileInfo) bool {
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}
