package record

import (
	"os"
	"path/filepath"
)

// Copy is a copy, in a folder of results, of an experiment file and of the files that it reads.
type Copy struct {
	// File is the path of the copied experiment file.
	File string
	// From is the folder of the originals, and To the folder of the copies, with the same relative paths.
	From, To string
	// Needed is set if an original is missing.
	Needed bool
}

// Find returns the copy of a file with an absolute path, or the path itself if there is no copy.
func (c Copy) Find(path string) string {
	if name, err := filepath.Rel(c.From, path); err == nil && c.To != "" && filepath.IsLocal(name) {
		if _, err := os.Stat(filepath.Join(c.To, name)); err == nil {
			return filepath.Join(c.To, name)
		}
	}
	return path
}

var findCopy func(dir string) (Copy, bool)

// RegisterCopies sets the function that CopyOf calls.
func RegisterCopies(find func(dir string) (Copy, bool)) { findCopy = find }

// CopyOf returns the copies in a folder of results, if there are any.
func CopyOf(dir string) (c Copy, ok bool) {
	if findCopy == nil {
		return c, false
	}
	return findCopy(dir)
}
