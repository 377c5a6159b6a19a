package folder

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Write replaces or creates a file atomically: readers see the old or the new content, also if tfexp is killed. The
// path is used as it is; call Make to keep it in a folder of results.
func Write(path string, raw []byte, mode fs.FileMode) error {
	return WriteFrom(path, mode, func(w io.Writer) error {
		_, err := w.Write(raw)
		return err
	})
}

// WriteFrom is Write for content that a function writes. If the function returns an error, WriteFrom returns it and
// does not change the file.
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

// SyncDir makes renames in a folder durable. On Windows it does nothing.
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
