//go:build unix

package eval

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A pipe is read while a process writes to it, as in a shell's <(…). A pipe without a writer is an error and does not
// block.
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
	text := "experiment" + strings.Repeat(" ", 1<<20) + "\"e\" {}" // more than the buffer of a pipe: reading begins before all is written
	go func() {
		_, _ = in.WriteString(text)
		_ = in.Close()
	}()
	if src, err := ReadSource(path); err != nil || string(src) != text {
		t.Errorf("%d bytes of %d, %v", len(src), len(text), err)
	}
}
