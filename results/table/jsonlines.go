package table

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/tfexp/tfexp/scheduler/workload"
)

// JSONLines writes the rows of a table in CSV as JSON objects, one a line, with
// the keys in the order of the columns. An empty field, which is not known, is
// null; true and false are such. Columns for which isText holds are text even where they look like
// numbers. It fails at a row that has not as many fields as there are columns.
func JSONLines(w io.Writer, table io.Reader, isText func(column string) bool) error {
	in := csv.NewReader(workload.BoundRows(table))
	in.ReuseRecord = true
	head, err := in.Read()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read table: %w", err)
	}
	keys, text := make([][]byte, len(head)), make([]bool, len(head))
	for i, name := range head {
		keys[i], _ = json.Marshal(name) // a string is always written
		text[i] = isText(name)
	}
	out := bufio.NewWriter(w)
	var line []byte
	for {
		row, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("read table: %w", err)
		}
		line = append(line[:0], '{')
		for i, field := range row {
			if i > 0 {
				line = append(line, ',')
			}
			line = append(append(line, keys[i]...), ':')
			line = appendValue(line, field, text[i])
		}
		if _, err := out.Write(append(line, "}\n"...)); err != nil {
			return fmt.Errorf("write JSON lines: %w", err)
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write JSON lines: %w", err)
	}
	return nil
}

// appendValue writes a field: as it is where it is a number of JSON, which not
// all numbers of Go are.
func appendValue(line []byte, field string, text bool) []byte {
	if field == "" && !text {
		return append(line, "null"...)
	}
	if !text && (field == "true" || field == "false") {
		return append(line, field...)
	}
	if _, err := strconv.ParseFloat(field, 64); err == nil && !text && json.Valid([]byte(field)) {
		return append(line, field...)
	}
	quoted, _ := json.Marshal(field)
	return append(line, quoted...)
}
