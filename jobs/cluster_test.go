//go:build unix

package jobs_test

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tfexp/tfexp/jobs/contract"
)

// tensorflowCluster starts a job of TensorFlow with a parameter server, two
// workers and a chief. It returns the chief's command and the others' commands.
func tensorflowCluster(t *testing.T, dir string, epochs int) (chief *exec.Cmd, others []*exec.Cmd) {
	t.Helper()
	f := frameworks[0]
	cluster := contract.Cluster{}
	for _, role := range []string{"ps", "worker", "worker", "chief"} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer ln.Close()
		cluster[role] = append(cluster[role], ln.Addr().String())
	}
	for _, part := range []contract.Part{
		{Role: "ps", Cluster: cluster}, {Role: "worker", Cluster: cluster}, {Role: "worker", Task: 1, Cluster: cluster},
		{Role: "chief", Cluster: cluster},
	} {
		env, err := part.Environ()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(f.python, f.program)
		cmd.Env = append(os.Environ(), append(env, fmt.Sprintf("%s=%d", contract.EnvEpochs, epochs), contract.EnvIntra+"=1",
			contract.EnvCheckpointDir+"="+filepath.Join(dir, "ck"), contract.EnvCheckpointEvery+"=30steps")...)
		log, err := os.OpenFile(filepath.Join(dir, part.Role), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		cmd.Stdout, cmd.Stderr = log, log
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if cmd.ProcessState == nil {
				cmd.Process.Kill()
				cmd.Wait()
			}
		})
		if part.Role == "chief" {
			return cmd, others
		}
		others = append(others, cmd)
	}
	return nil, nil
}

// endAll asks the other parts to end, as tfexp does when the chief has ended.
func endAll(t *testing.T, others []*exec.Cmd) {
	t.Helper()
	for _, cmd := range others {
		if cmd.ProcessState != nil {
			continue
		}
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
		if code := cmd.ProcessState.ExitCode(); code != contract.ExitStopped {
			t.Errorf("%s ends with %d, want %d", cmd.Args, code, contract.ExitStopped)
		}
	}
}

// TestTensorFlowCluster: parameter servers and workers of TensorFlow train
// together. The others continue without a killed worker. A killed chief resumes
// from its checkpoint.
func TestTensorFlowCluster(t *testing.T) {
	frameworks[0].needed(t)
	const epochs = 12
	dir := t.TempDir()
	log := filepath.Join(dir, "chief")
	until := func(text string) {
		t.Helper()
		for end := time.Now().Add(4 * time.Minute); ; time.Sleep(50 * time.Millisecond) {
			out, err := os.ReadFile(log)
			if bytes.Contains(out, []byte(text)) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("the chief does not print %s (%v) but\n%s", text, err, out)
			}
		}
	}
	chief, others := tensorflowCluster(t, dir, epochs)
	until(`"epoch": 2,`)
	others[2].Process.Kill()
	others[2].Wait()
	until(`"epoch": 5,`)
	chief.Process.Kill()
	chief.Wait()
	endAll(t, others)

	chief, others = tensorflowCluster(t, dir, epochs)
	if err := chief.Wait(); err != nil {
		out, _ := os.ReadFile(log)
		t.Fatalf("the chief's second start: %v\n%s", err, out)
	}
	endAll(t, others)
	report, lines := parse(t, log)
	if len(report.Resumed) != 1 || report.Resumed[0].LostSteps > 60 || len(report.Checkpoints) == 0 {
		t.Fatalf("resumed %v, %d checkpoints", report.Resumed, len(report.Checkpoints))
	}
	last := lines[len(lines)-1]
	if last.Epoch != epochs || last.Step != 23*epochs || len(report.Epochs) != epochs || *last.Accuracy < 0.93 {
		t.Errorf("the last line is %+v (accuracy %g), %d times", last, *last.Accuracy, len(report.Epochs))
	}
	if left, err := os.ReadDir(filepath.Join(dir, "ck")); err != nil || len(left) > 0 {
		t.Errorf("a finished training leaves %v, %v", left, err)
	}
	if out, err := os.ReadFile(log); err != nil || !strings.Contains(string(out), "continuing from the checkpoint") {
		t.Errorf("%v, %s", err, out)
	}
}
