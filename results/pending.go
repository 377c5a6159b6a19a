package results

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// pending is a file that appears under its name all at once, when it is
// complete.
type pending struct {
	path    string
	durable bool // it survives a power cut from then on
	file    *os.File
	buf     *bufio.Writer
}

func newPending(path string, durable bool) (*pending, error) {
	p := &pending{path: path, durable: durable}
	var err error
	if p.file, err = os.OpenFile(p.temporary(), os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o644); err != nil {
		return nil, fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	p.buf = bufio.NewWriterSize(p.file, 1<<16)
	return p, nil
}

// temporary is the file's name until then. One process at a time writes in a
// folder, so that the name can be the same each time, and nothing piles up.
func (p *pending) temporary() string {
	return filepath.Join(filepath.Dir(p.path), "."+filepath.Base(p.path)+".tmp")
}

// replace gives the file its name, and returns its size in bytes.
func (p *pending) replace() (int64, error) {
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
		err = os.Rename(p.temporary(), p.path)
	}
	if err != nil {
		return 0, fmt.Errorf("write %s: %w", filepath.Base(p.path), err)
	}
	return size, nil
}

// abort removes the file unless it has its name already.
func (p *pending) abort() {
	if p != nil && p.file != nil {
		// These fail only where there is nothing left to be done about it.
		_ = p.file.Close()
		_ = os.Remove(p.temporary())
		p.file = nil
	}
}

// tableFile is a CSV file.
type tableFile[T any] struct {
	*pending
	*tableWriter[T]
}

func newTableFile[T any](path string, durable bool, columns []column[T], extra []string) (*tableFile[T], error) {
	p, err := newPending(path, durable)
	if err != nil {
		return nil, err
	}
	t, err := newTableWriter(p.buf, columns, extra)
	if err != nil {
		p.abort()
		return nil, fmt.Errorf("write %s: %w", filepath.Base(path), err)
	}
	return &tableFile[T]{p, t}, nil
}

// writeWhole writes a file all at once.
func writeWhole(path string, durable bool, raw []byte) error {
	p, err := newPending(path, durable)
	if err != nil {
		return err
	}
	defer p.abort()
	if _, err := p.buf.Write(raw); err != nil {
		return err
	}
	if _, err := p.replace(); err != nil || !durable {
		return err
	}
	return syncDir(filepath.Dir(path))
}

// syncDir makes renames in a folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
