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
	b.WriteString("| column | meaning |\n|---|---|\n")
	var higher []string
	for _, m := range measure.AllMetrics() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", m.Name, m.Doc)
		if m.HigherBetter {
			higher = append(higher, "`"+m.Name+"`")
		}
	}
	last := len(higher) - 1
	fmt.Fprintf(&b, "\nHigher is better for %s and %s; lower is better for the others.\n", strings.Join(higher[:last], ", "),
		higher[last])
	return b.String()
}
