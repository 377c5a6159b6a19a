package format

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/table"
)

var _ = formats.Add(Format{
	Name: "csv", Doc: "comma-separated values, for spreadsheets",
	Write: func(w io.Writer, t *table.Table) error {
		out := csv.NewWriter(w)
		if err := out.Write(t.Header()); err != nil {
			return err
		}
		for _, row := range t.Rows {
			safe := schema.Each(row, inert)
			if err := out.Write(safe); err != nil {
				return err
			}
		}
		out.Flush()
		return out.Error()
	},
})

// inert returns the text of a cell in a form that spreadsheets do not treat as a formula. It puts an apostrophe before
// text that begins like a formula. Numbers stay as they are.
func inert(cell string) string {
	if len(cell) < 2 || !strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
		return cell
	}
	if _, err := strconv.ParseFloat(cell, 64); err == nil {
		return cell
	}
	return "'" + cell
}
