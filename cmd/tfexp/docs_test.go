package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/stages/execute"
)

// TestDocumentedCommands runs every command of the tutorial and of the how-tos, in their order, each document in
// its own folder. Programs and numbers of jobs written by the commands are made small first.
func TestDocumentedCommands(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real jobs")
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("the tutorial needs python3")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "tfexp")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"tutorial.md", "howto.md"} {
		raw, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		dir, n := t.TempDir(), 0
		if name == "howto.md" { // the reader's files
			write(t, filepath.Join(dir, "jobs.csv"), "submitted;duration;cpus\n2024-03-04 08:00:00;3600;8\n"+
				"2024-03-04 08:10:00;3600;8\n2024-03-04 08:20:00;60;2\n")
			write(t, filepath.Join(dir, "train.py"), "import os\nprint(os.environ['TFEXP_EPOCHS'])\n")
		}
		for line := range bytes.Lines(raw) {
			command, ok := strings.CutPrefix(strings.TrimSpace(string(line)), "$ tfexp ")
			if !ok {
				continue
			}
			n++
			cmd := exec.Command("sh", "-c", "tfexp "+command)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), noRaceSleep, execute.KeepDisturbed+"=1",
				"PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: tfexp %s: %v\n%s", name, command, err, out)
			}
			shrink(t, dir)
		}
		if n == 0 {
			t.Errorf("%s has no commands", name)
		}
	}
}

// shrink makes the files written by the documents quick to run.
func shrink(t *testing.T, dir string) {
	t.Helper()
	for name, changes := range map[string][]string{
		"study.hcl": {"replicates  = 3", "replicates  = 1", "count = 2", "count = 1", "count        = 4", "count        = 1",
			"epochs  = 40", "epochs  = 9", "epochs  = 8", "epochs  = 6"},
		"sweep.hcl": {"replicates  = 10", "replicates  = 1", "count        = 150", "count        = 20", "plot \"gantt\" {}\n",
			""},
		"train.py": {"range(20_000)", "range(20)"},
	} {
		path := filepath.Join(dir, name)
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // not written yet
		}
		write(t, path, strings.NewReplacer(changes...).Replace(string(raw)))
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
