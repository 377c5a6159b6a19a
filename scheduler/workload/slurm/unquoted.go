package slurm

import (
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/tfexp/tfexp/scheduler/workload/textfile"
)

// freeText are the columns of Slurm's tables that a user writes: a separator in one is a character of the text.
var freeText = strings.Fields("JobName Comment AdminComment SystemComment WorkDir SubmitLine Reason Extra Container " +
	"NAME COMMENT COMMAND WORK_DIR REASON")

// FitFields divides a line of Slurm into one field for each column. Separators beyond those between columns are of the
// column with free text, if there is one alone. Empty fields at the end that no column has are left out.
func FitFields(line, separator string, columns []string) ([]string, error) {
	fields := strings.Split(line, separator)
	more := len(fields) - len(columns)
	if more > 0 && strings.TrimSpace(fields[len(fields)-1]) == "" { // as --parsable writes it
		fields, more = fields[:len(fields)-1], more-1
	}
	if more == 0 {
		return fields, nil
	}
	free := -1
	for i, name := range columns {
		if slices.Contains(freeText, strings.TrimSpace(name)) {
			if free >= 0 {
				free = len(columns)
			}
			free = max(free, i)
		}
	}
	if more > 0 && free >= 0 && free < len(columns) {
		text := strings.Join(fields[free:free+more+1], separator)
		return slices.Replace(fields, free, free+more+1, text), nil
	}
	return textfile.FitWidth(fields, len(columns))
}

// EachRow is the EachRow of a textfile.Table for a file in which each line is a row, and a quotation mark a character.
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
	heads := func(fields []string) {
		for len(fields) > 1 && strings.TrimSpace(fields[len(fields)-1]) == "" {
			fields = fields[:len(fields)-1]
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
				heads(fields)
			} else if n == textfile.MostTitles {
				heads(first)
			}
			return nil
		}
		fields, err := FitFields(line, separator, columns)
		if err != nil {
			return err
		}
		return row(n, fields)
	})
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

// ErrFixedWidth is returned for a table of Slurm in columns of a fixed width.
var ErrFixedWidth = errors.New("this is a table of fixed width, in which fields are cut off: print it with --parsable2 " +
	"(sacct), or with separators, as in  squeue -o \"%i|%u|…\"")

// FixedWidth reports whether a line has the names of the columns of a table of fixed width.
func FixedWidth(line string) bool {
	names := strings.Fields(line)
	return !strings.Contains(line, "|") && len(names) > 2 && slices.ContainsFunc(names, func(name string) bool {
		return name == "JobID" || name == "JobIDRaw" || name == "JOBID"
	})
}
