package docker

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tfexp/tfexp/hardware/engine"
)

// Leftovers of other killed runs are searched in folders with a note that nobody is using.
func TestFoldersThatAreSweptBeside(t *testing.T) {
	parent := t.TempDir()
	for name, note := range map[string]string{
		"own": `[]`, "killed": `[]`, "running": `[]`, "torn": `["unix`, "whole": "",
	} {
		dir := filepath.Join(parent, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if note != "" {
			if err := os.WriteFile(filepath.Join(dir, daemonListFile), []byte(note), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	var asked, released []string
	s := &session{run: engine.Run{Dir: filepath.Join(parent, "own"), Lock: func(dir string) (func(), bool) {
		name := filepath.Base(dir)
		asked = append(asked, name)
		return func() { released = append(released, name) }, name != "running"
	}}}
	if removed := s.sweepOtherRuns(); removed != nil {
		t.Errorf("removed %q", removed)
	}
	if !slices.Equal(asked, []string{"killed", "running"}) || !slices.Equal(released, []string{"killed"}) {
		t.Errorf("asked for %q, released %q", asked, released)
	}
	if _, err := os.Stat(filepath.Join(parent, "killed", daemonListFile)); !os.IsNotExist(err) {
		t.Errorf("the note of a run that left nothing is kept: %v", err)
	}
	if _, err := os.Stat(filepath.Join(parent, "running", daemonListFile)); err != nil {
		t.Errorf("the note of a run that goes on is gone: %v", err)
	}
}
