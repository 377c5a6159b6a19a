package folder

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file may have exactly the maximum number of bytes.
func TestReadWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(path, []byte("12345"), 0o644); err != nil {
		t.Fatal(err)
	}
	for most := int64(3); most < 8; most++ {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := readWhole(&File{f}, most)
		f.Close()
		if most < 5 && !errors.Is(err, ErrTooLarge) || most >= 5 && (err != nil || string(raw) != "12345") {
			t.Errorf("at most %d: %q, %v", most, raw, err)
		}
	}
	// The bound also holds for input of unknown size, such as a pipe.
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := w.WriteString("12345"); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if raw, err := readWhole(&File{r}, 4); !errors.Is(err, ErrTooLarge) {
		t.Errorf("%q, %v", raw, err)
	}
}

// Lines are read in full, up to the bound.
func TestReadLine(t *testing.T) {
	const size = 16
	for _, n := range []int{0, 1, size - 1, size, size + 1, 5 * size, mostLine - 1, mostLine, mostLine + size} {
		in := bufio.NewReaderSize(strings.NewReader(strings.Repeat("x", n)+"\nnext\n"), max(size, n/64))
		line, err := ReadLine(in)
		if n+1 > mostLine {
			if err == nil || !strings.Contains(err.Error(), "longer than 16 MiB") {
				t.Errorf("%d bytes: %v", n, err)
			}
			continue
		}
		if err != nil || len(line) != n+1 || line[n] != '\n' {
			t.Errorf("%d bytes: %d, %v", n, len(line), err)
		}
		if line, err := ReadLine(in); err != nil || string(line) != "next\n" {
			t.Errorf("after %d bytes: %q, %v", n, line, err)
		}
	}
	in := bufio.NewReaderSize(strings.NewReader(strings.Repeat("x", 50)), size)
	if line, err := ReadLine(in); !errors.Is(err, io.EOF) || len(line) != 50 {
		t.Errorf("a line without an end: %d bytes, %v", len(line), err)
	}
}

// Errors name the operation in plain words.
func TestOperations(t *testing.T) {
	dir := t.TempDir()
	_, opened := Open(dir, "none")
	_, described := Stat(dir, "none")
	if opened == nil || !strings.HasPrefix(opened.Error(), "open "+filepath.Join(dir, "none")) {
		t.Errorf("%v", opened)
	}
	if described == nil || !strings.HasPrefix(described.Error(), "stat "+filepath.Join(dir, "none")) {
		t.Errorf("%v", described)
	}
}
