//go:build unix

package external

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/scheduler"
)

// hostEnv makes a test process run a cell with the program that it names.
const hostEnv = "TFEXP_TEST_HOST"

// host runs a cell whose program never answers.
func host(program string) {
	l := lot{cluster: scheduler.Cluster{Nodes: []scheduler.Node{{Name: "n", Threads: 1}}},
		jobs: []scheduler.Job{{Name: "a", Threads: 1}}, work: []simulated.Scaling{simulated.FullRequest(time.Second, 1)}}
	on, _ := simulated.New(l.jobs, l.work, simulated.Options{Cluster: l.cluster})
	c := task("", filepath.Dir(program), nil, "python3", program)
	c.Policy.Settings["limit"] = time.Hour
	_, err := scheduler.Run{Policy: c.Decider(context.Background()), Cluster: l.cluster, Jobs: l.jobs, Engine: on}.
		Execute(context.Background())
	fmt.Println(err)
}

// TestKilled checks that a policy's program and its child processes end when tfexp is killed.
func TestKilled(t *testing.T) {
	python3(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "program.py")
	err := os.WriteFile(program, []byte(raw+`
greet(); hear()
child = os.fork()
if child == 0:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.setsid()
    time.sleep(1000)
open("pids.new", "w").write(f"{os.getpid()} {child}")
os.rename("pids.new", "pids")
time.sleep(1000)
`), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), hostEnv+"="+program)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pids []string
	for begun := time.Now(); len(pids) == 0; time.Sleep(10 * time.Millisecond) {
		raw, _ := os.ReadFile(filepath.Join(dir, "pids"))
		if pids = strings.Fields(string(raw)); time.Since(begun) > time.Minute {
			t.Fatal("the program was not started")
		}
	}
	cmd.Process.Signal(syscall.SIGKILL)
	cmd.Wait()
	for _, text := range pids {
		pid, _ := strconv.Atoi(text)
		for begun := time.Now(); syscall.Kill(pid, 0) == nil; time.Sleep(10 * time.Millisecond) {
			syscall.Wait4(pid, nil, syscall.WNOHANG, nil) // a dead process may have become a child of this process
			if time.Since(begun) > time.Minute {
				t.Fatalf("process %d lives", pid)
			}
		}
	}
}
