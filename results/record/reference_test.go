package record

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/table"
)

// docs/results.md names every column of every table.
func TestReferenceNamesEveryColumn(t *testing.T) {
	raw, err := os.ReadFile("../../docs/results.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	for _, kind := range slices.Concat(table.Tables(), table.CellTables()) {
		for _, c := range kind.Columns() {
			if !strings.Contains(text, "`"+c.Name+"`") {
				t.Errorf("docs/results.md does not name the column %s of %s", c.Name, kind.Name())
			}
		}
	}
}

var update = flag.Bool("update", false, "write the table of metrics into docs/results.md")

// The table of metrics in docs/results.md is made from the registry.
func TestReferenceOfMetrics(t *testing.T) {
	const path, begin, end = "../../docs/results.md", "<!-- metrics -->\n", "<!-- end of metrics -->"
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(raw), begin)
	was, after, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatal("docs/results.md has no place for the metrics")
	}
	now := "\n" + metricsTable() + "\n"
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+now+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if was != now {
		t.Error("docs/results.md does not have the metrics of today: go test ./results/record -update")
	}
}

// metricsTable describes the metrics in a table, in the order of their columns.
func metricsTable() string {
	var b strings.Builder
	b.WriteString("| column | metric | meaning | better | shown in |\n|---|---|---|---|---|\n")
	for _, m := range measure.AllMetrics() {
		better := "lower"
		if m.HigherBetter {
			better = "higher"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s | %s |\n", m.Name, m.Label(), m.Doc, better, places(m.Shown))
	}
	return b.String()
}

// places lists the places: "summary, fidelity".
func places(s measure.Shown) string {
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
