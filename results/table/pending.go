package table

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tfexp/tfexp/results/folder"
)

// Pending is a file that gets its final name only when it is complete.
type Pending struct {
	Path    string
	durable bool // the complete file survives a power failure
	file    *folder.File
	buf     *bufio.Writer
}

// NewPending begins the file at path. The caller must call Replace or Abort.
func NewPending(path string, durable bool) (*Pending, error) {
	p := &Pending{Path: path, durable: durable}
	var err error
	if p.file, err = folder.OpenFile(p.Temporary(), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644); err != nil {
		return nil, fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	p.buf = bufio.NewWriterSize(p.file, 1<<16)
	return p, nil
}

// Temporary returns the name that the file has until it is complete.
func (p *Pending) Temporary() string { return Temporary(p.Path) }

// Temporary returns the name that the file at path has until it is complete. The name is always the same, so old
// temporary files do not accumulate. This is safe since only one process at a time writes in a folder.
func Temporary(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".tmp")
}

// Flush writes the buffered lines to the temporary file, where others can read them.
func (p *Pending) Flush() error { return p.buf.Flush() }

// Write implements io.Writer.
func (p *Pending) Write(b []byte) (int, error) { return p.buf.Write(b) }

// Begin returns an empty slice for new lines. It uses free space of the file's buffer, if possible. The slice must be
// passed to Write before any other call.
func (p *Pending) Begin() []byte { return p.buf.AvailableBuffer() }

// Replace gives the file its final name, and returns its size in bytes.
func (p *Pending) Replace() (int64, error) {
	err := p.buf.Flush()
	var size int64
	if info, serr := p.file.Stat(); serr == nil {
		size = info.Size()
	}
	if p.durable {
		err = errors.Join(err, p.file.Sync())
	}
	err = errors.Join(err, p.file.Close())
	p.file = nil
	if err == nil {
		err = folder.Rename(p.Temporary(), p.Path)
	}
	if err != nil {
		return 0, fmt.Errorf("write %s: %w", filepath.Base(p.Path), err)
	}
	return size, nil
}

// Abort removes the temporary file. After Replace, it does nothing.
func (p *Pending) Abort() {
	if p != nil && p.file != nil {
		// Errors are ignored: the file is useless in any case.
		_ = p.file.Close()
		_ = folder.Remove(p.Temporary())
		p.file = nil
	}
}

// WriteWhole writes a file that appears under its name only when it is complete.
func WriteWhole(path string, durable bool, raw []byte) error {
	p, err := NewPending(path, durable)
	if err != nil {
		return err
	}
	defer p.Abort()
	if _, err := p.Write(raw); err != nil {
		return err
	}
	if _, err := p.Replace(); err != nil || !durable {
		return err
	}
	return folder.SyncDir(filepath.Dir(path))
}
