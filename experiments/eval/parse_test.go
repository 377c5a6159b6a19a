//go:build unix

package eval

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe is read while something writes to it, as a shell's <(…) does; one that nothing writes to is no reason to wait.
func TestReadSourceOfPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	if src, err := ReadSource(path); err == nil || !strings.Contains(err.Error(), "nothing writes to") {
		t.Errorf("%q, %v", src, err)
	}
	in, err := os.OpenFile(path, os.O_RDWR, 0) // does not wait for a reader
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.WriteString("experiment"); err != nil {
		t.Fatal(err)
	}
	go func() {
		out, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			_, _ = out.WriteString(" \"e\" {}")
			_ = out.Close()
		}
		_ = in.Close()
	}()
	if src, err := ReadSource(path); err != nil || string(src) != `experiment "e" {}` {
		t.Errorf("%q, %v", src, err)
	}
}
