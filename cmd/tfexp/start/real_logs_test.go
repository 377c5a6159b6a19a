package start_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRealLogs reads the progress in outputs of real programs, written to a file and to a terminal (see
// testdata/real/README.md). The expected reports are in testdata/real/expected.txt; each was compared with the output.
func TestRealLogs(t *testing.T) {
	folder := filepath.Join("testdata", "real")
	raw, err := os.ReadFile(filepath.Join(folder, "expected.txt"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for line := range strings.Lines(string(raw)) {
		file, reports, _ := strings.Cut(strings.TrimSpace(line), ": ")
		want[file] = reports
	}
	outputs, err := filepath.Glob(filepath.Join(folder, "*.[ft][ie]*")) // .file and .terminal
	if err != nil || len(outputs) < 90 || len(outputs) != len(want) {
		t.Fatalf("%d outputs, %d expected reports, %v", len(outputs), len(want), err)
	}
	for _, output := range outputs {
		name := filepath.Base(output)
		program := strings.TrimSuffix(output, filepath.Ext(output)) + ".py"
		if strings.HasPrefix(name, "spacy") {
			program = filepath.Join(folder, "spacy.sh")
		}
		source, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		printed, err := os.ReadFile(output)
		if err != nil {
			t.Fatal(err)
		}
		told, warned := followed(t, string(source), string(printed))
		if got := strings.Join(told, ", "); got != want[name] || len(warned) > 0 {
			t.Errorf("%s: %s; warned %q", name, got, warned)
		}
	}
}
