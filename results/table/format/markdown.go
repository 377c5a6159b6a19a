package format

import (
	"bufio"
	"io"
	"strings"

	"github.com/tfexp/tfexp/results/table"
)

var _ = formats.Add(Format{
	Name: "markdown", Doc: "a Markdown table with rounded numbers", ForPeople: true,
	Write: func(w io.Writer, t *table.Table) error {
		out := bufio.NewWriter(w)
		escape := strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;")
		line := func(cells []string) {
			for _, c := range cells {
				out.WriteString("| " + escape.Replace(c) + " ")
			}
			out.WriteString("|\n")
		}
		line(t.Header())
		for _, c := range t.Columns {
			if c.Kind.IsText() {
				out.WriteString("| :-- ")
			} else {
				out.WriteString("| --: ")
			}
		}
		out.WriteString("|\n")
		for _, row := range t.Rows {
			line(row)
		}
		return out.Flush()
	},
})
