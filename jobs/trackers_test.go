//go:build unix

package jobs_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/results/resultstest"
)

// TestTrackers runs the tests of the exports to trackers where their libraries are, and exports results as tfexp writes
// them.
func TestTrackers(t *testing.T) {
	python := os.Getenv("TFEXP_TRACKERS")
	var missing error
	if python == "" {
		missing = errors.New("TFEXP_TRACKERS names no Python")
	}
	need.This(t, "trackers", missing,
		"python3 -m venv DIR && DIR/bin/pip install tensorboard mlflow-skinny; TFEXP_TRACKERS=DIR/bin/python")
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), python, args...)
		cmd.Dir = "tfexp_results"
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", args, err, out)
		}
		return string(out)
	}
	if text := run("-m", "unittest", "-v", "tests.test_runs"); strings.Contains(text, "skipped") {
		t.Errorf("tests were skipped:\n%s", text)
	}
	from, to := resultstest.Small().Write(t), t.TempDir()
	for _, tracker := range []string{"mlflow", "tensorboard"} {
		out := run("-m", "tfexp_results", tracker, from, "--to", filepath.Join(to, tracker))
		if !strings.Contains(out, "fcfs_vs_rr: 10 runs in ") {
			t.Errorf("%s:\n%s", tracker, out)
		}
	}
	run("tests/read_back.py", filepath.Join(to, "tensorboard", "fcfs_vs_rr"), filepath.Join(to, "mlflow"))
}
