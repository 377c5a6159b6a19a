package format

import (
	"bufio"
	"encoding/json"
	"io"
	"iter"

	"github.com/tfexp/tfexp/results/table"
)

var (
	// JSON is the format that writes one list of JSON objects.
	JSON = formats.Add(Format{
		Name: "json", Doc: "a list of JSON objects; unknown values are null",
		Write: func(w io.Writer, t *table.Table) error { return objects(w, t.Columns, each(t), "[\n", ",\n", "\n]\n") },
	})
	// Lines is the format that writes one JSON object per line.
	Lines = formats.Add(Format{
		Name: "jsonl", Doc: "JSON objects, one per line; unknown values are null",
		Write: func(w io.Writer, t *table.Table) error { return WriteJSONLines(w, t.Columns, each(t)) },
	})
)

// WriteJSONLines writes each row as a JSON object on its own line.
func WriteJSONLines(w io.Writer, columns []table.Column, rows iter.Seq2[[]string, error]) error {
	return objects(w, columns, rows, "", "\n", "\n")
}

// each returns the rows of a table as an iterator.
func each(t *table.Table) iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		for _, row := range t.Rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// objects writes each row as a JSON object whose members are in the order of the columns.
func objects(w io.Writer, columns []table.Column, rows iter.Seq2[[]string, error], begin, between, end string) error {
	out := bufio.NewWriter(w)
	keys := make([][]byte, len(columns))
	for i, c := range columns {
		keys[i], _ = json.Marshal(c.Name) // encoding a string never fails
	}
	out.WriteString(begin)
	n := 0
	var line []byte
	for row, err := range rows {
		if err != nil {
			return err
		}
		if n++; n > 1 {
			out.WriteString(between)
		}
		line = append(line[:0], '{')
		for i, field := range row {
			if i > 0 {
				line = append(line, ',')
			}
			line = table.AppendValue(append(append(line, keys[i]...), ':'), field, columns[i].Kind)
		}
		out.Write(append(line, '}'))
	}
	if n > 0 || begin != "" {
		out.WriteString(end)
	}
	return out.Flush()
}
