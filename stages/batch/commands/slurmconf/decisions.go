package slurmconf

import (
	"fmt"
	"strings"
)

// Decisions is a page about the treatment of each parameter of Slurm's configuration files, made from the table that the
// readers use.
func Decisions() string {
	var b strings.Builder
	b.WriteString("# The parameters of Slurm, and what a twin does with them\n\n" +
		"`tfexp init twin --from-slurm` knows the parameters of Slurm 14 to 26. A parameter that is not in this list is an error, with\n" +
		"its line and the name that is closest. This page is made from the table of the readers: `make docs`.\n\n" +
		"- *Used*: the twin works by it, or says at its line what of it is not modeled.\n" +
		"- *Without effect*: it does not change when jobs start in a simulation.\n" +
		"- *Not modeled*: it may change when jobs start. Its value is listed when the file is read, and at the head of the experiment.\n")
	for l := range strings.Lines(parameterList) {
		l = strings.TrimSpace(l)
		kind, rest, _ := strings.Cut(l, " ")
		list := func(title string) {
			fmt.Fprintf(&b, "\n%s: %s.\n", title, "`"+strings.Join(strings.Fields(rest), "`, `")+"`")
		}
		switch {
		case strings.HasPrefix(l, "["):
			name := strings.Trim(l, "[]")
			if !strings.Contains(name, ".") {
				name = "Lines that begin with " + name
			}
			fmt.Fprintf(&b, "\n## %s\n", name)
		case kind == "read":
			list("Used")
		case kind == "idle":
			list("Without effect")
		case kind == "other":
			if !strings.HasSuffix(b.String(), "|\n") {
				b.WriteString("\n| not modeled | in the twin |\n|---|---|\n")
			}
			name, effect, _ := strings.Cut(rest, ": ")
			fmt.Fprintf(&b, "| `%s` | %s |\n", name, effect)
		}
	}
	return b.String()
}
