// Package folder reads what is below one folder, and nothing beside it. A folder
// of results may come from somebody else: a name in one of its files, or a link in it,
// must not lead to another place, and a pipe must not make a reader wait.
package folder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ErrOutside is returned for a name or a link that leads out of the folder.
var ErrOutside = errors.New("it leads out of its folder")

// ErrNotRegular is returned for what is neither a regular file nor, where one is
// wanted, a folder.
var ErrNotRegular = errors.New("it is not a regular file")

// ErrTooLarge is returned for a file that is too large to be read as a whole.
var ErrTooLarge = errors.New("it is too large to be a file of results")

// MostBytes is how large a file may be that is read as a whole: the plan of 100,000 cells has 50 MB.
const MostBytes = 256 << 20

// Open opens a regular file below dir for reading. The name has one element
// or more, joined by slashes.
//
// The error wraps fs.ErrNotExist where there is no file, ErrOutside where the name
// or a link on the way leads out of dir, and ErrNotRegular for a pipe, a device
// or a folder.
func Open(dir string, name ...string) (*os.File, error) {
	path := filepath.Join(name...)
	root, err := enter(dir, path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	// Without O_NONBLOCK a pipe that nobody writes would be waited for.
	f, err := root.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, outside(dir, path, err)
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: filepath.Join(dir, path), Err: errors.Join(err, ErrNotRegular)}
	}
	return f, nil
}

// ReadFile reads a whole file below dir, of at most MostBytes. It errs as Open does, and with ErrTooLarge.
func ReadFile(dir string, name ...string) ([]byte, error) {
	f, err := Open(dir, name...)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readWhole(f, MostBytes)
}

func readWhole(f *os.File, most int64) ([]byte, error) {
	tooLarge := &fs.PathError{Op: "read", Path: f.Name(), Err: ErrTooLarge}
	if info, err := f.Stat(); err == nil && info.Size() > most {
		return nil, tooLarge
	}
	raw, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(raw)) > most { // it has grown
		return nil, tooLarge
	}
	return raw, err
}

// Stat describes a file or folder below dir; it errs as Open does, and tells
// what is neither by ErrNotRegular.
func Stat(dir string, name ...string) (fs.FileInfo, error) {
	path := filepath.Join(name...)
	root, err := enter(dir, path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Stat(path)
	if err != nil {
		return nil, outside(dir, path, err)
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return nil, &fs.PathError{Op: "stat", Path: filepath.Join(dir, path), Err: ErrNotRegular}
	}
	return info, nil
}

// Make makes a folder below dir, if it is not there, and returns its path. A link
// that leads out of dir is refused: what is written into the folder then stays in dir.
func Make(dir string, name ...string) (string, error) {
	path := filepath.Join(name...)
	root, err := enter(dir, path)
	if err != nil {
		return "", err
	}
	defer root.Close()
	if err := root.MkdirAll(path, 0o755); err != nil {
		return "", outside(dir, path, err)
	}
	own, err := root.OpenRoot(path)
	if err != nil {
		return "", outside(dir, path, err)
	}
	return filepath.Join(dir, path), own.Close()
}

// enter opens dir, and refuses a path that is not below it by its text alone.
func enter(dir, path string) (*os.Root, error) {
	if !filepath.IsLocal(path) {
		return nil, &fs.PathError{Op: "open", Path: filepath.Join(dir, path), Err: ErrOutside}
	}
	dir = filepath.Clean(dir)
	if info, err := os.Stat(dir); err == nil && !info.IsDir() { // a pipe that nobody writes would be waited for
		return nil, &fs.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR}
	}
	return os.OpenRoot(dir)
}

// outside gives an error of a root its whole path, and tells one about links out of
// dir by ErrOutside: the system's libraries have no value for it, so what
// is no error of the system is taken as that.
func outside(dir, path string, err error) error {
	var at *fs.PathError
	if !errors.As(err, &at) {
		return fmt.Errorf("%s: %w", filepath.Join(dir, path), err)
	}
	cause := at.Err
	operation := at.Op // as it is called in C: openat
	if name, ok := strings.CutSuffix(operation, "at"); ok && name != "st" {
		operation = name
	}
	var number syscall.Errno
	if !errors.As(cause, &number) {
		cause = ErrOutside
	}
	return &fs.PathError{Op: operation, Path: filepath.Join(dir, path), Err: cause}
}
