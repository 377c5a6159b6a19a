package external

import (
	"bytes"
	"os"
	"path/filepath"
	"sync"

	library "github.com/tfexp/tfexp/jobs/tfexp_policy"
	"github.com/tfexp/tfexp/results/folder"
)

// libraryFolder returns the folder of the Python library tfexp_policy: below the user's cache folder, one for each
// version.
var libraryFolder = sync.OnceValues(func() (string, error) {
	home, err := os.UserCacheDir()
	if err != nil {
		home = os.TempDir()
	}
	dir := filepath.Join(home, "tfexp", "python-"+library.Version)
	for _, f := range library.Files {
		path := filepath.Join(dir, f.Name)
		if raw, err := folder.ReadSystem(path); err == nil && bytes.Equal(raw, f.Source) {
			continue
		}
		if err := folder.MkdirAll(dir, 0o755); err != nil {
			return "", err
		}
		if err := folder.Write(path, f.Source, 0o644); err != nil {
			return "", err
		}
	}
	return dir, nil
})
