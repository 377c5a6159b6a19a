package record

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/measure"
)

// docs/results.md names every column of every table.
func TestReferenceNamesEveryColumn(t *testing.T) {
	raw, err := os.ReadFile("../../docs/results.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(raw)
	var names []string
	for _, c := range jobColumns {
		names = append(names, c.Name)
	}
	for _, c := range cellColumns() {
		names = append(names, c.Name)
	}
	for _, c := range timingColumns {
		names = append(names, c.Name)
	}
	for _, c := range measure.LoadColumns {
		names = append(names, c.Name)
	}
	for _, c := range estimateColumns {
		names = append(names, c.Name)
	}
	for _, c := range comparisonColumns {
		names = append(names, c.Name)
	}
	for _, c := range occupancyColumns {
		names = append(names, c.Name)
	}
	for _, c := range fidelityColumns {
		names = append(names, c.Name)
	}
	for _, c := range fidelityJobColumns {
		names = append(names, c.Name)
	}
	for _, c := range fidelityDecisionColumns {
		names = append(names, c.Name)
	}
	for _, c := range sampleColumns {
		names = append(names, c.Name)
	}
	for _, c := range accuracyColumns {
		names = append(names, c.Name)
	}
	for _, c := range remainingColumns {
		names = append(names, c.Name)
	}
	for _, c := range profilingColumns {
		names = append(names, c.Name)
	}
	for _, c := range rankingColumns {
		names = append(names, c.Name)
	}
	for _, c := range choiceColumns {
		names = append(names, c.Name)
	}
	for _, c := range sequenceColumns {
		names = append(names, c.Name)
	}
	for _, c := range objectiveColumns {
		names = append(names, c.Name)
	}
	for _, c := range trainingColumns {
		names = append(names, c.Name)
	}
	for _, n := range names {
		if !strings.Contains(text, "`"+n+"`") {
			t.Errorf("docs/results.md does not name the column %s", n)
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
	now := "\n" + measure.Markdown() + "\n"
	if *update {
		if err := os.WriteFile(path, []byte(before+begin+now+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if was != now {
		t.Error("docs/results.md does not have the metrics of today: go test ./results/record -update")
	}
}
