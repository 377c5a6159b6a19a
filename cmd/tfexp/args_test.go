package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLongForms(t *testing.T) {
	in := []string{"run", "a.hcl", "-var", "a=1", "-var=b=2", "--var", "c=3", "-var-file", "f", "-var-file=g",
		"-variable", "--", "-var"}
	want := []string{"run", "a.hcl", "--var", "a=1", "--var=b=2", "--var", "c=3", "--var-file", "f", "--var-file=g",
		"-variable", "--", "-var"}
	if d := cmp.Diff(want, LongForms(in)); d != "" {
		t.Error(d)
	}
}

func TestNearest(t *testing.T) {
	candidates := []string{"run", "resume", "report", "plan"}
	for _, c := range []struct{ in, want string }{
		{"rnu", "run"}, {"repotr", "report"}, {"resum", "resume"}, {"pan", "plan"}, {"xyz", ""}, {"", ""},
	} {
		if got := Nearest(c.in, candidates); got != c.want {
			t.Errorf("nearest(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestExperimentFilesAreThoseThatCanBeRun(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"b.hcl", "a.hcl.json", "notes.json", ".hidden.hcl"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.hcl"), 0o755); err != nil {
		t.Fatal(err)
	}
	want := []string{filepath.Join(dir, "a.hcl.json"), filepath.Join(dir, "b.hcl")}
	if d := cmp.Diff(want, ExperimentFiles(dir)); d != "" {
		t.Error(d)
	}
}
