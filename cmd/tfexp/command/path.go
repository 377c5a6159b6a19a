package command

import "path/filepath"

// Seen returns the path of a file as seen from the folder dir.
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
