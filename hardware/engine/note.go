package engine

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// mostNote bounds a note, in bytes.
const mostNote = 1 << 20

// ReadNote reads what an engine has noted in the folder of a run. The folder may come from somebody else: a link must
// not
// lead out of it, and a pipe must not make the reader wait.
func ReadNote(dir, name string) ([]byte, error) {
	root, err := os.OpenRoot(filepath.Clean(dir))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: f.Name(), Err: errors.Join(err, errors.New("it is not a regular file"))}
	}
	return io.ReadAll(io.LimitReader(f, mostNote))
}
