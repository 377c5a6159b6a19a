package folder

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Write writes a file whole, in place of an existing one. For every reader, and if
// tfexp is killed at any time, it has the old content or the new one. The path is used
// unchanged: Make ensures that it stays in a folder of results.
func Write(path string, raw []byte, mode fs.FileMode) error {
	return WriteFrom(path, mode, func(w io.Writer) error {
		_, err := w.Write(raw)
		return err
	})
}

// WriteFrom is Write for content that is made while it is written. When the function
// that makes it errs, the file stays as it was, and its error is returned.
func WriteFrom(path string, mode fs.FileMode, write func(io.Writer) error) error {
	f, err := create(filepath.Dir(path), "."+filepath.Base(path), mode)
	if err != nil {
		return err
	}
	if info, serr := os.Lstat(path); serr == nil && info.Mode().IsRegular() {
		err = f.Chmod(info.Mode().Perm())
	}
	if err = errors.Join(err, write(f)); err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = Rename(f.Name(), path)
	}
	if err != nil {
		_ = Remove(f.Name())
	}
	return err
}

// SyncDir makes renames in a folder durable. Windows has no way to ask for that.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := OpenFile(dir, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
