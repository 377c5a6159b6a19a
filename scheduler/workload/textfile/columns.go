package textfile

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Names lists the columns of a file, for a message. It shortens long names and lists, but shows enough to recognize
// the file.
func Names(columns []string) string {
	const most, longest = 40, 40
	var b strings.Builder
	for i, name := range columns {
		if i > 0 {
			b.WriteString(", ")
		}
		if i == most {
			fmt.Fprintf(&b, "… (%d in all)", len(columns))
			break
		}
		if runes := []rune(name[:min(len(name), 4*longest)]); len(runes) > longest {
			name = string(runes[:longest-1]) + "…"
		}
		b.WriteString(name)
	}
	return b.String()
}

// Column returns the index of a column in a header line. It returns an error if the column is missing or occurs
// twice.
func Column(head []string, name string) (int, error) {
	is := func(other string) bool { return strings.TrimSpace(other) == name }
	i := slices.IndexFunc(head, is)
	switch {
	case i < 0 && len(head) == 1 && strings.ContainsAny(head[0], ";|\t"):
		return -1, fmt.Errorf("there is no column %q; the only one is %q: separate fields by commas", name, Names(head))
	case i < 0:
		return -1, fmt.Errorf("there is no column %q; there are %s", name, Names(head))
	case slices.ContainsFunc(head[i+1:], is):
		return -1, fmt.Errorf("there are two columns %q: leave one out", name)
	}
	return i, nil
}

// ReadInstants reads the instants, in seconds, in one column of a CSV file with a header line. They may be in any
// order. An error in a line is a LineError; a lenient reader skips such lines.
func ReadInstants(file string, r io.Reader, column string, lenient bool) (instants []time.Duration, skipped []error,
	err error) {
	at := 0
	skipped, err = EachRow(file, r, lenient, func(head []string) (err error) {
		at, err = Column(head, column)
		return err
	}, func(_ int, row []string) error {
		instant, err := ParseTime(strings.TrimSpace(row[at]), time.Second)
		if err == nil && instant < 0 {
			err = fmt.Errorf("the instant %s is before the start", row[at])
		}
		if err == nil {
			instants = append(instants, instant)
		}
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("read instants: %w", err)
	}
	return instants, skipped, nil
}
