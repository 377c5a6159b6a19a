package folder

import (
	"errors"
	"fmt"
	"io"
	"syscall"
)

// TryLock opens a file, which flag may create, and takes a shared or exclusive lock on it; nil if another process
// has it. Read and write the content through the returned file. Closing it releases the lock, and so does the end
// of the process.
func TryLock(path string, flag int, shared bool) (*File, error) {
	f, err := OpenFile(path, flag|syscall.O_NONBLOCK, 0o644)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = ErrNotRegular
	}
	if err == nil {
		op := "lock"
		if shared {
			op = "look"
		}
		err = Try(op, path)
	}
	ok := false
	if err == nil {
		ok, err = tryLock(f.File, shared)
	}
	if ok {
		return f, nil
	}
	if f.Close(); err != nil {
		err = fmt.Errorf("lock %s: %w", path, err)
	}
	return nil, err
}

// ignore returns an error unless it is the other.
func ignore(err, other error) error {
	if errors.Is(err, other) {
		return nil
	}
	return err
}

// Replace overwrites the content of an open file in place.
func (f *File) Replace(raw []byte) error {
	if err := f.Truncate(0); err != nil {
		return err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	_, err := f.Write(raw)
	return err
}
