package measure

import (
	"fmt"
	"strings"
)

// Markdown describes the metrics in a table, in the order of their columns.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| column | metric | meaning | better | shown in |\n|---|---|---|---|---|\n")
	for _, m := range registered {
		better := "lower"
		if m.HigherBetter {
			better = "higher"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", m.Name, m.Label(), m.Doc, better, m.Shown)
	}
	return b.String()
}

// String lists the places: "summary, fidelity".
func (s Shown) String() string {
	var places []string
	for _, p := range []struct {
		name  string
		place int
	}{{"summary", s.Summary}, {"fidelity", s.Fidelity}, {"plot `metrics`", s.Panels}, {"plot `series`", s.Series}} {
		if p.place > 0 {
			places = append(places, p.name)
		}
	}
	return strings.Join(places, ", ")
}
