package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// ownMachine is a Linux kernel that runs as a program. It acts as a second machine with the same files.
const ownMachine = "linux.uml"

// envOwnClock is set if this program runs on such a machine. It may then set the clock.
const envOwnClock = "TFEXP_TEST_OWN_CLOCK"

func ownClock() bool { return os.Getenv(envOwnClock) != "" }

// setClock moves the clock forwards or backwards, by more or less than the duration of a run.
func (x *crash) setClock() {
	x.Helper()
	by := []time.Duration{-400 * 24 * time.Hour, 400 * 24 * time.Hour, -20 * time.Second, time.Hour}[x.random.IntN(4)]
	now := unix.NsecToTimeval(time.Now().Add(by).UnixNano())
	if err := unix.Settimeofday(&now); err != nil {
		x.Fatalf("set the clock: %v", err)
	}
	x.Logf("the clock jumps by %v", by)
}

// inOwnMachine tries a combination on a machine whose clock it may set.
func inOwnMachine(t *testing.T, c combination) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	quoted := func(word string) string { return "'" + word + "'" } // no word has a quote
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	init, status := filepath.Join(dir, "init"), filepath.Join(dir, "status")
	script := fmt.Sprintf(`#!/bin/sh
export PATH=%s HOME=/mnt TMPDIR=/mnt %s=1
mount -t proc proc /proc && mount -t sysfs sys /sys && mount -t tmpfs tmp /mnt && mount -t tmpfs run /run
ip link set lo up
cd %s
%s -test.v -test.timeout 1h -test.run '^TestCrashAndResume$' -crashes 100 -crashes-of '^%s$' -crashes-seed %d
echo $? >%s
poweroff -f
`, quoted(os.Getenv("PATH")), envOwnClock, quoted(here), quoted(self), c, *crashesSeed, quoted(status))
	if err := os.WriteFile(init, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, ownMachine, "mem=2G", "rootfstype=hostfs", "rootflags=/", "rw", "init="+init,
		"con=null", "con0=null,fd:1", "quiet")
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, err := cmd.CombinedOutput()
	raw, _ := os.ReadFile(status)
	if strings.TrimSpace(string(raw)) != "0" || !bytes.Contains(out, []byte("--- PASS: TestCrashAndResume/"+c.String())) {
		t.Errorf("on a machine of its own: %v, status %q\n%s", err, raw, out)
	}
}
