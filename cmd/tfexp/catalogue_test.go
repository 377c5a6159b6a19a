package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tfexp/tfexp/scheduler/policy"
)

// docs/policies.md is the catalogue, with a paragraph for each policy.
func TestCatalogue(t *testing.T) {
	if testing.Short() {
		t.Skip("it draws a schedule of every policy")
	}
	got := catalogue(ofTests)
	path := filepath.Join("..", "..", "docs", "policies.md")
	if os.Getenv("TFEXP_UPDATE") != "" {
		write(t, path, got)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Error("docs/policies.md is not what the policies are: make docs")
	}
	for _, q := range policy.Questions {
		for _, c := range q.Choices() {
			if _, ok := paragraph(q, c); !ok && !ofTests(c) {
				t.Errorf("%s %s has no paragraph in help/policies.md", q, c.Name)
			}
		}
	}
}

// ofTests reports whether a policy is registered by another test.
func ofTests(c *policy.Choice) bool { return c.Name == "half" || c.Name == "ljf" }
