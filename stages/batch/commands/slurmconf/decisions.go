package slurmconf

import (
	"fmt"
	"strings"
)

// Decisions returns the page about each parameter of Slurm's configuration files and its treatment, made from the table
// that the readers use.
func Decisions() string {
	var b strings.Builder
	b.WriteString("# Parameters of Slurm\n\n" +
		"When you make a twin from `slurm.conf`, look up here what tfexp does with each parameter.\n\n" +
		"    tfexp init twin --from-slurm slurm.conf sacct.txt sacctmgr.txt\n\n" +
		"tfexp knows the parameters of Slurm 14 to 26. Any other parameter is an error that names the line and the " +
		"closest known name.\n\n" +
		"- *Used*: the parameter changes the twin. A message names the line if the twin models only a part of the " +
		"value.\n" +
		"- *Without effect*: the parameter does not change when simulated jobs start.\n" +
		"- *Not modeled*: the parameter may change when jobs start. tfexp prints it when it reads the file, and writes " +
		"it at the top\n" +
		"  of the experiment.\n\n" +
		"`make docs` writes this page.\n")
	var effects []string           // of parameters that are not modeled, each once
	names := map[string][]string{} // the parameters with an effect
	table := func() {
		if len(effects) > 0 {
			b.WriteString("\n| not modeled | in the twin |\n|---|---|\n")
		}
		for _, effect := range effects {
			fmt.Fprintf(&b, "| `%s` | %s |\n", strings.Join(names[effect], "`, `"), effect)
		}
		effects, names = nil, map[string][]string{}
	}
	for l := range strings.Lines(parameterList) {
		l = strings.TrimSpace(l)
		kind, rest, _ := strings.Cut(l, " ")
		list := func(title string) {
			fmt.Fprintf(&b, "\n%s: %s.\n", title, "`"+strings.Join(strings.Fields(rest), "`, `")+"`")
		}
		switch {
		case strings.HasPrefix(l, "["):
			table()
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
			name, effect, _ := strings.Cut(rest, ": ")
			if names[effect] == nil {
				effects = append(effects, effect)
			}
			names[effect] = append(names[effect], name)
		}
	}
	table()
	return b.String()
}
