//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/states"
	"github.com/tfexp/tfexp/results/record"
)

// hanging is an experiment whose second cell waits until the file "go" exists, and then ends at once. Samples do not
// wait.
const hanging = `
experiment "hanging" {
  replicates = 2
}

job "t" {
  command = ["sh", "-c", "[ $TFEXP_EPOCHS -lt 10 ] || mkdir once 2>/dev/null || test -e go || { trap '' TERM; touch hangs; sleep 300; }"]
  epochs  = 10
}

workload "w" {
  submit {
    job = job.t
  }
}

hardware "h" {
  engine  = "process"
  threads = 1
}

policy "fcfs" {
  order = "fcfs"
}

plot "jct" {}
`

// started is a tfexp that runs in its own folder.
type started struct {
	*exec.Cmd
	dir    string
	stderr bytes.Buffer
}

func tfexp(dir string, args ...string) *started {
	s := &started{Cmd: exec.Command("tfexp", args...), dir: dir} // TestMain has put tfexp in the path
	s.Dir, s.Stderr = dir, &s.stderr
	return s
}

// status runs the command to its end and returns its exit status.
func (s *started) status(t *testing.T) int {
	t.Helper()
	if s.Process == nil {
		if err := s.Start(); err != nil {
			t.Fatal(err)
		}
	}
	_ = s.Wait()
	return s.ProcessState.ExitCode()
}

// startHanging starts the experiment, and waits until its second cell hangs.
func startHanging(t *testing.T) *started {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "hanging.hcl"), []byte(hanging), 0o644); err != nil {
		t.Fatal(err)
	}
	s := tfexp(dir, "run", "hanging.hcl")
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Process.Kill() })
	waitFor(t, "the job hangs", func() bool { return command.Exists(filepath.Join(dir, "hangs")) })
	return s
}

// waitFor waits until a condition holds.
func waitFor(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for end := time.Now().Add(3 * time.Minute); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

func (s *started) let(t *testing.T) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
}

// state returns the state of the experiment according to "tfexp status".
func (s *started) state(t *testing.T) states.State {
	t.Helper()
	c := exec.Command("tfexp", "status", "--json")
	c.Dir = s.dir
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	var all []states.State
	if err := json.Unmarshal(out, &all); err != nil || len(all) != 1 {
		t.Fatalf("status: %v: %s", err, out)
	}
	return all[0]
}

func TestInterruptAndResume(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real jobs")
	}
	t.Parallel()
	s := startHanging(t)

	if got := s.state(t); got.State != "running" || got.Finished != 1 || len(got.Running) != 1 {
		t.Errorf("while it runs: %+v", got)
	}
	other := tfexp(s.dir, "run", "hanging.hcl")
	if code := other.status(t); code != command.ExitInUse || !strings.HasPrefix(other.stderr.String(), "Error: ") ||
		!strings.Contains(other.stderr.String(), "in use by process") {
		t.Errorf("a second run ended with %d: %s", code, other.stderr.String())
	}

	if err := s.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := s.status(t); code != command.ExitInterrupted {
		t.Errorf("interrupted run ended with %d", code)
	}
	for _, want := range []string{"stopping jobs", "resume with: tfexp resume results/hanging"} {
		if !strings.Contains(s.stderr.String(), want) {
			t.Errorf("%q was not said:\n%s", want, s.stderr.String())
		}
	}
	if got := s.state(t); got.State != "interrupted" || got.Finished != 1 || got.Left != 1 {
		t.Errorf("after the interrupt: %+v", got)
	}

	s.let(t)
	resumed := tfexp(s.dir, "resume")
	if code := resumed.status(t); code != command.ExitOK || !strings.Contains(resumed.stderr.String(), "1 reused, 1 to run") {
		t.Errorf("resume ended with %d: %s", code, resumed.stderr.String())
	}
	if got := s.state(t); got.State != "finished" || got.Finished != 2 {
		t.Errorf("after the resume: %+v", got)
	}
}

func TestSecondInterruptKillsAtOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real jobs")
	}
	t.Parallel()
	s := startHanging(t)
	// The job ignores SIGTERM, so stopping takes time after the first interrupt.
	for range 2 {
		if err := s.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond) // two signals at once may arrive as one
	}
	if code := s.status(t); code != command.ExitInterrupted {
		t.Errorf("ended with %d", code)
	}
	if got := s.state(t); got.State != "interrupted" {
		t.Errorf("afterwards: %+v", got)
	}
	s.let(t)
	if code := tfexp(s.dir, "resume").status(t); code != command.ExitOK {
		t.Errorf("resume ended with %d", code)
	}
}

func TestKilledRunIsResumable(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real jobs")
	}
	t.Parallel()
	s := startHanging(t)
	if err := s.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	s.status(t)
	if got := s.state(t); got.State != "interrupted" || got.Left != 1 {
		t.Errorf("after kill -9: %+v", got)
	}
	s.let(t)
	if code := tfexp(s.dir, "resume", "results/hanging").status(t); code != command.ExitOK {
		t.Errorf("resume ended with %d", code)
	}
}

// A tfexp that is stopped notices the ends of jobs too late, so the cell has a warning.
func TestStoppedRunHasAWarning(t *testing.T) {
	if testing.Short() {
		t.Skip("runs real jobs")
	}
	t.Parallel()
	dir := t.TempDir()
	waiting := strings.Replace(hanging, "mkdir once 2>/dev/null || test -e go || { trap '' TERM; touch hangs; sleep "+
		"300; }",
		"{ touch hangs; until test -e go; do sleep 0.02; done; }", 1)
	waiting = strings.Replace(waiting, "replicates = 2", "replicates = 1", 1)
	if err := os.WriteFile(filepath.Join(dir, "hanging.hcl"), []byte(waiting), 0o644); err != nil {
		t.Fatal(err)
	}
	s := tfexp(dir, "run", "hanging.hcl")
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Process.Kill() })
	waitFor(t, "the job hangs", func() bool { return command.Exists(filepath.Join(dir, "hangs")) })
	if err := s.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	s.let(t)
	time.Sleep(time.Second) // the time for which tfexp is stopped
	if err := s.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if code := s.status(t); code != command.ExitOK {
		t.Fatalf("ended with %d: %s", code, s.stderr.String())
	}
	e, err := record.Open(filepath.Join(dir, "results", "hanging"))
	if err != nil {
		t.Fatal(err)
	}
	if len(e.Cells) != 1 || !slices.ContainsFunc(e.Cells[0].Warnings, func(w record.Warning) bool {
		return w.Code == record.Disturbed
	}) {
		t.Errorf("the cells are %+v", e.Cells)
	}
}
