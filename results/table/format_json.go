package table

import (
	"bufio"
	"encoding/json"
	"io"
	"iter"
)

var (
	// JSON is the format of a list of JSON objects.
	JSON = formats.Add(Format{
		Name: "json", Doc: "a list of JSON objects; what is not known is null",
		Write: func(w io.Writer, t *Table) error { return objects(w, t.Columns, t.each(), "[\n", ",\n", "\n]\n") },
	})
	// Lines is the format of JSON lines.
	Lines = formats.Add(Format{
		Name: "jsonl", Doc: "JSON objects, one per line; what is not known is null",
		Write: func(w io.Writer, t *Table) error { return WriteJSONLines(w, t.Columns, t.each()) },
	})
)

// WriteJSONLines writes rows as JSON objects, one a line.
func WriteJSONLines(w io.Writer, columns []Column, rows iter.Seq2[[]string, error]) error {
	return objects(w, columns, rows, "", "\n", "\n")
}

// each yields the rows.
func (t *Table) each() iter.Seq2[[]string, error] {
	return func(yield func([]string, error) bool) {
		for _, row := range t.Rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// objects writes rows as JSON objects with the columns in their order.
func objects(w io.Writer, columns []Column, rows iter.Seq2[[]string, error], begin, between, end string) error {
	out := bufio.NewWriter(w)
	keys := make([][]byte, len(columns))
	for i, c := range columns {
		keys[i], _ = json.Marshal(c.Name) // a string is always written
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
			line = appendValue(append(append(line, keys[i]...), ':'), field, columns[i].Kind)
		}
		out.Write(append(line, '}'))
	}
	if n > 0 || begin != "" {
		out.WriteString(end)
	}
	return out.Flush()
}

// appendValue appends a field as JSON. A malformed number, in a table of somebody else, is text.
func appendValue(line []byte, field string, kind Kind) []byte {
	switch {
	case kind == AsText || kind == AsList:
	case field == "":
		return append(line, "null"...)
	case field == "true" || field == "false" || isNumber(field):
		return append(line, field...)
	}
	quoted, _ := json.Marshal(field)
	return append(line, quoted...)
}
