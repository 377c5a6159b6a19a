package hardware

import (
	"io"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// The CPU time of a child's child counts as this process's own while it runs.
func TestTreeSeconds(t *testing.T) {
	_, before := treeSeconds()
	child := exec.Command("sh", "-c", "sh -c 'while :; do :; done' & wait")
	child.Stdout, child.SysProcAttr = io.Discard, &syscall.SysProcAttr{Setpgid: true}
	if err := child.Start(); err != nil {
		t.Skip(err)
	}
	defer func() {
		_ = syscall.Kill(-child.Process.Pid, syscall.SIGKILL)
		_ = child.Wait()
	}()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		used, own := treeSeconds()
		if own > before+0.3 && used >= own {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%g s of %g s are its own, %g s before", own, used, before)
		}
	}
}
