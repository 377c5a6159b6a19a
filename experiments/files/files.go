// Package files reads the files that an experiment names, and reports errors at
// their lines.
package files

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/scheduler/workload"
)

// MaxSeconds keeps run times, and sums of many of them, within 64 bits of
// nanoseconds.
const MaxSeconds = 1e8

// File is a file that an experiment reads.
type File struct {
	Path  string // absolute
	Shown string // in messages
}

// Finder finds the files that an experiment file names.
type Finder struct {
	*eval.Reporter
	// Filename is the experiment file, and Dir its folder, absolute.
	Filename, Dir string
}

// Absolute makes a path of the file absolute.
func (d Finder) Absolute(p string) string {
	if filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(d.Dir, p)
}

// Find finds a file by its name in the experiment.
func (d Finder) Find(name string) File {
	if filepath.IsAbs(name) {
		return File{Path: filepath.Clean(name), Shown: name}
	}
	return File{Path: d.Absolute(name), Shown: filepath.Join(filepath.Dir(d.Filename), name)}
}

// ReadAll has a file read, unpacked, and returns the digest of its content.
func ReadAll(s File, read func(io.Reader) error) (digest string, err error) {
	f, err := os.Open(s.Path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	all := io.TeeReader(f, hash)
	text, err := unpack(s.Path, all)
	if err != nil {
		return "", err
	}
	if err := read(text); err != nil {
		return "", err
	}
	if _, err := io.Copy(io.Discard, all); err != nil { // what the reader left
		return "", err
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// unpack reads through gzip where the file's name says so.
func unpack(name string, r io.Reader) (io.Reader, error) {
	if filepath.Ext(name) != ".gz" {
		return r, nil
	}
	return gzip.NewReader(r)
}

// FileErrors reports what is wrong with a file: each malformed line at its
// place in it.
func (d Finder) FileErrors(t File, at hcl.Range, err error) {
	lines := experiments.LineErrors(err)
	for i, l := range lines {
		detail := Sentence(l.Err.Error())
		if i == workload.MaxErrors-1 {
			detail += " Reading stopped here; there may be more."
		}
		d.LineError(t, l.Line, "Malformed line", detail)
	}
	switch {
	case len(lines) > 0:
	case errors.Is(err, fs.ErrNotExist):
		d.Errorf(at, "Cannot read the file", "There is no file %s.", t.Shown)
	default:
		d.Errorf(at, "Cannot read the file", "%v.", err)
	}
}

// Sentence makes a sentence of a phrase.
func Sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }

// LineError reports an error at a line of a file, which is read again to show it.
func (d Finder) LineError(t File, line int, summary, detail string) {
	if d.Files[t.Shown] == nil {
		d.Files[t.Shown] = &hcl.File{Bytes: wholeFile(t.Path)}
	}
	text, from := d.Files[t.Shown].Bytes, 0
	for range line - 1 {
		i := bytes.IndexByte(text[from:], '\n')
		if i < 0 {
			break
		}
		from += i + 1
	}
	length := bytes.IndexByte(text[from:], '\n')
	if length < 0 {
		length = len(text) - from
	}
	length = len(bytes.TrimRight(text[from:from+length], "\r"))
	at := experiments.Range{
		File:  t.Shown,
		Start: experiments.Pos{Line: line, Column: 1, Byte: from},
		End:   experiments.Pos{Line: line, Column: 1 + length, Byte: from + length},
	}
	d.Add(experiments.ErrorAt(at, summary, "%s", detail))
}

// wholeFile returns a file's text; empty when it can no longer be read, which
// costs a message its snippet alone.
func wholeFile(path string) []byte {
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	r, err := unpack(path, f)
	if err != nil {
		return nil
	}
	text, _ := io.ReadAll(r) // as far as it goes
	return text
}
