package workload

import (
	"errors"
	"strings"
	"testing"
)

// Spreadsheets begin a text file with a byte-order mark, and end lines as Windows does.
func TestFilesOfSpreadsheets(t *testing.T) {
	const mark = "\ufeff"
	for format, text := range map[Format]string{
		Requests: "execution,one,image,2,3\r\n",
		SWF:      "1 0 -1 10 4 -1 -1 4 20 -1 1 1 1 -1 -1 -1 -1 -1\r\n",
		CSV:      strings.Join(columns, ",") + "\r\na-1,a,0,1,0,0,0,0,1,false,0,,,,5,\r\n",
		Batsim:   `{"nb_res": 4, "jobs": [{"id": "1", "subtime": 0, "res": 2, "profile": "p"}], "profiles": {"p": {"type": "delay", "delay": 3}}}`,
	} {
		trace, err := format.Read("file", strings.NewReader(mark+text), Options{})
		if err != nil || len(trace.Jobs) != 1 {
			t.Errorf("%s: %d jobs, %v", format, len(trace.Jobs), err)
		}
	}
	instants, _, err := ReadInstants("file", strings.NewReader(mark+"arrival_s\r\n1.5\r\n"), "arrival_s", Options{})
	if err != nil || len(instants) != 1 {
		t.Errorf("instants %v, %v", instants, err)
	}
	rows, err := ReadColumns("file", strings.NewReader(mark+"threads,seconds\r\n1,10\r\n"), []string{"threads", "seconds"}, nil)
	if err != nil || len(rows) != 1 {
		t.Errorf("rows %v, %v", rows, err)
	}
}

// A quote that is never closed is where it was opened, not at the end of the file.
func TestLineOfAnOpenQuote(t *testing.T) {
	_, err := ReadColumns("file", strings.NewReader("threads,seconds\n\"1,10\n2,5\n4,3\n"), []string{"threads", "seconds"}, nil)
	var line *LineError
	if !errors.As(err, &line) || line.Line != 2 {
		t.Errorf("error %v, want one of line 2", err)
	}
}
