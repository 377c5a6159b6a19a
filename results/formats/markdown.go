package formats

import (
	"bufio"
	"io"
	"strings"
)

var _ = register(Format{
	Name: "markdown", Doc: "a table of Markdown, with rounded numbers",
	Write: func(w io.Writer, t *Table) error {
		out := bufio.NewWriter(w)
		people := t.forPeople()
		escape := strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;")
		line := func(cells []string) {
			for _, c := range cells {
				out.WriteString("| " + escape.Replace(c) + " ")
			}
			out.WriteString("|\n")
		}
		line(people.Header)
		for i := range people.Header {
			if i < people.Left {
				out.WriteString("| :-- ")
			} else {
				out.WriteString("| --: ")
			}
		}
		out.WriteString("|\n")
		for _, row := range people.Rows {
			line(row)
		}
		return out.Flush()
	},
})
