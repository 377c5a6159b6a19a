package workload

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments/schema"
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

// ReadColumns reads columns of numbers from a CSV file whose first line names
// the columns. It takes only the rows that have the texts of where. The numbers
// must be above 0. What is wrong with a line is a LineError; up to MaxErrors of
// them are joined.
func ReadColumns(file string, r io.Reader, columns []string, where []schema.Setting) ([][]float64, error) {
	var (
		rows [][]float64
		at   []int // of columns, then of where
	)
	find := func(head []string, name string) error {
		i := slices.Index(head, name)
		if i < 0 {
			return fmt.Errorf("there is no column %q; there are %s", name, Names(head))
		}
		at = append(at, i)
		return nil
	}
	_, err := EachRow(file, r, false, func(head []string) error {
		for _, name := range columns {
			if err := find(head, name); err != nil {
				return err
			}
		}
		for _, w := range where {
			if err := find(head, w.Name); err != nil {
				return err
			}
		}
		return nil
	}, func(_ int, row []string) error {
		for i, w := range where {
			if strings.TrimSpace(row[at[len(columns)+i]]) != w.Value {
				return nil
			}
		}
		numbers, err := parseNumbers(row, at, columns)
		if err == nil {
			rows = append(rows, numbers)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read columns: %w", err)
	}
	return rows, nil
}

// parseNumbers reads the fields of a row that are at the places of the columns.
func parseNumbers(row []string, at []int, columns []string) ([]float64, error) {
	numbers := make([]float64, len(columns))
	for i, name := range columns {
		text := strings.TrimSpace(row[at[i]])
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !(x > 0) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("%s %q is not a number above 0", name, text)
		}
		numbers[i] = x
	}
	return numbers, nil
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
