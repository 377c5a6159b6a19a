package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/tfexp/tfexp/results/folder"
)

// Write writes to a file that the command line names. A file that is there is replaced when all is written, and not
// before; it keeps its permissions, and a link to it stays one. A device or a pipe, such as /dev/null or what a shell
// hands over by >(...), is written to, and never replaced.
func Write(path string, write func(io.Writer) error) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return writeInto(path, write)
	}
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to
	}
	mode := os.FileMode(0o644)
	if err == nil {
		mode = info.Mode().Perm()
	}
	return folder.WriteFrom(path, mode, write)
}

// writeInto writes to what is there and is no file.
func writeInto(path string, write func(io.Writer) error) error {
	// Without O_NONBLOCK a pipe that nobody reads would be waited for.
	f, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ENXIO) {
		return Usagef("", "nothing reads %s", path)
	} else if err != nil {
		return err
	}
	if err := errors.Join(write(f), f.Close()); err != nil {
		return fmt.Errorf("write to %s: %w", path, err)
	}
	return nil
}
