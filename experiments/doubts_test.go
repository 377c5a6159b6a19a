package experiments_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/experiments/load"
	"github.com/tfexp/tfexp/experiments/load/loadtest"
)

// TestDoubtful holds the warnings about files that load.
func TestDoubtful(t *testing.T) {
	files, err := filepath.Glob("testdata/doubtful/*.hcl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			spec, diags := load.File(filepath.ToSlash(file), load.Options{Host: host})
			if spec == nil || len(diags) == 0 {
				t.Fatalf("loads: %t; diagnostics: %v", spec != nil, diags)
			}
			golden(t, file+".golden", []byte(strings.ReplaceAll(text(t, diags), loadtest.FolderOf(t, file), "DIR")))
		})
	}
}
