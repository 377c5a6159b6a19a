//go:build unix

package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/stages/adaptation"
	"github.com/tfexp/tfexp/stages/adaptation/deepening"
)

// One agent trains on one scenario, and another agent starts from its weights. Training takes some seconds.
const learning = `
experiment "learning" {}

adaptation "net" {
  table     = "deepening.csv"
  decisions = 2
  seeds     = 1

  controller "agent" {
    name       = "taught"
    curriculum = ["late", "early"]
    episodes   = 60000
  }
}
`

// inFolder makes a folder with the experiment and its table.
func inFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	table, err := os.ReadFile(filepath.Join("..", "..", "pipeline", "decode", "testdata", "deepening.csv"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"deepening.csv": string(table), "learning.hcl": learning} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// agentsIn returns the content of a file of each agent, by the key of its training.
func agentsIn(t *testing.T, dir, file string) map[string]string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "results", "learning", adaptation.AgentsDir, "*", file))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, path := range found {
		raw, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) { // a checkpoint that was deleted because it is no longer needed
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(filepath.Dir(path))] = string(raw)
	}
	return all
}

// If tfexp is killed during an agent's training, a checkpoint remains. The resumed training continues from it and ends
// with the same weights, bit for bit, as an undisturbed one. The short form checks only the checkpoint; TestCheckpoints
// of package adaptation continues from one.
func TestKilledTrainingGoesOnToTheSameWeights(t *testing.T) {
	if testing.Short() {
		t.Skip("trains agents for some seconds")
	}
	t.Parallel()
	broken := inFolder(t)
	c := tfexp(broken, "run", "learning.hcl")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	waitFor(t, "a checkpoint", func() bool { return len(agentsIn(t, broken, "checkpoint")) > 0 })
	if err := c.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	c.status(t)
	if got := agentsIn(t, broken, "weights"); len(got) == 2 {
		t.Fatal("the agent had learned all before it was killed")
	}
	for _, raw := range agentsIn(t, broken, "checkpoint") {
		l, err := deepening.LoadLearner([]byte(raw))
		if err != nil || l.Episodes == 0 || l.Done() {
			t.Errorf("the checkpoint has %+v episodes, %v", l, err)
		}
		t.Logf("killed after %d of %d episodes", l.Episodes, l.Settings.Episodes)
	}
	if !need.Long() {
		return
	}

	if c := tfexp(broken, "resume"); c.status(t) != command.ExitOK {
		t.Fatal(c.stderr.String())
	}
	whole := inFolder(t)
	if c := tfexp(whole, "run", "learning.hcl"); c.status(t) != command.ExitOK {
		t.Fatal(c.stderr.String())
	}
	want, got := agentsIn(t, whole, "weights"), agentsIn(t, broken, "weights")
	if len(want) != 2 || len(got) != 2 {
		t.Fatalf("%d and %d trainings, want 2", len(want), len(got))
	}
	for key := range want {
		if want[key] != got[key] {
			t.Errorf("the training %s ended with other weights", key)
		}
	}
	if left := agentsIn(t, broken, "checkpoint"); len(left) > 0 {
		t.Errorf("%d checkpoints are left", len(left))
	}
}
