package folder_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/folder"
)

func TestTail(t *testing.T) {
	const tailLines = 12
	dir := t.TempDir()
	path := filepath.Join(dir, "x.log")
	var b strings.Builder
	for range 100_000 {
		b.WriteString("a line of a long log\x1b[0m\n")
	}
	b.WriteString("the end")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := folder.Tail(dir, tailLines, "x.log")
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(got, "\n"); len(lines) != tailLines || lines[11] != "the end" ||
		lines[0] != "a line of a long log[0m" {
		t.Errorf("Tail = %q", got)
	}
	if got, err := folder.Tail(dir, tailLines, "y.log"); got != "" || err != nil {
		t.Errorf("a log that is not there: %q, %v", got, err)
	}
}
