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

// lookedAt is the size of the beginning of a file that is examined before it is read as text.
const lookedAt = 4 << 10

// packings are how files begin that are packed.
var packings = []struct{ name, begins string }{
	{"gzip", "\x1f\x8b"},
	{"bzip2", "BZh"},
	{"zstd", "\x28\xb5\x2f\xfd"},
	{"zip", "PK\x03\x04"},
	{"xz", "\xfd7zXZ\x00"},
}

// packingOf names how a file is packed that begins so; "" for not at all.
func packingOf(head []byte) string {
	for _, p := range packings {
		if bytes.HasPrefix(head, []byte(p.begins)) {
			return p.name
		}
	}
	return ""
}

// text returns a reader of a file's text, as UTF-8, or an error that names the file's actual kind.
func text(name string, r io.Reader) (io.Reader, error) {
	if isArchive(name) {
		return r, nil
	}
	in := bufio.NewReaderSize(r, 64<<10)
	head, _ := in.Peek(lookedAt) // an error comes again when it is read
	if packed := packingOf(head); packed != "" {
		return nil, fmt.Errorf("it is packed with %s: unpack it, or pack it with gzip, bzip2, xz or zstd", packed)
	}
	switch at := bytes.IndexByte(head, 0); {
	case bytes.HasPrefix(head, []byte("\xff\xfe")), bytes.HasPrefix(head, []byte("\xfe\xff")):
		return textfile.Unmarked(in), nil // UTF-16
	case at >= 0:
		return nil, fmt.Errorf("it is not text: byte %d is a NUL character", at+1)
	}
	return in, nil
}

// isArchive reports whether a file name is the name of a tar archive.
func isArchive(name string) bool {
	return filepath.Ext(name) == ".tgz" || filepath.Ext(strings.TrimSuffix(name, ".gz")) == ".tar"
}

// packedError describes an error in the data of a packed file.
func packedError(err error) error {
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it is packed, and cut off: it was not copied whole")
	}
	return errors.New("it is packed, and damaged")
}
