package language_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/tfexp/tfexp/experiments/language"
	"github.com/tfexp/tfexp/experiments/load/loadtest"
)

// TestExperiments loads files of users, right and wrong.
func TestExperiments(t *testing.T) { loadtest.Test(t) }

// The tables of blocks and arguments say what the reference says.
func TestReference(t *testing.T) {
	want, err := os.ReadFile(filepath.Join("..", "..", "docs", "language.md"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(language.Markdown(), want) {
		t.Error("docs/language.md is another one: make docs writes it")
	}
}
