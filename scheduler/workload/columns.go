package workload

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// Names lists the columns of a file for a sentence: of long and of many names as much as helps to see which file it is.
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

// ReadInstants reads the instants, in seconds, in one column of a CSV file
// whose first line names the columns. They need not be in order. What is wrong
// with a line is a LineError; a lenient reader skips such lines.
func ReadInstants(file string, r io.Reader, column string, lenient bool) (instants []time.Duration, skipped []error,
	err error) {
	at := 0
	skipped, err = EachRow(file, r, lenient, func(head []string) error {
		if at = slices.Index(head, column); at < 0 {
			return fmt.Errorf("there is no column %q", column)
		}
		return nil
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
