package watch

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/tfexp/tfexp/results/folder"
)

// The most that is read of a file at one look, and of a line that is understood. The folder may
// come from somebody else.
const (
	mostAtOnce = 16 << 20
	mostLine   = 1 << 20
)

// fileFollower reads the lines that are added to a file, which may be replaced or
// truncated while it is followed.
type fileFollower struct {
	dir  string     // the experiment's folder
	name [][]string // where it may be, in the order in which it is looked for
	at   fs.FileInfo
	from int64 // all before it was returned
}

// newLines returns the whole lines that came since the last call, each with its end, and whether
// they are the first of a new file. A missing file has no lines.
func (t *fileFollower) newLines() (lines [][]byte, anew bool, err error) {
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
		anew, t.from = true, 0
	}
	t.at = info
	raw, err := io.ReadAll(io.NewSectionReader(f, t.from, mostAtOnce))
	if err != nil {
		return nil, anew, err
	}
	whole := bytes.LastIndexByte(raw, '\n') + 1
	if whole == 0 && len(raw) >= mostLine { // no line, whatever it is
		whole = len(raw)
	}
	t.from += int64(whole)
	for line := range bytes.Lines(raw[:whole]) {
		if len(line) <= mostLine {
			lines = append(lines, line)
		}
	}
	return lines, anew, nil
}

func (t *fileFollower) open() (f *folder.File, err error) {
	for _, name := range t.name {
		if f, err = folder.Open(t.dir, name...); !errors.Is(err, fs.ErrNotExist) {
			return f, err
		}
	}
	return nil, err
}
