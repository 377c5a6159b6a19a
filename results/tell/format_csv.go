package tell

import (
	"encoding/csv"
	"io"
)

var _ = formats.Add(Format{
	Name: "csv", Doc: "comma-separated values, as in the folder of results",
	Write: func(w io.Writer, t *Table) error {
		out := csv.NewWriter(w)
		if err := out.Write(t.Header()); err != nil {
			return err
		}
		return out.WriteAll(t.Rows)
	},
})
