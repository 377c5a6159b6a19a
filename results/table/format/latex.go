package format

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/results/table"
)

var _ = formats.Add(Format{
	Name: "latex", Doc: "a LaTeX tabular with rounded numbers and the rules of the package booktabs", ForPeople: true,
	Write: func(w io.Writer, t *table.Table) error {
		out := bufio.NewWriter(w)
		columns := ""
		for _, c := range t.Columns {
			columns += map[bool]string{true: "l", false: "r"}[c.Kind.IsText()]
		}
		fmt.Fprintf(out, "%% needs \\usepackage{booktabs}\n\\begin{tabular}{%s}\n\\toprule\n", columns)
		line := func(cells []string) {
			words := schema.Each(cells, latex.Replace)
			fmt.Fprintf(out, "%s \\\\\n", strings.Join(words, " & "))
		}
		line(t.Header())
		out.WriteString("\\midrule\n")
		for _, row := range t.Rows {
			line(row)
		}
		out.WriteString("\\bottomrule\n\\end{tabular}\n")
		return out.Flush()
	},
})

// latex escapes the characters that are special in LaTeX.
var latex = strings.NewReplacer(
	`\`, `\textbackslash{}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`, "_", `\_`, "{", `\{`, "}", `\}`,
	"~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "<", "$<$", ">", "$>$",
	"±", `$\pm$`, "−", "$-$", "–", "--", "×", `$\times$`, "≥", `$\geq$`, "≤", `$\leq$`, "’", "'", "\n", " ",
)
