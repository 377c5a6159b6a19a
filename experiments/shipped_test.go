package experiments_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/pipeline/decodetest"
	_ "github.com/tfexp/tfexp/stages/all"
)

// shipped lists the shipped experiments, including the experiments of papers.
func shipped(t *testing.T) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(".", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == "testdata":
			return filepath.SkipDir
		case filepath.Ext(path) == ".hcl":
			files = append(files, path)
		}
		return nil
	})
	papers := slices.ContainsFunc(files, func(f string) bool {
		return strings.HasPrefix(f,
			"papers"+string(filepath.Separator))
	})
	if err != nil || len(files) < 10 || !papers {
		t.Fatalf("the shipped experiments are %q, %v", files, err)
	}
	return files
}

// TestShipped loads the shipped experiments, including the starter.
func TestShipped(t *testing.T) {
	for _, file := range shipped(t) {
		spec, diags := decode.File(file, decode.Options{Host: decodetest.Host})
		if len(diags) > 0 {
			t.Errorf("%s:\n%s", file, decodetest.Text(t, diags))
			continue
		}
		formatted, diags := decode.Format(file, spec.Source)
		if len(diags) > 0 || string(formatted) != string(spec.Source) {
			t.Errorf("%s is not in the canonical layout: %v", file, diags)
		}
	}
}

// The README shows a complete experiment.
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

// TestEveryNameIsUsed checks that each block and argument of the language is used in a shipped experiment, so that
// readers find an example.
func TestEveryNameIsUsed(t *testing.T) {
	used := map[string]bool{}
	name := regexp.MustCompile(`(?m)([a-z_0-9]+)\s*(?:=|"[^"\n]*"\s*\{|\{)`)
	for _, file := range shipped(t) {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range name.FindAllSubmatch(regexp.MustCompile(`#.*`).ReplaceAll(raw, nil), -1) {
			used[string(m[1])] = true
		}
	}
	var visit func(path string, b *schema.Block)
	visit = func(path string, b *schema.Block) {
		args := b.Args
		for _, l := range b.ByLabel {
			args = slices.Concat(args, l.Args)
		}
		for _, a := range args {
			if !used[a.Name] && !strings.HasPrefix(a.Name, "<") {
				t.Errorf("no shipped experiment has the argument %s of %s", a.Name, path)
			}
		}
		for _, in := range b.Blocks {
			if !used[in.Name] {
				t.Errorf("no shipped experiment has the block %s %s", path, in.Name)
			}
			visit(strings.TrimSpace(path+" "+in.Name), in)
		}
	}
	visit("", decode.Language())
}
