package workload

import (
	"errors"
	"strings"
	"testing"
)

// Spreadsheets begin a text file with a byte-order mark, and end lines as Windows does.
func TestTablesOfSpreadsheets(t *testing.T) {
	const mark = "\ufeff"
	instants, _, err := ReadInstants("file", strings.NewReader(mark+"arrival_s\r\n1.5\r\n"), "arrival_s", false)
	if err != nil || len(instants) != 1 {
		t.Errorf("instants %v, %v", instants, err)
	}
	rows, err := ReadColumns("file", strings.NewReader(mark+"threads,seconds\r\n1,10\r\n"), []string{"threads",
		"seconds"}, nil)
	if err != nil || len(rows) != 1 {
		t.Errorf("rows %v, %v", rows, err)
	}
}

// A quote that is never closed is where it was opened, not at the end of the file.
func TestLineOfAnOpenQuote(t *testing.T) {
	_, err := ReadColumns("file", strings.NewReader("threads,seconds\n\"1,10\n2,5\n4,3\n"), []string{"threads",
		"seconds"}, nil)
	var line *LineError
	if !errors.As(err, &line) || line.Line != 2 {
		t.Errorf("error %v, want one of line 2", err)
	}
}
