package instantiate

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/stages/experiment"
)

// TestInterpreter finds the Python of commands and of scripts.
func TestInterpreter(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("scripts name no interpreter there")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"python3": "#!/bin/sh\n", "a.py": "#!" + dir + "/python3 -u\n", "b.py": "#!/usr/bin/env " +
			"python3\n", "c.sh": "#!/bin/sh\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	own := filepath.Join(dir, "python3")
	for _, c := range []struct {
		job  experiment.Job
		want string
	}{
		{experiment.Job{Command: []string{"python3", "x.py"}}, own},
		{experiment.Job{Command: []string{"./python3", "x.py"}}, own},
		{experiment.Job{Command: []string{"./a.py"}}, own},
		{experiment.Job{Command: []string{"./b.py"}}, own},
		{experiment.Job{Command: []string{"./c.sh"}}, ""},
		{experiment.Job{Command: []string{"./c.sh"}, Env: []schema.Setting{{Name: "PYTHON", Value: "python3"}}}, own},
	} {
		c.job.Dir = dir
		if got := interpreter(&c.job); got != c.want {
			t.Errorf("%q: %q, want %q", c.job.Command, got, c.want)
		}
	}
}

// TestPython asks a real interpreter, one that fails, and a missing one.
func TestPython(t *testing.T) {
	if p := Python(context.Background(), "no-such-python"); p.Error == "" || p.Packages != nil {
		t.Errorf("one that is not there: %+v", p)
	}
	python, err := exec.LookPath("python3")
	need.This(t, "python3", err, "install Python 3.8 or newer")
	p := Python(t.Context(), python)
	if p.Error != "" || !strings.HasPrefix(p.Version, "3.") {
		t.Errorf("%+v", p)
	}
	stopped, cancel := context.WithCancelCause(context.Background())
	cancel(errors.New("stopped"))
	if p := Python(stopped, python); !strings.Contains(p.Error, "stopped") {
		t.Errorf("stopped: %+v", p)
	}
}
