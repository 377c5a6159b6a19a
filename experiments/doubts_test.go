package experiments

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestDoubtful holds the warnings about files that load.
func TestDoubtful(t *testing.T) {
	files, err := filepath.Glob("testdata/doubtful/*.hcl")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			spec, diags := Load(filepath.ToSlash(file), LoadOptions{Host: host})
			if spec == nil || len(diags) == 0 {
				t.Fatalf("loads: %t; diagnostics: %v", spec != nil, diags)
			}
			golden(t, file+".golden", []byte(strings.ReplaceAll(text(t, diags), folder(file), "DIR")))
		})
	}
}
