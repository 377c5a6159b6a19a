package tell

import (
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
	buf     []byte // not written yet
	err     error  // of the first write that failed
}

// bufferSize is how many bytes are written at once: the buffers of a cell's files fit into a core's cache together.
const bufferSize = 1 << 16

// NewPending begins a file; either Replace or Abort must be called.
func NewPending(path string, durable bool) (*Pending, error) {
	p := &Pending{Path: path, durable: durable}
	var err error
	if p.file, err = folder.OpenFile(p.Temporary(), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644); err != nil {
		return nil, fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
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
func (p *Pending) Flush() error { return p.flush(len(p.buf)) }

// flush writes the first bytes of the buffer.
func (p *Pending) flush(n int) error {
	if p.err == nil && n > 0 {
		_, p.err = p.file.Write(p.buf[:n])
	}
	p.buf = p.buf[:copy(p.buf, p.buf[n:])]
	return p.err
}

// Write implements io.Writer.
func (p *Pending) Write(b []byte) (int, error) { return len(b), p.End(append(p.buf, b...)) }

// Begin returns a buffer that lines are appended to. The longer buffer is for End.
func (p *Pending) Begin() []byte { return p.buf }

// End takes the buffer from Begin with more lines.
func (p *Pending) End(b []byte) error {
	p.buf = b
	if len(b) < bufferSize {
		return p.err
	}
	return p.flush(len(b) / bufferSize * bufferSize)
}

// Replace gives the file its name, and returns its size in bytes.
func (p *Pending) Replace() (int64, error) {
	err := p.Flush()
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
