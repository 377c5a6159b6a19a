package record

import (
	"os"
	"path/filepath"
)

// Copy is a copy of an experiment file and of the files that it reads, which a folder of results has.
type Copy struct {
	// File is the copy of the experiment file.
	File string
	// From is the folder that all the files were in, and To the folder of the copies, which are relative to each other as
	// the originals were.
	From, To string
	// Needed reports whether an original is missing.
	Needed bool
}

// Find returns the copy of a file with an absolute path, and the path itself where there is none.
func (c Copy) Find(path string) string {
	if name, err := filepath.Rel(c.From, path); err == nil && c.To != "" && filepath.IsLocal(name) {
		if _, err := os.Stat(filepath.Join(c.To, name)); err == nil {
			return filepath.Join(c.To, name)
		}
	}
	return path
}

var findCopy func(dir string) (Copy, bool)

// RegisterCopies sets the function that finds the copies in a folder of results.
func RegisterCopies(find func(dir string) (Copy, bool)) { findCopy = find }

// CopyOf returns the copies in a folder of results.
func CopyOf(dir string) (c Copy, ok bool) {
	if findCopy == nil {
		return c, false
	}
	return findCopy(dir)
}
