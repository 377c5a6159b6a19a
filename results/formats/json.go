package formats

import (
	"bufio"
	"encoding/json"
	"io"
)

var (
	_ = register(Format{
		Name: "json", Doc: "a list of JSON objects; what is not known is null",
		Write: func(w io.Writer, t *Table) error { return t.objects(w, "[\n", ",\n", "\n]\n") },
	})
	// Lines is the format of JSON lines.
	Lines = register(Format{
		Name: "jsonl", Doc: "JSON objects, one a line; what is not known is null",
		Write: func(w io.Writer, t *Table) error { return t.objects(w, "", "\n", "\n") },
	})
)

// objects writes the rows as JSON objects with the columns in their order.
func (t *Table) objects(w io.Writer, begin, between, end string) error {
	out := bufio.NewWriter(w)
	kinds := make([]kind, len(t.Header))
	keys := make([][]byte, len(t.Header))
	for i, name := range t.Header {
		kinds[i] = t.kind(i)
		keys[i], _ = json.Marshal(name) // a string is always written
	}
	out.WriteString(begin)
	for n, row := range t.Rows {
		if n > 0 {
			out.WriteString(between)
		}
		line := []byte{'{'}
		for i, field := range row {
			if i > 0 {
				line = append(line, ',')
			}
			line = append(append(line, keys[i]...), ':')
			switch {
			case kinds[i] == ofText && (field != "" || t.Text(t.Header[i])):
				quoted, _ := json.Marshal(field)
				line = append(line, quoted...)
			case field == "":
				line = append(line, "null"...)
			default:
				line = append(line, field...)
			}
		}
		out.Write(append(line, '}'))
	}
	if len(t.Rows) > 0 || begin != "" {
		out.WriteString(end)
	}
	return out.Flush()
}
