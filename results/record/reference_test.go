package record

import (
	"github.com/tfexp/tfexp/results/measure"

	"os"
	"strings"
	"testing"
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
	for _, c := range measure.Columns {
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
	for _, c := range sampleColumns {
		names = append(names, c.Name)
	}
	for _, c := range accuracyColumns {
		names = append(names, c.Name)
	}
	for _, c := range profilingColumns {
		names = append(names, c.Name)
	}
	for _, n := range names {
		if !strings.Contains(text, "`"+n+"`") {
			t.Errorf("docs/results.md does not name the column %s", n)
		}
	}
}
