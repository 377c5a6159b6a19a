package store

import (
	"os"
	"path/filepath"

	"github.com/tfexp/tfexp/results/folder"
	"github.com/tfexp/tfexp/results/record"
)

// CellFolders lists the folders under cells/.
func CellFolders(dir string) map[string]bool {
	folders := map[string]bool{}
	entries, err := os.ReadDir(filepath.Join(dir, record.CellsDir))
	if err != nil {
		return folders
	}
	for _, e := range entries {
		if e.IsDir() {
			folders[e.Name()] = true
		}
	}
	return folders
}

// Complete reports whether a cell's folder is complete and was written under the
// key.
func Complete(dir, key string) bool {
	raw, err := folder.ReadFile(dir, KeyFile)
	if err != nil {
		return false
	}
	if HashOf(string(raw)) != key {
		return false
	}
	return record.Intact(dir)
}

// State reads how a complete cell ended.
func State(dir string) (string, bool) {
	var c struct {
		State string `json:"state"`
	}
	if folder.ReadJSON(dir, &c, record.CellFile) != nil || c.State == "" {
		return "", false
	}
	return c.State, true
}

// KeyFile holds the description of a cell's key, beside its outputs.
const KeyFile = "key.txt"
