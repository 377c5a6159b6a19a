package datafile

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/tfexp/tfexp/scheduler/workload/textfile"
)

// lookedAt is how many bytes of a file are examined before it is read as text.
const lookedAt = 4 << 10

// packings are the first bytes of compressed files.
var packings = []struct{ name, begins string }{
	{"gzip", "\x1f\x8b"},
	{"bzip2", "BZh"},
	{"zstd", "\x28\xb5\x2f\xfd"},
	{"zip", "PK\x03\x04"},
	{"xz", "\xfd7zXZ\x00"},
}

// packingOf returns the name of the compression of a file with these first bytes; empty if it is not compressed.
func packingOf(head []byte) string {
	for _, p := range packings {
		if bytes.HasPrefix(head, []byte(p.begins)) {
			return p.name
		}
	}
	return ""
}

// text returns a reader of a file's text in UTF-8. If the file is not text, the error names its kind.
func text(name string, r io.Reader) (io.Reader, error) {
	if isArchive(name) {
		return r, nil
	}
	in := bufio.NewReaderSize(r, 64<<10)
	head, _ := in.Peek(lookedAt) // a later read returns the error again
	if packed := packingOf(head); packed != "" {
		return nil, fmt.Errorf("it is packed with %s: unpack it, or pack it with gzip, bzip2, xz or zstd", packed)
	}
	switch at := bytes.IndexByte(head, 0); {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return textfile.Unmarked(in), nil // the text is UTF-16
	case at >= 0:
		return nil, fmt.Errorf("it is not text: byte %d is a NUL character", at+1)
	}
	return in, nil
}

// isArchive reports whether a file name belongs to a tar archive.
func isArchive(name string) bool {
	return filepath.Ext(name) == ".tgz" || filepath.Ext(strings.TrimSuffix(name, ".gz")) == ".tar"
}

// packedError describes an error in the data of a compressed file.
func packedError(err error) error {
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("its compressed data are incomplete: copy the file again")
	}
	return errors.New("it is packed, and damaged")
}
