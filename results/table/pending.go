package table

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tfexp/tfexp/results/folder"
)

// Pending is a file that appears under its name all at once, when it is
// complete.
type Pending struct {
	Path    string
	durable bool // it survives a power cut from then on
	file    *folder.File
	buf     *bufio.Writer
}

// NewPending begins a file; either Replace or Abort must be called.
func NewPending(path string, durable bool) (*Pending, error) {
	p := &Pending{Path: path, durable: durable}
	var err error
	if p.file, err = folder.OpenFile(p.Temporary(), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644); err != nil {
		return nil, fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	p.buf = bufio.NewWriterSize(p.file, 1<<16)
	return p, nil
}

// Temporary is the file's name until then.
func (p *Pending) Temporary() string { return Temporary(p.Path) }

// Temporary is the name of the file at path until it is complete. One process at a time writes in a
// folder, so that the name can be the same each time, and nothing piles up.
func Temporary(path string) string {
	return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".tmp")
}

// Flush shows others the lines written so far, under the temporary name.
func (p *Pending) Flush() error { return p.buf.Flush() }

// Write implements io.Writer.
func (p *Pending) Write(b []byte) (int, error) { return p.buf.Write(b) }

// Begin returns an empty slice to append lines to, in the buffer of the file as long as it has room. Write takes the
// slice before the next call.
func (p *Pending) Begin() []byte { return p.buf.AvailableBuffer() }

// Replace gives the file its name, and returns its size in bytes.
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

// Abort removes the file unless it has its name already.
func (p *Pending) Abort() {
	if p != nil && p.file != nil {
		// These fail only where no remedy is left.
		_ = p.file.Close()
		_ = folder.Remove(p.Temporary())
		p.file = nil
	}
}

// WriteWhole writes a file all at once.
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
