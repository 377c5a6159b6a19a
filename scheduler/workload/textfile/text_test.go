package textfile

import (
	"errors"
	"io"
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
}

// The error about an unclosed quote names the line of the quote, not the end of the file.
func TestLineOfAnOpenQuote(t *testing.T) {
	_, _, err := ReadInstants("file", strings.NewReader("threads,seconds\n\"1,10\n2,5\n4,3\n"), "threads", false)
	var line *LineError
	if !errors.As(err, &line) || line.Line != 2 {
		t.Errorf("error %v, want one of line 2", err)
	}
}

// endless is a file without an end, of one character.
type endless byte

func (e endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = byte(e)
	}
	return len(b), nil
}

// A line that does not end is an error at that line, also if quotes extend it over several lines.
func TestLongLines(t *testing.T) {
	head := "a,b\n1,2\n"
	for _, c := range []struct {
		name string
		rest io.Reader
		line int
	}{
		{"one line", endless('x'), 3},
		{"quoted lines", io.MultiReader(strings.NewReader("\""), endless('\n')), 3},
		{"after a quoted row", io.MultiReader(strings.NewReader("\"1\n2\",3\n"), endless(' ')), 5},
	} {
		rows := 0
		_, err := EachRow("f", io.MultiReader(strings.NewReader(head), c.rest), false, func([]string) error { return nil },
			func(int, []string) error { rows++; return nil })
		var at *LineError
		if !errors.As(err, &at) || at.Line != c.line || at.Err.Error() != "the line is longer than 1 MiB" {
			t.Errorf("%s: %d rows, then %v, want line %d", c.name, rows, err, c.line)
		}
	}
	var at *LineError
	_, err := EachLine("f", io.MultiReader(strings.NewReader(head), endless('x')), true,
		func(int, string) error { return nil })
	if !errors.As(err, &at) || at.Line != 3 || at.Err.Error() != "the line is longer than 1 MiB" {
		t.Errorf("lines: %v", err)
	}
}
