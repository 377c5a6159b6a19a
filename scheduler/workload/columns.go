package workload

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Column is a column of a CSV file with the text that its rows must have.
type Column struct{ Name, Text string }

// ReadColumns reads columns of numbers from a CSV file whose first line names
// the columns: those rows that have the texts of where. The numbers must be
// above 0. What is wrong with a line is a LineError; up to MaxErrors of them
// are joined.
func ReadColumns(file string, r io.Reader, columns []string, where []Column) ([][]float64, error) {
	in := csv.NewReader(unmarked(r))
	in.ReuseRecord = true
	head, err := in.Read()
	if err == io.EOF {
		err = errors.New("the file is empty")
	}
	at := make([]int, 0, len(columns)+len(where))
	find := func(name string) {
		at = append(at, slices.Index(head, name))
		if err == nil && at[len(at)-1] < 0 {
			err = fmt.Errorf("there is no column %q; there are %s", name, strings.Join(head, ", "))
		}
	}
	for _, name := range columns {
		find(name)
	}
	for _, w := range where {
		find(w.Name)
	}
	if err != nil {
		return nil, fmt.Errorf("read columns: %w", &LineError{file, 1, err})
	}
	var (
		rows  [][]float64
		found []error
	)
	for len(found) < MaxErrors {
		row, err := in.Read()
		if err == io.EOF {
			break
		}
		var bad *csv.ParseError
		switch {
		case errors.As(err, &bad):
			found = append(found, &LineError{file, bad.StartLine, bad.Err})
			continue
		case err != nil: // the file cannot be read on
			return nil, fmt.Errorf("read columns: %w", err)
		}
		chosen := true
		for i, w := range where {
			chosen = chosen && strings.TrimSpace(row[at[len(columns)+i]]) == w.Text
		}
		if !chosen {
			continue
		}
		numbers := make([]float64, len(columns))
		for i, name := range columns {
			text := strings.TrimSpace(row[at[i]])
			numbers[i], err = strconv.ParseFloat(text, 64)
			if err != nil || !(numbers[i] > 0) || math.IsInf(numbers[i], 0) {
				line, _ := in.FieldPos(at[i])
				found = append(found, &LineError{file, line, fmt.Errorf("%s %q is not a number above 0", name, text)})
				break
			}
		}
		rows = append(rows, numbers)
	}
	if len(found) > 0 {
		return nil, fmt.Errorf("read columns: %w", errors.Join(found...))
	}
	return rows, nil
}
