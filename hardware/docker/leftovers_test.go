package docker

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/hardware/engine"
)

// Containers of other killed runs are looked for in neighboring folders with a note, if nobody uses them.
func TestFoldersThatAreSweptBeside(t *testing.T) {
	parent := t.TempDir()
	for name, note := range map[string]string{
		"own": `{}`, "killed": `{}`, "running": `{}`, "torn": `["unix`, "whole": "",
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

// If the folder of a killed run was moved, its note still identifies the containers. They are not removed while
// somebody uses the original folder, because then the note is a copy.
func TestSweepOfAMovedFolder(t *testing.T) {
	h := local(t)
	here, moved, copied := t.TempDir(), filepath.Join(t.TempDir(), "moved"), t.TempDir()
	mark := rand.Text() // marks of earlier tests are different
	for id, dir := range map[string]string{"killed": filepath.Join(here, "gone"), "copied": copied, "other": here} {
		docker(t, "run", "--detach", "--network", "none", "--label", LabelRun+"=x", "--label", LabelSession+"="+id+mark, "--label",
			LabelFolder+"="+dir, "--label", LabelJob+"="+id, testImage, "sleep", "60")
	}
	t.Cleanup(func() {
		for _, id := range []string{"copied", "other"} {
			if left, err := h.labelled(context.Background(), LabelSession+"="+id+mark); err == nil {
				_, _ = h.remove(context.Background(), left)
			}
		}
	})
	s := &session{hosts: map[string]*Host{"": h}, run: engine.Run{Lock: func(dir string) (func(), bool) {
		return func() {}, dir != copied
	}}}
	list := daemonList{Hosts: []string{"", "unix:///nobody"}, Sessions: []string{"killed" + mark, "copied" + mark}}
	removed, silent, err := s.sweep(moved, list)
	if err != nil || len(removed) != 1 || !strings.Contains(removed[0], "job killed") || !slices.Equal(silent, list.Hosts[1:]) {
		t.Errorf("removed %q, no answer from %q, %v", removed, silent, err)
	}
}
