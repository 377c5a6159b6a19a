package slurm

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/scheduler/workload/textfile"
)

// Columns of Slurm's tables whose fields may contain the separator: texts of users, requested features such as
// "a|b", and reasons.
var (
	freeText = strings.Fields("JobName Comment AdminComment SystemComment WorkDir SubmitLine Extra Container NAME COMMENT COMMAND WORK_DIR")
	asked    = strings.Fields("Constraints FEATURES")
	reasons  = strings.Fields("Reason REASON")
)

// among returns the indexes of the columns with one of the names.
func among(columns, names []string) (all []int) {
	for i, column := range columns {
		if slices.Contains(names, strings.TrimSpace(column)) {
			all = append(all, i)
		}
	}
	return all
}

// fit splits a line into one field for each column. If there are too many separators, they belong to the column that
// may contain them. Empty fields after the last column are dropped.
func (r *Rows) fit(line string) ([]string, error) {
	fields, columns := strings.Split(line, r.Separator), r.Columns
	more := len(fields) - len(columns)
	able := append(among(columns, freeText), among(columns, asked)...)
	if len(able) == 0 {
		able = among(columns, reasons)
	}
	last := more > 0 && strings.TrimSpace(fields[len(fields)-1]) == "" // as with --parsable
	if last && !r.Trailing && len(able) == 1 && slices.Contains(asked, strings.TrimSpace(columns[able[0]])) {
		text := strings.Join(fields[able[0]:able[0]+more+1], r.Separator)
		last = strings.Trim(text, r.Separator) != text
	}
	if last {
		fields, more = fields[:len(fields)-1], more-1
	}
	switch {
	case more == 0:
		return fields, nil
	case more < 0 || len(able) == 0:
		return textfile.FitWidth(fields, len(columns))
	case len(able) > 1:
		names := make([]string, len(able))
		for i, k := range able {
			names[i] = strings.TrimSpace(columns[k])
		}
		return nil, fmt.Errorf("the row has %d fields instead of %d, perhaps because %s contains a separator: "+
			"print the table without one of these columns",
			len(fields), len(columns), strings.Join(names, " or "))
	}
	at := able[0]
	return slices.Replace(fields, at, at+more+1, strings.Join(fields[at:at+more+1], r.Separator)), nil
}

// Rows joins the lines of a table of Slurm to rows, because texts of users may contain line breaks.
type Rows struct {
	Separator string
	Columns   []string
	// Trailing says that each line ends with a separator.
	Trailing bool
	// Wrong is called with the error of each skipped line.
	Wrong func(line int, err error)

	broken []string // successive lines with too few fields
	lines  []int
	rows   bool // a row was found
}

// mostBroken is the greatest number of lines that are joined.
const mostBroken = 1000

// Add handles a line that is not empty. When a row is complete, it returns its fields and its first line; otherwise
// fields is nil.
func (r *Rows) Add(line int, text string) (first int, fields []string) {
	free := among(r.Columns, freeText)
	fields, err := r.fit(text)
	short := strings.Count(text, r.Separator) < len(r.Columns)-1
	switch {
	case err == nil && r.broken == nil:
		r.rows = true
		return line, fields
	case len(free) == 1 && free[0] == len(r.Columns)-1 && r.rows && !strings.Contains(text, r.Separator):
		return line, nil // the line continues the row before
	case len(free) == 0 || !short && err != nil:
		r.End()
		r.Wrong(line, err)
		return line, nil
	case err == nil:
		r.End()
		r.Wrong(line, fmt.Errorf("it follows a line with too few fields, and may be the rest of its %s: print the table without this column",
			strings.TrimSpace(r.Columns[free[0]])))
		return line, nil
	}
	r.broken, r.lines = append(r.broken, text), append(r.lines, line)
	text, first = strings.Join(r.broken, "\n"), r.lines[0]
	if len(free) > 1 || strings.Count(text, r.Separator) < len(r.Columns)-1 && len(r.broken) < mostBroken {
		return line, nil
	}
	fields, err = r.fit(text)
	if err != nil || strings.Contains(strings.Join(slices.Concat(fields[:free[0]], fields[free[0]+1:]), ""), "\n") {
		r.End()
		return line, nil
	}
	r.broken, r.lines = nil, nil
	return first, fields
}

// End reports the last lines if they do not make a whole row.
func (r *Rows) End() {
	for i, text := range r.broken {
		_, err := textfile.FitWidth(strings.Split(text, r.Separator), len(r.Columns))
		r.Wrong(r.lines[i], err)
	}
	r.broken, r.lines = nil, nil
}

// EachRow is textfile.Table.EachRow for files of Slurm, in which each line is a row and a quotation mark is an
// ordinary character.
func EachRow(t textfile.Table, file string, r io.Reader, lenient bool,
	head func(columns []string) error, row func(line int, fields []string) error,
) (skipped []error, err error) {
	separator := ","
	if t.Separator != 0 {
		separator = string(t.Separator)
	}
	columns, wrong := t.Names, error(nil)
	if columns != nil {
		wrong = head(columns)
	}
	var first []string
	var headLine string
	var broken []error
	rows := Rows{Separator: separator, Wrong: func(line int, err error) {
		broken = append(broken, &textfile.LineError{File: file, Line: line, Err: err})
	}}
	heads := func(fields []string) {
		for len(fields) > 1 && strings.TrimSpace(fields[len(fields)-1]) == "" {
			fields, rows.Trailing = fields[:len(fields)-1], true
		}
		columns = fields
		if wrong = head(fields); wrong != nil && len(fields) == 1 && FixedWidth(fields[0]) {
			wrong = ErrFixedWidth
		}
	}
	skipped, err = textfile.EachLine(file, r, lenient, func(n int, line string) error {
		line = strings.TrimSuffix(line, "\r")
		if strings.TrimSpace(line) == "" || wrong != nil || t.Remarks && line[0] == '#' {
			return nil
		}
		if columns == nil {
			fields := strings.Split(line, separator)
			if first == nil {
				first = fields
			}
			if t.Heads == nil || t.Heads(fields) {
				headLine = line
				heads(fields)
			} else if n == textfile.MostTitles {
				heads(first)
			}
			return nil
		}
		if line == headLine { // the head of another file behind this one
			return nil
		}
		rows.Columns = columns
		if n, fields := rows.Add(n, line); fields != nil {
			return row(n, fields)
		}
		return nil
	})
	if rows.End(); lenient {
		skipped = append(skipped, broken...)
		slices.SortStableFunc(skipped, func(a, b error) int { return cmp.Compare(lineOf(a), lineOf(b)) })
	} else {
		err = errors.Join(append(broken[:min(len(broken), textfile.MaxErrors)], err)...)
	}
	switch {
	case first == nil && columns == nil && err == nil:
		wrong = errors.New("the file is empty")
	case columns == nil && err == nil:
		heads(first)
	}
	if wrong != nil {
		return nil, &textfile.LineError{File: file, Line: 1, Err: wrong}
	}
	return skipped, err
}

// lineOf returns the line of an error.
func lineOf(err error) int {
	if l := (*textfile.LineError)(nil); errors.As(err, &l) {
		return l.Line
	}
	return 0
}

// ErrFixedWidth is returned for a table of Slurm with columns of fixed width.
var ErrFixedWidth = errors.New("this is a table of fixed width, in which fields are cut off: print it with --parsable2 " +
	"(sacct), or with separators, as in  squeue -o \"%i|%u|…\"")

// OtherSeparator returns an error if a line is the header of a table of sacct or squeue with another separator than "|".
func OtherSeparator(line string) error {
	for _, one := range []string{"\t", ",", ";"} {
		for name := range strings.SplitSeq(line, one) {
			if name = strings.TrimSpace(name); strings.Contains(line, one) && (name == "JobID" || name == "JobIDRaw" || name == "JOBID") {
				return fmt.Errorf("its fields are separated by %q: print it without --delimiter, and with --parsable2", one)
			}
		}
	}
	return nil
}

// FixedWidth reports whether a line is the header of a table of fixed width.
func FixedWidth(line string) bool {
	names := strings.Fields(line)
	return !strings.ContainsAny(line, "|\t") && len(names) > 2 && slices.ContainsFunc(names, func(name string) bool {
		return name == "JobID" || name == "JobIDRaw" || name == "JOBID"
	})
}
