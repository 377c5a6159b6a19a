package experiments_test

import (
	"os"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/decode"
)

// The experiment that the README shows is a whole one.
func TestReadmeExperimentLoads(t *testing.T) {
	raw, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(raw), "```hcl\n")
	source, _, closed := strings.Cut(rest, "```\n")
	if !found || !closed {
		t.Fatal("README.md shows no experiment")
	}
	spec, diags := decode.Source("readme.hcl", []byte(source), decode.Options{
		Host: experiments.HostFacts{Threads: 2, Cores: 2, MemoryBytes: 8 << 30},
	})
	if len(diags) > 0 {
		var b strings.Builder
		if err := diags.Render(&b, false); err != nil {
			t.Fatal(err)
		}
		t.Fatal(b.String())
	}
	if len(spec.Cells) != 2 || len(spec.Compares) != 1 {
		t.Errorf("%d cells and %d comparisons, want 2 and 1", len(spec.Cells), len(spec.Compares))
	}
}
