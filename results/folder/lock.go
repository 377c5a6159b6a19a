package folder

import (
	"errors"
	"fmt"
	"io"
	"syscall"
)

// TryLock opens a file (flag may create it) and takes a shared or exclusive lock on it. It returns nil if another
// process holds the lock. Read and write the file only through the result. The lock is released when it is closed, or
// when the process ends.
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

// ignore returns err, or nil if err is `other`.
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
