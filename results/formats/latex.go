package formats

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

var _ = register(Format{
	Name: "latex", Doc: "a tabular of LaTeX with the rules of the package booktabs, and rounded numbers",
	Write: func(w io.Writer, t *Table) error {
		out := bufio.NewWriter(w)
		people := t.forPeople()
		columns := strings.Repeat("l", people.Left) + strings.Repeat("r", len(people.Header)-people.Left)
		fmt.Fprintf(out, "%% needs \\usepackage{booktabs}\n\\begin{tabular}{%s}\n\\toprule\n", columns)
		line := func(cells []string) {
			words := make([]string, len(cells))
			for i, c := range cells {
				words[i] = latex.Replace(c)
			}
			fmt.Fprintf(out, "%s \\\\\n", strings.Join(words, " & "))
		}
		line(people.Header)
		out.WriteString("\\midrule\n")
		for _, row := range people.Rows {
			line(row)
		}
		out.WriteString("\\bottomrule\n\\end{tabular}\n")
		return out.Flush()
	},
})

// latex writes text as LaTeX reads it.
var latex = strings.NewReplacer(
	`\`, `\textbackslash{}`, "&", `\&`, "%", `\%`, "$", `\$`, "#", `\#`, "_", `\_`, "{", `\{`, "}", `\}`,
	"~", `\textasciitilde{}`, "^", `\textasciicircum{}`, "<", "$<$", ">", "$>$",
	"±", `$\pm$`, "−", "$-$", "–", "--", "×", `$\times$`, "≥", `$\geq$`, "≤", `$\leq$`, "’", "'", "\n", " ",
)
