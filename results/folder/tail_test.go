package folder_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/results/folder"
)

func TestTail(t *testing.T) {
	const tailLines = 12
	dir := t.TempDir()
	path := filepath.Join(dir, "x.log")
	var b strings.Builder
	for range 100_000 {
		b.WriteString("a line of a long log\x1b[0m\n")
	}
	b.WriteString("the end")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	got, err := folder.Tail(dir, tailLines, "x.log")
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(got, "\n"); len(lines) != tailLines || lines[11] != "the end" ||
		lines[0] != "a line of a long log[0m" {
		t.Errorf("Tail = %q", got)
	}
	if got, err := folder.Tail(dir, tailLines, "y.log"); got != "" || err != nil {
		t.Errorf("a log that is not there: %q, %v", got, err)
	}
}

// If only the end of a log is read, an incomplete first line is left out. If all of it is read, no line is left out.
func TestTailOfFewLines(t *testing.T) {
	dir := t.TempDir()
	long := strings.Repeat("x", 3000)
	for _, c := range []struct{ log, want string }{
		{"one\ntwo\n", "one\ntwo"},
		{"one", "one"},
		{"", ""},
		{long + "\n" + long + "\nend\n", long + "\nend"},
		{long + long, (long + long)[6000-4096:]}, // a single long line: its end is kept
		{"a\tb\x7f\x00c\xff\n", "a\tbc\uFFFD"},
	} {
		if err := os.WriteFile(filepath.Join(dir, "x.log"), []byte(c.log), 0o644); err != nil {
			t.Fatal(err)
		}
		if got, err := folder.Tail(dir, 5, "x.log"); err != nil || got != c.want {
			t.Errorf("the tail of %d bytes is %d bytes: %.20q, %v", len(c.log), len(got), got, err)
		}
	}
}

// A file is replaced as a whole, or not at all.
func TestWriteFrom(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	if err := folder.Write(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	err := folder.WriteFrom(path, 0o600, func(w io.Writer) error {
		if _, err := w.Write([]byte("half")); err != nil {
			return err
		}
		return broken
	})
	if raw, rerr := os.ReadFile(path); !errors.Is(err, broken) || rerr != nil || string(raw) != "old" {
		t.Errorf("%q after an error: %v, %v", raw, err, rerr)
	}
	if err := folder.Write(path, []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	if raw, err := os.ReadFile(path); err != nil || string(raw) != "new" {
		t.Errorf("%q, %v", raw, err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%d files are left: %v", len(left), err)
	}
	if err := folder.Write(filepath.Join(dir, "no", "x"), nil, 0o600); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("into a folder that is not there: %v", err)
	}
	for name, isDir := range map[string]bool{"x": false, ".": true} {
		if info, err := folder.Stat(dir, name); err != nil || info.IsDir() != isDir {
			t.Errorf("stat %s: %v", name, err)
		}
	}
}
