package command

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/engine"
	"github.com/tfexp/tfexp/pipeline"
	"github.com/tfexp/tfexp/pipeline/store"
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
		if got := schema.Nearest(c.in, candidates); got != c.want {
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

func TestVerdict(t *testing.T) {
	for _, c := range []struct {
		err  error
		code int
		hint string
	}{
		{nil, ExitOK, ""},
		{errors.New("disk full"), ExitInternal, ""},
		{fmt.Errorf("run: %w", pipeline.ErrInterrupted), ExitInterrupted, ""},
		{fmt.Errorf("run: %w", &store.InUseError{Dir: "d", Holder: "process 1"}), ExitInUse,
			"wait until that run has ended, or choose another folder with --out"},
		{fmt.Errorf("run: %w", &engine.Unavailable{Engine: "process", Err: errors.New("no"), Hint: "do this"}),
			ExitUnavailable, "do this"},
		{fmt.Errorf("run: %w", &Error{Code: ExitCellsFailed, Err: errors.New("2 cells failed"), Hint: "look"}),
			ExitCellsFailed, "look"},
		{fmt.Errorf("run: %w", pipeline.ErrAlike), ExitUsage,
			"rename a workload, hardware, policy or axis after which they are named, or choose a folder on another file system with --out"},
		{fmt.Errorf("resume: %w", pipeline.ErrNotBegun), ExitUsage, `"tfexp run FILE" starts it again`},
		{fmt.Errorf("write: %w", syscall.EDQUOT), ExitInternal,
			"remove files of yours, or have your quota raised, and run it again: finished work is kept"},
		{fmt.Errorf("lock: %w", syscall.ENOLCK), ExitInternal,
			"this file system cannot lock files, as NFS without its lock service: choose a folder on another one with --out"},
		{Silently(ExitInvalid), ExitInvalid, ""},
		{Silently(ExitOK), ExitOK, ""},
	} {
		code, hint := Verdict(c.err)
		if code != c.code || hint != c.hint {
			t.Errorf("verdict(%v) = %d, %q, want %d, %q", c.err, code, hint, c.code, c.hint)
		}
	}
}

// If the argument is a file and not a folder, the hint names the file.
func TestVerdictOfWhatIsNoFolder(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cells")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	err := &fs.PathError{Op: "open", Path: filepath.Join(file, "a", "jobs.csv"), Err: syscall.ENOTDIR}
	want := file + " is not a folder: move it away, or name another folder"
	if code, hint := Verdict(fmt.Errorf("read: %w", err)); code != ExitInternal || hint != want {
		t.Errorf("verdict = %d, %q, want %q", code, hint, want)
	}
}

func TestExitSaysItOnce(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{Usagef("did you mean x?", "unknown y"), "Error: unknown y\n  did you mean x?\n"},
		{errors.New("plain"), "Error: plain\n"},
		{errors.New(strings.Repeat("ä", 1<<20)), "Error: " + strings.Repeat("ä", 4000) + "…\n"},
		{Silently(ExitInvalid), ""},
		{nil, ""},
	} {
		var stdout, stderr bytes.Buffer
		New(&stdout, &stderr).Exit(c.err)
		if stderr.String() != c.want || stdout.Len() > 0 {
			t.Errorf("exit(%v) said %q on stderr, %q on stdout", c.err, &stderr, &stdout)
		}
	}
}
