//go:build linux

package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/hardware/need"
)

// onKubernetes skips a test if there is no cluster whose nodes see the files of this machine. The program tfexp is in
// the folder of the test, which is the volume of the tasks.
func onKubernetes(t *testing.T) (s *slurmed, on []string) {
	t.Helper()
	err := errors.New("KUBECONFIG is not set")
	if os.Getenv("KUBECONFIG") != "" {
		err = exec.Command("kubectl", "get", "--raw", "/readyz").Run()
	}
	need.This(t, "kubernetes", err, `eval "$(.ci/kubernetes start)"`)
	s = newSlurmed(t)
	program, err := os.ReadFile(s.program)
	if err == nil {
		s.program = filepath.Join(s.dir, "tfexp")
		err = os.WriteFile(s.program, program, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		left := s.objects(t)
		for range 600 { // deleted pods end soon
			if left == "" {
				return
			}
			time.Sleep(100 * time.Millisecond)
			left = s.objects(t)
		}
		t.Errorf("left in the cluster: %s", left)
	})
	return s, []string{"--on", "kubernetes", "--with", "image=tfexp/busybox:latest", "--with", "image_pull=never",
		"--with", "volume=host:" + s.dir}
}

// objects returns the Jobs and pods of tfexp.
func (s *slurmed) objects(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("kubectl", "get", "jobs,pods", "-l", "app.kubernetes.io/managed-by=tfexp", "-o", "name").Output()
	if err != nil {
		t.Error(err)
	}
	return string(out)
}

// Cells that run as tasks of an indexed Job have the same results as a local run. Tasks continue after tfexp has ended,
// and are collected later. A killed pod is a lost task, which is submitted again.
func TestRealTasksOnKubernetes(t *testing.T) {
	s, on := onKubernetes(t)
	s.write(t, "sweep.hcl", sweep)
	s.run(t, command.ExitOK, "run", "sweep.hcl", "--quiet", "--out", "local")
	if out := s.run(t, command.ExitUnavailable, append(on[:4:4], "run", "sweep.hcl")...); !strings.Contains(out, "volume=claim:NAME") {
		t.Error(out)
	}
	if out := s.run(t, command.ExitUnavailable, append(on[:len(on):len(on)], "run", "sweep.hcl", "--with",
		"program=/bin/no-tfexp")...); !strings.Contains(out, "/bin/no-tfexp") {
		t.Error(out)
	}
	s.run(t, command.ExitOK, append(on[:len(on):len(on)], "run", "sweep.hcl", "--batch", "5", "--detach")...)
	dir := filepath.Join(s.dir, "results", "sweep")
	cmd := s.command("resume")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 600 { // until tfexp has collected a task
		if raw, _ := os.ReadFile(filepath.Join(dir, "journal.jsonl")); bytes.Contains(raw, []byte(`"cell_end"`)) {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	cmd.Process.Kill()
	cmd.Wait()
	s.run(t, command.ExitOK, "resume")
	same(t, filepath.Join(s.dir, "local", "sweep"), dir)

	again := append(on[:len(on):len(on)], "run", "sweep.hcl", "--out", "again", "--batch", "20", "-var", "jobs=20000", "--quiet")
	cmd = s.command(again...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	journal := filepath.Join(s.dir, "again", "sweep", "journal.jsonl")
	for range 600 {
		if raw, _ := os.ReadFile(journal); bytes.Contains(raw, []byte("array_submitted")) {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if out, err := exec.Command("kubectl", "delete", "pods", "-l", "tfexp.dev/tasks", "--force").CombinedOutput(); err != nil {
		t.Errorf("%s: %v", out, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
}
