package policies

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// docs/policies.md is the catalogue, with a paragraph for each policy.
func TestCatalogue(t *testing.T) {
	if testing.Short() {
		t.Skip("it draws a schedule of every policy")
	}
	plot.Usual = []string{canvas.SVG} // nobody looks at the pictures
	got := catalogue()
	path := filepath.Join("..", "..", "..", "docs", "policies.md")
	if os.Getenv("TFEXP_UPDATE") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
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
			if _, ok := paragraph(q, c); !ok {
				t.Errorf("%s %s has no paragraph in help/policies.md", q, c.Name)
			}
		}
	}
}

// catalogue is docs/policies.md.
func catalogue() string {
	var b strings.Builder
	b.WriteString(cataloguePreface)
	for _, q := range policy.Questions {
		fmt.Fprintf(&b, "\n## %s\n", q)
		for _, c := range q.Choices() {
			fmt.Fprintf(&b, "\n### %s\n\n%s", c.Name, entry(q, c))
		}
	}
	return b.String()
}

const cataloguePreface = "# Policies\n\nA `policy` block answers questions: who is next (`order`), who may pass (`backfill`), how many " +
	"cores a job gets (`allocation`), and so on. Each answer is below, with a schedule of the same five jobs on four cores, each with " +
	"a GPU. A row is a job: dots are waiting, digits the cores that it holds, a column is half a second. `tfexp policies NAME` " +
	"prints an entry; `make docs` writes this page.\n\n" +
	"| job | arrives | cores | alone | deadline | level | user |\n|---|---|---|---|---|---|---|\n" +
	"| a | 0 s | 2 | 8 s | | 2 | ann |\n| b | 0 s | 2 | 6 s | | 2 | bob |\n| c | 1 s | 4 | 4 s | 29 s | 1 | ann |\n" +
	"| d | 2 s | 1 | 2 s | 6 s | 0 | bob |\n| e | 3 s | 1 | 3 s | 17 s | 1 | cy |\n"
