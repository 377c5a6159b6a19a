// Package folder does all of tfexp's operations on files. It keeps them below one folder: a folder of results may
// come from somebody else, so a name in its files, or a link in it, must not lead elsewhere, and a pipe must not
// block a reader.
package folder

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ErrOutside is returned for a name or a link that leads outside the folder.
var ErrOutside = errors.New("it leads outside its folder")

// ErrNotRegular is returned for a path that is neither a regular file nor (if a folder is expected) a folder.
var ErrNotRegular = errors.New("it is not a regular file")

// ErrLinked is returned for opening a file for writing that has a second hard link.
var ErrLinked = errors.New("it has a second name (a hard link), whose content would change as well: copy it, and put the " +
	"copy in its place")

// ErrTooLarge is returned for a file that is too large to be read as a whole.
var ErrTooLarge = errors.New("it is too large to be a file of results")

// MostBytes is the largest size of a file that is read as a whole. The plan of 100,000 cells has 50 MB.
const MostBytes = 256 << 20

// Open opens a regular file below dir for reading. The elements of name are joined by slashes.
//
// The error wraps fs.ErrNotExist if there is no file, ErrOutside if the name or a link leads outside dir, and
// ErrNotRegular for a pipe, a device or a folder.
func Open(dir string, name ...string) (*File, error) {
	path := filepath.Join(name...)
	at, err := enter(dir, path)
	if err != nil {
		return nil, err
	}
	defer at.Close()
	if err := Try("open", filepath.Join(dir, path)); err != nil {
		return nil, &fs.PathError{Op: "open", Path: filepath.Join(dir, path), Err: err}
	}
	var f *os.File
	err = at.do(func(r *root, name string) (err error) {
		// Without O_NONBLOCK, opening a pipe that nothing writes to would block.
		f, err = r.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		return err
	})
	if err != nil {
		return nil, named("open", filepath.Join(dir, path), err)
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: filepath.Join(dir, path), Err: errors.Join(err, ErrNotRegular)}
	}
	return &File{f}, nil
}

// ReadFile reads a whole file below dir. It returns the errors of Open, and ErrTooLarge for more than MostBytes.
func ReadFile(dir string, name ...string) ([]byte, error) {
	f, err := Open(dir, name...)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readWhole(f, MostBytes)
}

func readWhole(f *File, most int64) ([]byte, error) {
	tooLarge := &fs.PathError{Op: "read", Path: f.Name(), Err: ErrTooLarge}
	if info, err := f.Stat(); err == nil && info.Size() > most {
		return nil, tooLarge
	}
	raw, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(raw)) > most { // the file has grown since Stat
		return nil, tooLarge
	}
	return raw, err
}

// Stat describes a file or folder below dir. It returns the errors of Open; for anything else, ErrNotRegular.
func Stat(dir string, name ...string) (fs.FileInfo, error) {
	path := filepath.Join(name...)
	at, err := enter(dir, path)
	if err != nil {
		return nil, err
	}
	defer at.Close()
	var info fs.FileInfo
	err = at.do(func(r *root, name string) (err error) {
		info, err = r.Stat(name)
		return err
	})
	if err != nil {
		return nil, named("stat", filepath.Join(dir, path), err)
	}
	if !info.Mode().IsRegular() && !info.IsDir() {
		return nil, &fs.PathError{Op: "stat", Path: filepath.Join(dir, path), Err: ErrNotRegular}
	}
	return info, nil
}

// Make creates a folder below dir if it is missing, and returns its path. A link that leads outside dir is an error,
// so files written into the folder stay in dir.
func Make(dir string, name ...string) (string, error) {
	path := filepath.Join(name...)
	at, err := enter(dir, path)
	if err != nil {
		return "", err
	}
	defer at.Close()
	whole := filepath.Join(dir, path)
	if err := Try("mkdir", whole); err != nil {
		return "", &fs.PathError{Op: "mkdir", Path: whole, Err: err}
	}
	if err := at.do(func(r *root, name string) error { return r.MkdirAll(name, 0o755) }); err != nil {
		return "", named("mkdir", whole, err)
	}
	return whole, at.do(func(r *root, name string) error {
		own, err := r.OpenRoot(name)
		if err != nil {
			return named("open", whole, err)
		}
		return own.Close()
	})
}

// enter opens the place of a path below dir, which may be in an enclosed folder. It rejects a path whose text leads
// outside dir.
func enter(dir, path string) (*place, error) {
	if !filepath.IsLocal(path) {
		return nil, &fs.PathError{Op: "open", Path: filepath.Join(dir, path), Err: ErrOutside}
	}
	dir = filepath.Clean(dir)
	if outer, rest := enclosure(filepath.Join(dir, "x")); outer != "" {
		dir, path = outer, filepath.Join(filepath.Dir(rest), path)
	}
	return openPlace(dir, path)
}
