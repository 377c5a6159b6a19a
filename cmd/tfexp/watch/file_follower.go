package watch

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/tfexp/tfexp/results/folder"
)

// Limits on the bytes of a file that one call reads, and on a line. Untrusted folders may contain very large files.
const (
	mostAtOnce = 16 << 20
	mostLine   = 1 << 20
)

// fileFollower reads the lines that are added to a file. The file may be replaced or truncated meanwhile.
type fileFollower struct {
	dir  string     // the experiment's folder
	name [][]string // possible paths below dir, the preferred ones first
	at   fs.FileInfo
	from int64 // offset in bytes up to which lines were returned
}

// newLines returns the complete lines that were added since the last call, with their line breaks. fromStart
// reports whether it read from the start of the file: at the first call, or after the file was replaced or shortened. A
// missing file has no lines.
func (t *fileFollower) newLines() (lines [][]byte, fromStart bool, err error) {
	f, err := t.open()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	if t.at == nil || !os.SameFile(t.at, info) || info.Size() < t.from {
		fromStart, t.from = true, 0
	}
	t.at = info
	raw, err := io.ReadAll(io.NewSectionReader(f, t.from, mostAtOnce))
	if err != nil {
		return nil, fromStart, err
	}
	whole := bytes.LastIndexByte(raw, '\n') + 1
	if whole == 0 && len(raw) >= mostLine { // too long for a line: skip these bytes
		whole = len(raw)
	}
	t.from += int64(whole)
	for line := range bytes.Lines(raw[:whole]) {
		if len(line) <= mostLine {
			lines = append(lines, line)
		}
	}
	return lines, fromStart, nil
}

func (t *fileFollower) open() (f *folder.File, err error) {
	for _, name := range t.name {
		if f, err = folder.Open(t.dir, name...); !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	return nil, err
}
