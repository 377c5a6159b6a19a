package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestNoCommandAsksTheTerminal: commands send no queries to the terminal, for example about its colors. A terminal
// without answers (script, a container with -t, a CI system) would make a command wait.
func TestNoCommandAsksTheTerminal(t *testing.T) {
	screen, tty := terminal(t, unix.Winsize{})
	cmd := exec.Command(asTfexp(t), "version")
	cmd.Env = append(os.Environ(), noRaceSleep, "TERM=xterm-256color")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	err := cmd.Start()
	tty.Close()
	if err != nil {
		t.Fatal(err)
	}
	out, _ := io.ReadAll(screen) // ends with an error when the last program has closed the terminal
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if !bytes.HasPrefix(out, []byte("tfexp ")) || bytes.ContainsRune(out, '\x1b') {
		t.Errorf("the terminal was sent %q", out)
	}
}

// terminal opens a pseudo terminal of a size, and returns the user's side and the program's side. The test is skipped
// if the system has no pseudo terminals.
func terminal(t *testing.T, size unix.Winsize) (screen, tty *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("needs pseudo terminals: %v", err)
	}
	t.Cleanup(func() { screen.Close() })
	number, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err := errors.Join(err, unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0),
		unix.IoctlSetWinsize(int(screen.Fd()), unix.TIOCSWINSZ, &size)); err != nil {
		t.Skipf("needs pseudo terminals: %v", err)
	}
	if tty, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|syscall.O_NOCTTY, 0); err != nil {
		t.Skipf("needs pseudo terminals: %v", err)
	}
	return screen, tty
}
