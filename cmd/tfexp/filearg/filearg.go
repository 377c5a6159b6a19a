// Package filearg reads and writes the files that command lines name.
package filearg

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/tfexp/tfexp/cmd/tfexp/command"
	"github.com/tfexp/tfexp/cmd/tfexp/live"
	"github.com/tfexp/tfexp/results/folder"
)

// Write calls write with a writer to the file at path. It works as WriteAs with mode 0644.
func Write(path string, write func(io.Writer) error) error { return WriteAs(path, 0o644, write) }

// WriteAs writes a file that the user named; a new file gets this mode. An existing file is replaced only after
// everything was written, and keeps its permissions. A symbolic link stays a link. Devices and pipes, such as /dev/null
// or the shell's >(...), are written to and never replaced.
func WriteAs(path string, mode os.FileMode, write func(io.Writer) error) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return writeInto(path, write)
	}
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to
	}
	if err == nil {
		mode = info.Mode().Perm()
	}
	return folder.WriteFrom(path, mode, write)
}

// writeInto writes to a device or a pipe.
func writeInto(path string, write func(io.Writer) error) error {
	// Without O_NONBLOCK, opening a pipe without a reader would block.
	f, err := folder.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ENXIO) {
		return command.Usagef("", "nothing reads %s", path)
	} else if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return fmt.Errorf("write to %s: %w", path, err)
	}
	return nil
}

// Open opens a file that the user named. Folders, devices and named pipes are errors, since reading a device might
// never end and a pipe might never begin. /dev/stdin and the shell's <(...) are allowed.
func Open(path string) (*folder.File, error) {
	if slices.Contains([]string{"/dev/fd", "/proc/self/fd"}, filepath.Dir(path)) || path == "/dev/stdin" {
		return folder.OpenFile(path, os.O_RDONLY, 0)
	}
	// Without O_NONBLOCK, opening a pipe without a writer would block.
	f, err := folder.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, command.Usagef("", "there is no file %s", path)
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
		return nil, command.Usagef("", "%s is a folder, not a file", path)
	case !info.Mode().IsRegular():
		f.Close()
		return nil, command.Usagef("to read what another program prints, use /dev/stdin or <(PROGRAM)",
			"%s is neither a file nor a folder", path)
	}
	return f, nil
}

// WriteTo writes to a file as Write does; if path is empty, to standard output. On a terminal it escapes control
// characters.
func WriteTo(a *command.App, path string, write func(io.Writer) error) error {
	return WriteToAs(a, path, 0o644, write)
}

// WriteToAs works as WriteTo, but a new file gets this mode.
func WriteToAs(a *command.App, path string, mode os.FileMode, write func(io.Writer) error) error {
	if path == "" {
		if command.IsTerminal(a.RawOut()) {
			return write(live.SafeWriter(a.Raw, false))
		}
		return write(a.Raw)
	}
	var problem error
	err := WriteAs(path, mode, func(w io.Writer) error {
		problem = write(w)
		return problem
	})
	if err != nil && problem == nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return err
}

// IsDir reports whether path is a folder.
func IsDir(path string) bool {
	st, err := os.Stat(filepath.Clean(path))
	return err == nil && st.IsDir()
}

// Seen returns the path of a file relative to the folder dir.
func Seen(path, dir string) string {
	if filepath.IsAbs(dir) != filepath.IsAbs(path) {
		if full, err := filepath.Abs(path); err == nil {
			path = full
		}
		if full, err := filepath.Abs(dir); err == nil {
			dir = full
		}
	}
	if rel, err := filepath.Rel(dir, path); err == nil {
		return rel
	}
	return path
}
