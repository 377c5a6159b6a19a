package goodput

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/scheduler/workload/csvrows"
)

// MeasuredSettings are properties of a program that do not follow from its measurements.
type MeasuredSettings struct {
	// Epochs is the number of epochs of the whole training; 0 means the epochs of the recorded trainings.
	Epochs int
	// Limits bound the batch sizes. A limit of 0 means the measured limit: the least or greatest batch size of the
	// recorded trainings, or of a GPU.
	Limits Limits
}

// The names of a program's files.
const (
	PlacementsFile  = "placements.csv"
	ScalabilityFile = "scalability.csv"
	validationGlob  = "validation-*.csv"
)

// maxRows is the greatest number of rows of a file.
const maxRows = 1_000_000

// ReadMeasured reads the measurements of a program from the files of a folder.
//
// The file placements.csv has the columns placement (GPUs by node, as digits), local_bsz (samples on each GPU),
// step_time and sync_time (seconds). If there is a file scalability.csv, it has num_nodes and num_replicas in place of
// placement. Each file validation-<batch>.csv is a recorded training. It has a row for each epoch: progress, iteration,
// grad_sqr, grad_var.
func ReadMeasured(folder fs.FS, name string, s MeasuredSettings) (*MeasuredProgram, error) {
	p := &MeasuredProgram{Name: name, placed: map[string][]timing{}, found: map[[3]int]timing{}}
	sums := map[[3]int]*sum{}
	if err := p.readPlacements(folder, sums); err != nil {
		return nil, err
	}
	if err := readScalability(folder, sums); err != nil {
		return nil, err
	}
	p.grid = gridOf(sums)
	for _, s := range p.grid {
		for _, t := range s.timings {
			p.scatter.points = append(p.scatter.points, point{float64(s.nodes), float64(s.gpus), float64(t.local)})
			p.scatter.rows = append(p.scatter.rows, t)
		}
	}
	if err := p.readValidations(folder); err != nil {
		return nil, err
	}
	return p, p.complete(s)
}

// complete adds the settings, and values that are computed from the measurements.
func (p *MeasuredProgram) complete(s MeasuredSettings) error {
	p.Limits, p.Epochs = s.Limits, s.Epochs
	l := &p.Limits
	shortest := math.MaxInt
	for i := range p.runs {
		shortest = min(shortest, len(p.runs[i].progress))
	}
	least, greatest := math.MaxInt, 0
	for _, s := range p.grid {
		least = min(least, s.timings[0].local)
		greatest = max(greatest, s.timings[len(s.timings)-1].local)
	}
	l.First = cmp.Or(l.First, p.runs[0].batch)
	l.Most = cmp.Or(l.Most, p.runs[len(p.runs)-1].batch)
	l.Least, l.Greatest = cmp.Or(l.Least, least), cmp.Or(l.Greatest, greatest)
	p.Epochs = cmp.Or(p.Epochs, shortest)
	switch {
	case p.Epochs > shortest:
		return fmt.Errorf("%s: the job has %d epochs, but a recorded training has only %d", p.Name, p.Epochs, shortest)
	case l.Most < l.First || l.Greatest < l.Least || l.Most < l.Least:
		return fmt.Errorf("%s: %w", p.Name, misfit(*l))
	}
	return nil
}

// misfit returns the error of limits that contradict each other.
func misfit(l Limits) error {
	return fmt.Errorf("batch sizes from %d to %d with %d to %d samples on each GPU contradict each other",
		l.First, l.Most, l.Least, l.Greatest)
}

// sum has the sums of the measurements with one shape and batch size.
type sum struct{ step, sync, count float64 }

func (p *MeasuredProgram) readPlacements(folder fs.FS, sums map[[3]int]*sum) error {
	columns := []string{"placement", "local_bsz", "step_time", "sync_time"}
	err := eachRow(folder, PlacementsFile, columns, func(f *fields) error {
		text := f.text(0)
		var nodes []int
		gpus := 0
		for _, digit := range text {
			n := int(digit - '0')
			if n < 1 || n > 9 {
				return fmt.Errorf("placement %q is not GPUs by node, one digit each", text)
			}
			nodes, gpus = append(nodes, n), gpus+n
		}
		t, err := f.timing(1)
		if err != nil {
			return err
		}
		if len(nodes) == 0 {
			return errors.New("the placement is empty")
		}
		key := canonical(nodes)
		if p.placed[key] = append(p.placed[key], t); len(p.placed[key]) > maxRows {
			return errors.New("too many rows")
		}
		add(sums, len(nodes), gpus, t)
		return nil
	})
	for key, rows := range p.placed {
		slices.SortStableFunc(rows, func(a, b timing) int { return cmp.Compare(a.local, b.local) })
		p.placed[key] = slices.CompactFunc(rows, func(a, b timing) bool { return a.local == b.local })
	}
	if err == nil && len(p.placed) == 0 {
		err = fmt.Errorf("%s has no rows", PlacementsFile)
	}
	return err
}

func readScalability(folder fs.FS, sums map[[3]int]*sum) error {
	columns := []string{"num_nodes", "num_replicas", "local_bsz", "step_time", "sync_time"}
	err := eachRow(folder, ScalabilityFile, columns, func(f *fields) error {
		nodes, gpus := f.whole(0), f.whole(1)
		t, err := f.timing(2)
		if err == nil && gpus < nodes {
			err = fmt.Errorf("%d GPUs on %d nodes", gpus, nodes)
		}
		if err == nil {
			add(sums, nodes, gpus, t)
		}
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

func add(sums map[[3]int]*sum, nodes, gpus int, t timing) {
	key := [3]int{nodes, gpus, t.local}
	if sums[key] == nil {
		sums[key] = &sum{}
	}
	s := sums[key]
	s.step, s.sync, s.count = s.step+t.step, s.sync+t.sync, s.count+1
}

// gridOf returns the mean times by nodes and GPUs.
func gridOf(sums map[[3]int]*sum) []shape {
	keys := slices.SortedFunc(maps.Keys(sums), func(a, b [3]int) int { return slices.Compare(a[:], b[:]) })
	var grid []shape
	for _, k := range keys {
		if n := len(grid); n == 0 || grid[n-1].nodes != k[0] || grid[n-1].gpus != k[1] {
			grid = append(grid, shape{nodes: k[0], gpus: k[1]})
		}
		s, last := sums[k], &grid[len(grid)-1]
		last.timings = append(last.timings, timing{k[2], s.step / s.count, s.sync / s.count})
	}
	return grid
}

func (p *MeasuredProgram) readValidations(folder fs.FS) error {
	names, err := fs.Glob(folder, validationGlob)
	if err != nil {
		return err
	}
	for _, name := range names {
		batch, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(path.Base(name), "validation-"), ".csv"))
		if err != nil || batch < 1 {
			return fmt.Errorf("%s: its name has no batch size", name)
		}
		v := validation{batch: batch}
		columns := []string{"progress", "iteration", "grad_sqr", "grad_var"}
		if err := eachRow(folder, name, columns, func(f *fields) error {
			v.progress = append(v.progress, f.number(0))
			v.iterations = append(v.iterations, f.number(1))
			v.gradientSquare = append(v.gradientSquare, f.number(2))
			v.gradientVa = append(v.gradientVa, f.number(3))
			if n := len(v.progress); n > 1 && v.progress[n-1] <= v.progress[n-2] {
				return errors.New("the progress does not grow")
			}
			return f.err
		}); err != nil {
			return err
		}
		if len(v.progress) == 0 {
			return fmt.Errorf("%s has no rows", name)
		}
		p.runs = append(p.runs, v)
	}
	if len(p.runs) == 0 {
		return fmt.Errorf("there is no file %s with the progress of a training by its batch size", validationGlob)
	}
	slices.SortFunc(p.runs, func(a, b validation) int { return cmp.Compare(a.batch, b.batch) })
	return nil
}

// RowError is a mistake in a line of a file.
type RowError struct {
	File string
	Line int
	Err  error
}

func (e *RowError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

func (e *RowError) Unwrap() error { return e.Err }

// eachRow calls row for each row of a table, with the fields of the given columns.
func eachRow(folder fs.FS, name string, columns []string, row func(*fields) error) error {
	file, err := folder.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	r := csv.NewReader(csvrows.Bound(file))
	r.ReuseRecord = true
	head, err := r.Read()
	if err != nil {
		return &RowError{name, 1, fmt.Errorf("the first line must have the names of the columns: %w", err)}
	}
	f := fields{columns: columns}
	for _, c := range columns {
		at := slices.Index(head, c)
		if at < 0 {
			return &RowError{name, 1, fmt.Errorf("the table must have a column %q; its columns are %s", c,
				strings.Join(head, ", "))}
		}
		if slices.Contains(head[at+1:], c) {
			return &RowError{name, 1, fmt.Errorf("two columns have the name %q: remove one", c)}
		}
		f.at = append(f.at, at)
	}
	for count := 0; ; count++ {
		f.row, err = r.Read()
		line, _ := r.FieldPos(0)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			var bad *csv.ParseError
			if errors.As(err, &bad) {
				return &RowError{name, bad.Line, bad.Err}
			}
			return err
		case count == maxRows:
			return &RowError{name, line, fmt.Errorf("the table must have at most %d rows", maxRows)}
		}
		if err := row(&f); err != nil {
			return &RowError{name, line, err}
		}
	}
}

// fields are the fields of a row. err is about the first malformed field.
type fields struct {
	columns []string
	at      []int
	row     []string
	err     error
}

func (f *fields) text(i int) string { return strings.TrimSpace(f.row[f.at[i]]) }

// number returns a field as a finite number of at least 0.
func (f *fields) number(i int) float64 {
	v, err := strconv.ParseFloat(f.text(i), 64)
	if (err != nil || !(v >= 0) || math.IsInf(v, 1)) && f.err == nil {
		f.err = fmt.Errorf("%s must be a number from 0, not %q", f.columns[i], f.text(i))
	}
	return v
}

func (f *fields) whole(i int) int {
	n, err := strconv.Atoi(f.text(i))
	if (err != nil || n < 1 || n > 1<<30) && f.err == nil {
		f.err = fmt.Errorf("%s must be a whole number from 1, not %q", f.columns[i], f.text(i))
	}
	return n
}

// timing returns the times in three columns, beginning at index from.
func (f *fields) timing(from int) (timing, error) {
	t := timing{f.whole(from), f.number(from + 1), f.number(from + 2)}
	if f.err == nil && (t.step <= 0 || t.sync >= t.step) {
		f.err = fmt.Errorf("%s must be greater than %s, but is %v s; %[2]s is %[4]v s", f.columns[from+1], f.columns[from+2],
			t.step, t.sync)
	}
	return t, f.err
}
