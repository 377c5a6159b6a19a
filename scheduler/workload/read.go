package workload

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Format is a kind of file that a workload can be read from.
type Format string

// The formats.
const (
	Requests Format = "requests" // ReadRequestTrace
	SWF      Format = "swf"      // ReadSWF
	CSV      Format = "csv"      // ReadCSV
	Batsim   Format = "batsim"   // ReadBatsim
)

// FormatOf tells a format by the name of a file, which may end in .gz; empty
// where the name does not tell.
func FormatOf(file string) Format {
	switch filepath.Ext(strings.TrimSuffix(strings.ToLower(file), ".gz")) {
	case ".swf":
		return SWF
	case ".csv":
		return CSV
	case ".json":
		return Batsim
	case ".requests", ".req":
		return Requests
	}
	return ""
}

// Read reads a trace in a format. What is wrong with a line is a LineError, in
// an error that joins up to MaxErrors of them.
func (f Format) Read(file string, r io.Reader, o Options) (Trace, error) {
	switch f {
	case Requests:
		return ReadRequestTrace(file, r, o)
	case SWF:
		return ReadSWF(file, r, o)
	case CSV:
		return ReadCSV(file, r, o)
	case Batsim:
		return ReadBatsim(file, r, o)
	}
	return Trace{}, fmt.Errorf("read %s: unknown format %q", file, f)
}

// unmarked leaves out the byte-order mark that spreadsheets begin a text file with.
func unmarked(r io.Reader) io.Reader {
	in := bufio.NewReader(r)
	if mark, _, err := in.ReadRune(); err == nil && mark != '\ufeff' {
		_ = in.UnreadRune()
	}
	return in
}

// ReadInstants reads the instants in one column of a CSV file whose first line
// names the columns. They are in o.Unit, and need not be in order. What is
// wrong with a line is a LineError.
func ReadInstants(file string, r io.Reader, column string, o Options) (instants []time.Duration, skipped []error, err error) {
	in := csv.NewReader(unmarked(r))
	in.ReuseRecord = true
	head, err := in.Read()
	at := slices.Index(head, column)
	switch {
	case err == io.EOF:
		err = errors.New("the file is empty")
	case err == nil && at < 0:
		err = fmt.Errorf("there is no column %q", column)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("read instants: %w", &LineError{file, 1, err})
	}
	var found []error
	for o.Lenient || len(found) < MaxErrors {
		row, err := in.Read()
		if err == io.EOF {
			break
		}
		var bad *csv.ParseError
		line := 0
		var instant time.Duration
		switch {
		case errors.As(err, &bad):
			line, err = bad.StartLine, bad.Err
		case err != nil: // the file cannot be read on
			return nil, nil, fmt.Errorf("read instants: %w", err)
		default:
			line, _ = in.FieldPos(at)
			if instant, err = parseTime(strings.TrimSpace(row[at]), o.Unit); err == nil && instant < 0 {
				err = fmt.Errorf("the instant %s is before the start", row[at])
			}
		}
		if err != nil {
			found = append(found, &LineError{file, line, err})
			continue
		}
		instants = append(instants, instant)
	}
	if len(found) > 0 && !o.Lenient {
		return nil, nil, fmt.Errorf("read instants: %w", errors.Join(found...))
	}
	return instants, found, nil
}
