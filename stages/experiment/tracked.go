package experiment

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// unread are names of folders that are skipped because no program's results depend on them: files compiled by Python,
// and the data of version control.
var unread = []string{"__pycache__", ".git", ".hg", ".svn"}

// Below calls each for every file below a folder, with its path relative to the folder, in a fixed order. It follows no
// links. It skips files compiled by Python, the data of version control, and results of experiments, since these change
// when a job runs.
func Below(dir string, each func(name string, file fs.DirEntry) error) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if e.IsDir() {
			if path != dir && (slices.Contains(unread, e.Name()) || isResults(path)) {
				return fs.SkipDir
			}
			return nil
		}
		return each(filepath.ToSlash(name), e)
	})
}

// isResults reports whether a folder has the results of an experiment.
func isResults(dir string) bool {
	for _, name := range []string{"plan.json", "journal.jsonl", "cells"} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			return false
		}
	}
	return true
}

// Untrackable returns the reason why changes of a file or folder cannot be detected. It does not exist, or it is or
// contains a device or a pipe, whose content cannot be compared.
func Untrackable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.Mode().IsRegular():
		return nil
	case !info.IsDir():
		return fmt.Errorf("it is %s, whose content cannot be compared", Sort(info.Mode()))
	}
	return Below(path, func(name string, e fs.DirEntry) error {
		if t := e.Type(); !t.IsRegular() && t&fs.ModeSymlink == 0 {
			return fmt.Errorf("it contains %s, %s, whose content cannot be compared", name, Sort(t))
		}
		return nil
	})
}

// Sort names the type of a file with the given mode, such as "a pipe".
func Sort(m fs.FileMode) string {
	switch {
	case m.IsDir():
		return "a folder"
	case m&fs.ModeNamedPipe != 0:
		return "a pipe"
	case m&fs.ModeSocket != 0:
		return "a socket"
	case m&fs.ModeDevice != 0:
		return "a device"
	case m&fs.ModeSymlink != 0:
		return "a link"
	case m.IsRegular():
		return "a file"
	}
	return "neither a file nor a folder"
}
