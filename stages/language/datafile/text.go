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

// packings are how files begin that are packed in a way that is not read.
var packings = []struct{ name, begins string }{
	{"zip", "PK\x03\x04"},
	{"xz", "\xfd7zXZ\x00"},
	{"bzip2", "BZh"},
	{"zstd", "\x28\xb5\x2f\xfd"},
}

// text returns a reader of a file's text, as UTF-8, or an error that names the file's actual kind.
func text(name string, r io.Reader) (io.Reader, error) {
	if isArchive(name) {
		return r, nil
	}
	in := bufio.NewReaderSize(r, 64<<10)
	head, _ := in.Peek(lookedAt) // an error comes again when it is read
	for _, p := range packings {
		if bytes.HasPrefix(head, []byte(p.begins)) {
			return nil, fmt.Errorf("it is packed with %s: unpack it, or pack it with gzip and name it .gz", p.name)
		}
	}
	switch at := bytes.IndexByte(head, 0); {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return nil, errors.New("it is packed with gzip: let its name end in .gz")
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

// packedError describes an error in the data of a gzip file.
func packedError(err error) error {
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("it is packed with gzip, and cut off: it was not copied whole")
	}
	return errors.New("it is packed with gzip, and damaged")
}
