package workload

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
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
