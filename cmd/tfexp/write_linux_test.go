package main

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/tfexp/tfexp/cmd/tfexp/filearg"
)

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error { _, err := io.WriteString(w, s); return err }
}

// A target that is not a regular file is not replaced by a file: `-o /dev/null`, run as root, must keep the device.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.WriteFile(path("file"), []byte("old"), 0o600))
	must(os.Symlink("file", path("link")))
	must(os.Symlink("nowhere", path("dangling")))
	must(os.Symlink(os.DevNull, path("null")))
	must(syscall.Mkfifo(path("pipe"), 0o600))
	must(syscall.Mkfifo(path("read"), 0o600))
	reader, err := os.OpenFile(path("read"), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	must(err)
	defer reader.Close()

	for _, c := range []struct {
		name, file string      // the file that has the text afterwards
		mode       os.FileMode // 0: any
	}{
		{"new", "new", 0}, {"link", "file", 0o600}, {"file", "file", 0o600}, {"dangling", "dangling", 0},
	} {
		must(filearg.Write(path(c.name), text("text of "+c.name)))
		raw, err := os.ReadFile(path(c.file))
		if info, e := os.Lstat(path(c.file)); err != nil || e != nil || string(raw) != "text of "+c.name ||
			!info.Mode().IsRegular() || c.mode != 0 && info.Mode() != c.mode {
			t.Errorf("%s: %q, %v, %v, want its text, as a file of mode %v", c.name, raw, info.Mode(), err, c.mode)
		}
	}
	if to, err := os.Readlink(path("link")); to != "file" {
		t.Errorf("the link leads to %q, %v", to, err)
	}

	must(filearg.Write(path("null"), text("x")))
	if info, err := os.Stat(path("null")); err != nil || info.Mode()&os.ModeDevice == 0 {
		t.Errorf("the device is %v, %v", info, err)
	}
	must(filearg.Write(path("read"), text("through a pipe")))
	if raw, err := io.ReadAll(reader); string(raw) != "through a pipe" {
		t.Errorf("the pipe had %q, %v", raw, err)
	}
	if err := filearg.Write(path("pipe"), text("x")); err == nil || !strings.Contains(err.Error(), "nothing reads") {
		t.Errorf("a pipe that nothing reads: %v", err)
	}
	if info, err := os.Lstat(path("pipe")); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe is %v, %v", info, err)
	}
	if err := filearg.Write(dir, text("x")); err == nil {
		t.Error("a folder is replaced")
	}

	broken := errors.New("no more")
	err = filearg.Write(path("file"), func(w io.Writer) error { _ = text("half")(w); return broken })
	if raw, _ := os.ReadFile(path("file")); !errors.Is(err, broken) || string(raw) != "text of file" {
		t.Errorf("what could not be written: %v, and the file has %q", err, raw)
	}
}
