//go:build unix

package datafile

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/scheduler/workload/textfile"
	"github.com/tfexp/tfexp/stages/language"
)

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// gzipped returns n repetitions of a text, compressed with gzip.
func gzipped(t *testing.T, n int, c string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	part := []byte(strings.Repeat(c, 1<<20))
	for range n >> 20 {
		if _, err := w.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Only regular files are read, and no file that uncompresses to far more than text does.
func TestReadFileRefuses(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	bomb := filepath.Join(dir, "bomb.csv.gz")
	put(t, bomb, gzipped(t, 66<<20, "\n"))
	for path, want := range map[string]string{
		fifo:                        "is not a regular file: it is a pipe",
		"/dev/zero":                 "is not a regular file: it is a device",
		dir:                         "is a folder",
		bomb:                        "unpacks to more than 50 times its size",
		filepath.Join(dir, "a.csv"): "no such file",
	} {
		_, err := ReadFile(language.Input{Path: path, Shown: path}, func(r io.Reader) error {
			_, err := io.Copy(io.Discard, r)
			return err
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

// Reading stops early for a small file that uncompresses to a large one, and always at the absolute limit.
func TestUnpackIsBounded(t *testing.T) {
	bomb := filepath.Join(t.TempDir(), "bomb.csv.gz")
	put(t, bomb, gzipped(t, 100<<20, "1,2,3\n")) // about 100 kB
	read := int64(0)
	_, err := ReadFile(language.Input{Path: bomb, Shown: bomb}, func(r io.Reader) (err error) {
		read, err = io.Copy(io.Discard, r)
		return err
	})
	if err == nil || read > leastJudged+1<<20 {
		t.Errorf("%d bytes are read: %v", read, err)
	}
	large := &unpacked{text: strings.NewReader("x"), packed: &counter{n: mostUnpacked}, n: mostUnpacked + 1}
	if _, err := large.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), "more than 4 GiB") {
		t.Error(err)
	}
}

// The digest is of the stored file, up to its end.
func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	plain, gz := filepath.Join(dir, "a"), filepath.Join(dir, "a.gz")
	put(t, plain, "hello")
	put(t, gz, gzipped(t, 1<<20, "x"))
	digest, err := ReadFile(language.Input{Path: plain, Shown: plain}, func(io.Reader) error { return nil })
	if err != nil || digest != "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" {
		t.Errorf("%s, %v", digest, err)
	}
	_, err = ReadFile(language.Input{Path: gz, Shown: gz}, func(r io.Reader) error {
		text, err := io.ReadAll(r)
		if len(text) != 1<<20 {
			t.Errorf("%d bytes", len(text))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// An error shows its line of the file, without reading the rest of the file into memory.
func TestErrorsShowTheirLines(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.csv")
	long := strings.Repeat("x", 100_000)
	put(t, path, "one\r\ntwo\n"+long+"\nfour\n"+long)
	d := language.Finder{Reporter: eval.NewReporter()}
	from := language.Input{Path: path, Shown: "a.csv"}
	var joined []error
	for i, line := range []int{2, 3, 4, 5, 9} { // each line has a different mistake
		joined = append(joined, &textfile.LineError{File: "a.csv", Line: line, Err: fmt.Errorf("%c is missing", 'a'+i)})
	}
	FileErrors(d, from, hcl.Range{}, errors.Join(joined...))
	for i, want := range []struct {
		line, byte int
		text       string
	}{{2, 5, "two"}, {3, 9, long[:mostShown]}, {4, 100_010, "four"}, {5, 100_015, long[:mostShown]}} {
		got := d.List[i]
		if got.Range.Start.Line != want.line || got.Range.Start.Byte != want.byte || got.Snippet == nil ||
			got.Snippet.Code != want.text {
			t.Errorf("error %d: %+v with %+v", i, got.Range, got.Snippet)
		}
	}
	if last := d.List[4]; last.Snippet != nil {
		t.Errorf("a line that is not there shows %+v", last.Snippet)
	}
	var before, after runtime.MemStats
	huge := filepath.Join(dir, "huge.csv")
	put(t, huge, "")
	if err := os.Truncate(huge, 64<<20); err != nil { // the file uses no disk space
		t.Fatal(err)
	}
	runtime.ReadMemStats(&before)
	LineError(d, language.Input{Path: huge, Shown: "huge.csv"}, 1, "Too long", "It is too long.")
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("an error in a file of 64 MiB took %d bytes", n)
	}
}
