package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// OpenFile opens a file that the command line names. A folder, a device and a pipe with a name are wrong usage: a device
// need not end, and a pipe may never begin. What a shell hands over, as /dev/stdin or by <(...), is read.
func OpenFile(path string) (*os.File, error) {
	if slices.Contains([]string{"/dev/fd", "/proc/self/fd"}, filepath.Dir(path)) || path == "/dev/stdin" {
		return os.Open(path)
	}
	// Without O_NONBLOCK a pipe that nobody writes would be waited for.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Usagef("", "there is no file %s", path)
	} else if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		f.Close()
		return nil, err
	case info.IsDir():
		f.Close()
		return nil, Usagef("", "%s is a folder, not a file", path)
	case !info.Mode().IsRegular():
		f.Close()
		return nil, Usagef("what another program writes can be given as /dev/stdin or <(PROGRAM)",
			"%s is neither a file nor a folder", path)
	}
	return f, nil
}
