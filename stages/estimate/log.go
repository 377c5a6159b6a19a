package estimate

import (
	"bufio"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/estimator"
	"github.com/tfexp/tfexp/jobs/contract"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// LoggedRun is a training run in a log. Done and At of its marks
// count from its first row.
type LoggedRun struct {
	// File is where the log is, Name the run within it; empty in a log of one run.
	File, Name string
	// First is the step of the first row.
	First int
	Marks []estimator.Mark
	// Units are the seconds of each epoch, where the log has these; Startup and
	// Save are what came before and after them, 0 where it does not say.
	Units         []float64
	Startup, Save float64
}

// Last is the step of the last row.
func (r LoggedRun) Last() int {
	if n := len(r.Marks); n > 0 {
		return r.First + r.Marks[n-1].Done
	}
	return len(r.Units)
}

// LineError is a malformed line of a log.
type LineError struct {
	File string
	Line int
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("%s line %d: %v", e.File, e.Line, e.Err) }

func (e *LineError) Unwrap() error { return e.Err }

// mostSeconds is the latest time that a log may have: clocks count from 1970 at
// the earliest, some in milliseconds. Beyond it sums of times lose their seconds.
const mostSeconds = 1e15

// mostLines bounds the malformed lines that are reported for one log.
const mostLines = 20

// The names of columns, in lower case without spaces and underscores.
var (
	stepColumns = []string{"step", "steps", "globalstep", "iteration", "iterations", "iter", "epoch", "epochs", "batch"}
	timeColumns = []string{"walltime", "time", "times", "elapsed", "elapseds", "elapsedseconds", "elapsedtime", "seconds",
		"timestamp", "timesec", "relativetime", "relative"}
	// Rows of a run have the same values in these columns.
	runColumns = []string{"run", "runid", "trial", "replicate", "repetition", "seed", "job", "zone",
		"region", "host",
		"node", "name"}
)

// columnName is a column's name as the lists above have it.
func columnName(s string) string {
	return strings.NewReplacer(" ", "", "_", "", "-", "").Replace(strings.ToLower(strings.TrimSpace(s)))
}

// ReadLog reads the runs of a training log: CSV with a header, or the output of a
// program that speaks the job contract (progress lines, time-writer line). Malformed
// lines are *LineError, all of them joined, or, with lenient, skipped and returned as
// warnings; a log without steps and times is an error.
func ReadLog(r io.Reader, file string, lenient bool) (runs []LoggedRun, warnings []string, err error) {
	in := bufio.NewReaderSize(r, 64<<10)
	start, err := in.Peek(4096)
	switch {
	case err != nil && err != io.EOF:
		return nil, nil, fmt.Errorf("read %s: %w", file, err)
	case len(start) == 0:
		return nil, nil, fmt.Errorf("read %s: the log is empty", file)
	}
	header, _, _ := strings.Cut(string(start), "\n")
	if names := strings.Split(strings.TrimPrefix(strings.TrimSpace(header), "\ufeff"), ","); len(names) > 1 &&
		pick(names, stepColumns) >= 0 {
		return readCSV(in, file, lenient)
	}
	report, err := contract.Parse(in, contract.Longest)
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", file, err)
	}
	for _, w := range report.Warnings {
		warnings = append(warnings, file+": "+w)
	}
	if len(warnings) > 0 && !lenient {
		return nil, nil, errors.New(strings.Join(warnings, "\n"))
	}
	units := report.Epochs
	if len(units) == 0 {
		units = report.Steps
	}
	if len(units) == 0 {
		return nil, warnings, fmt.Errorf("read %s: it has no steps and times: it must be CSV whose header names a "+
			"step and a time column, or lines of the job contract", file)
	}
	return []LoggedRun{{File: file, Units: units, Startup: max(0, report.Startup), Save: max(0, report.Save)}}, warnings,
		nil
}

// pick finds the first of the wanted names among a header's; -1 when there is none.
func pick(header, wanted []string) int {
	for _, w := range wanted {
		if i := slices.IndexFunc(header, func(h string) bool { return columnName(h) == w }); i >= 0 {
			return i
		}
	}
	return -1
}

// csvRow is a row of a log.
type csvRow struct {
	step int
	at   float64
}

// csvLog collects the rows of a log by run.
type csvLog struct {
	file     string
	header   []string
	step, at int   // the columns of steps and times
	by       []int // the columns whose values name a run

	names []string
	rows  map[string][]csvRow
	again map[string]int     // how often the run of a name began again
	until map[string]float64 // the latest row of a run
	back  []int              // lines with an earlier time than a lower step of their run

	bad  []error // the first mostLines malformed lines
	many int     // all of them
}

func readCSV(in io.Reader, file string, lenient bool) (runs []LoggedRun, warnings []string, err error) {
	r := csv.NewReader(workload.BoundRows(in))
	r.FieldsPerRecord = -1
	header, err := r.Read()
	if err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", file, err)
	}
	header[0] = strings.TrimPrefix(header[0], "\ufeff")
	l := &csvLog{
		file: file, header: header, step: pick(header, stepColumns), at: pick(header, timeColumns),
		rows: map[string][]csvRow{}, again: map[string]int{}, until: map[string]float64{},
	}
	if l.at < 0 {
		return nil, nil, fmt.Errorf("read %s: there is no column of times (wall_time, time, elapsed_s, seconds) among %s",
			file, strings.Join(header, ", "))
	}
	for i, h := range header {
		if i != l.step && i != l.at && slices.Contains(runColumns, columnName(h)) {
			l.by = append(l.by, i)
		}
	}
	if err := l.read(r); err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", file, err)
	}
	if len(l.bad) > 0 && !lenient {
		return nil, nil, errors.Join(l.bad...)
	}
	if runs = l.runs(); len(runs) == 0 {
		return nil, nil, fmt.Errorf("read %s: there are no rows below the header", file)
	}
	return runs, l.warnings(), nil
}

// read reads the rows below the header, and collects malformed lines.
func (l *csvLog) read(r *csv.Reader) error {
	malformed := func(line int, err error) {
		if l.many++; l.many <= mostLines {
			l.bad = append(l.bad, &LineError{l.file, line, err})
		}
	}
	for {
		record, err := r.Read()
		if err == io.EOF {
			break
		}
		var parse *csv.ParseError
		if errors.As(err, &parse) {
			malformed(parse.StartLine, parse.Err)
			continue
		} else if err != nil {
			return err
		}
		line, _ := r.FieldPos(0)
		row, err := readRow(record, len(l.header), l.step, l.at, l.header)
		if err != nil {
			malformed(line, err)
			continue
		}
		l.add(line, record, row)
	}
	if l.many > len(l.bad) {
		l.bad = append(l.bad, fmt.Errorf("%s: %d more malformed lines", l.file, l.many-len(l.bad)))
	}
	return nil
}

// add appends a row to its run.
func (l *csvLog) add(line int, record []string, row csvRow) {
	var id []string
	for _, i := range l.by {
		id = append(id, record[i])
	}
	name := strings.Join(id, "/")
	key := name
	if n := l.again[name]; n > 0 {
		key = fmt.Sprintf("%s#%d", name, n+1)
	}
	// Back at the first step after others: the next run under the same name.
	if v := l.rows[key]; len(v) > 1 && row.step <= v[0].step && row.at >= l.until[key] {
		l.again[name]++
		key = fmt.Sprintf("%s#%d", name, l.again[name]+1)
	}
	if l.rows[key] == nil {
		l.names = append(l.names, key)
		l.until[key] = row.at
	}
	if v := l.rows[key]; len(v) > 0 && row.at < l.until[key] && row.step > v[len(v)-1].step {
		l.back = append(l.back, line)
	}
	l.until[key] = max(l.until[key], row.at)
	l.rows[key] = append(l.rows[key], row)
}

// runs returns the runs, in the order of the file, with their rows sorted by time.
func (l *csvLog) runs() []LoggedRun {
	var runs []LoggedRun
	for _, name := range l.names {
		v := l.rows[name]
		slices.SortStableFunc(v, func(a, b csvRow) int { return cmp.Compare(a.at, b.at) })
		run := LoggedRun{File: l.file, Name: name, First: v[0].step}
		for _, x := range v {
			run.Marks = append(run.Marks, estimator.Mark{Done: x.step - run.First, At: x.at - v[0].at})
		}
		runs = append(runs, run)
	}
	return runs
}

// warnings returns what is wrong with the log but does not keep it from being used.
func (l *csvLog) warnings() []string {
	var warnings []string
	for _, e := range l.bad {
		warnings = append(warnings, e.Error()+" (skipped)")
	}
	if len(l.back) > 0 {
		warnings = append(warnings, fmt.Sprintf("%s line %d: the time decreases while the steps increase "+
			"(%d such lines): rows are sorted by time", l.file, l.back[0], len(l.back)))
	}
	return warnings
}

func readRow(record []string, fields, step, at int, header []string) (csvRow, error) {
	if len(record) != fields {
		return csvRow{}, fmt.Errorf("%d fields instead of %d", len(record), fields)
	}
	s, err := strconv.ParseFloat(strings.TrimSpace(record[step]), 64)
	if err != nil || s != math.Trunc(s) || s < 0 || s > math.MaxInt32 {
		return csvRow{}, fmt.Errorf("%s %q is not a whole number of at least 0", header[step], record[step])
	}
	t, err := strconv.ParseFloat(strings.TrimSpace(record[at]), 64)
	if err != nil || math.IsNaN(t) || math.Abs(t) > mostSeconds {
		return csvRow{}, fmt.Errorf("%s %q is not a time in seconds", header[at], record[at])
	}
	return csvRow{int(s), t}, nil
}
