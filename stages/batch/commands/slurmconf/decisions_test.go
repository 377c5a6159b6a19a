package slurmconf

import (
	"os"
	"path/filepath"
	"testing"
)

// docs/slurm_parameters.md is made from the table of parameters.
func TestDecisions(t *testing.T) {
	path := filepath.Join("..", "..", "..", "..", "docs", "slurm_parameters.md")
	if os.Getenv("TFEXP_UPDATE") != "" {
		if err := os.WriteFile(path, []byte(Decisions()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if Decisions() != string(want) {
		t.Error("docs/slurm_parameters.md is not what the table says: make docs")
	}
}
