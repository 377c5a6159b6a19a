package blocks

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
	"github.com/tfexp/tfexp/scheduler/workload"
)

// source is a file that an experiment reads.
type source struct {
	path  string // absolute
	shown string // in messages
}

// source finds a file by its name in the experiment.
func (d *Decoder) source(name string) source {
	if filepath.IsAbs(name) {
		return source{path: filepath.Clean(name), shown: name}
	}
	return source{path: d.path(name), shown: filepath.Join(filepath.Dir(d.filename), name)}
}

// readAll has a file read, unpacked, and returns the digest of its content.
func readAll(s source, read func(io.Reader) error) (digest string, err error) {
	f, err := os.Open(s.path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	all := io.TeeReader(f, hash)
	text, err := unpack(s.path, all)
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

// traceErrors reports what is wrong with a file: each malformed line at its
// place in it.
func (d *Decoder) traceErrors(t source, at hcl.Range, err error) {
	lines := experiments.LineErrors(err)
	for i, l := range lines {
		detail := sentence(l.Err.Error())
		if i == workload.MaxErrors-1 {
			detail += " Reading stopped here; there may be more."
		}
		d.atLine(t, l.Line, "Malformed line", detail)
	}
	switch {
	case len(lines) > 0:
	case errors.Is(err, fs.ErrNotExist):
		d.Errorf(at, "Cannot read the file", "There is no file %s.", t.shown)
	default:
		d.Errorf(at, "Cannot read the file", "%v.", err)
	}
}

func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] + "." }

// AtLine reports an error at a line of a trace's file.
func (d *Decoder) AtLine(t *experiments.Trace, line int, summary, detail string) {
	d.atLine(d.shown[t].source, line, summary, detail)
}

// atLine reports an error at a line of a file, which is read again to show it.
func (d *Decoder) atLine(t source, line int, summary, detail string) {
	if d.Files[t.shown] == nil {
		d.Files[t.shown] = &hcl.File{Bytes: wholeFile(t.path)}
	}
	text, from := d.Files[t.shown].Bytes, 0
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
		File:  t.shown,
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
