//go:build unix

package experiment_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tfexp/tfexp/stages/experiment"
)

// Below lists files in the same order whatever their order on the disk, and skips files that change by themselves.
func TestUntrackable(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b/c.txt", "a.txt", "__pycache__/x.pyc", ".git/HEAD", "results/e/plan.json",
		"results/e/journal.jsonl", "results/e/cells/c", "plan.json"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	err := experiment.Below(dir, func(name string, _ os.DirEntry) error {
		names = append(names, name)
		return nil
	})
	if got := strings.Join(names, " "); err != nil || got != "a.txt b/c.txt plan.json" {
		t.Errorf("%s, %v", got, err)
	}
	if err := experiment.Untrackable(dir); err != nil {
		t.Error(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "b", "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir:         "it contains b/pipe, a pipe, whose content cannot be compared",
		"/dev/null": "it is a device, whose content cannot be compared",
	} {
		if err := experiment.Untrackable(path); err == nil || err.Error() != want {
			t.Errorf("%s: %v", path, err)
		}
	}
}
