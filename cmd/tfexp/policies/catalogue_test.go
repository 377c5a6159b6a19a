package policies

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages/plot"
	"github.com/tfexp/tfexp/stages/plot/canvas"
)

// TestCatalogue checks that docs/policies.md has the registered policies. It also checks that testdata/entries.txt is
// the output of the command for each policy.
func TestCatalogue(t *testing.T) {
	if testing.Short() {
		t.Skip("it draws a schedule of every policy")
	}
	plot.Usual = []string{canvas.SVG} // the test does not use pictures
	for path, got := range map[string]string{
		filepath.Join("..", "..", "..", "docs", "policies.md"): catalogue(),
		filepath.Join("testdata", "entries.txt"):               entries(),
	} {
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
			t.Errorf("%s is not what the policies are: make docs", path)
		}
	}
	for _, q := range policy.Questions {
		for _, c := range q.Choices() {
			if _, ok := paragraph(q, c); !ok {
				t.Errorf("%s %s has no paragraph in help/policies.md", q, c.Name)
			}
		}
	}
}

// catalogue returns the content of docs/policies.md: a line for each policy.
func catalogue() string {
	var b strings.Builder
	b.WriteString(cataloguePreface)
	args := decode.Language().Block("policy").Args
	for _, q := range policy.Questions {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", q, schema.FirstSentence(schema.Find(args, string(q)).Doc))
		b.WriteString("\n")
		for _, c := range q.Choices() {
			fmt.Fprintf(&b, "- `%s`: %s\n", c.Name, schema.FirstSentence(about(q, c)))
		}
	}
	return b.String()
}

// entries returns the output of the command for all policies.
func entries() string {
	var b strings.Builder
	for _, q := range policy.Questions {
		for _, c := range q.Choices() {
			fmt.Fprintf(&b, "== %s %s\n\n%s\n", q, c.Name, entry(q, c))
		}
	}
	return b.String()
}

const cataloguePreface = `<!-- Generated from the registered policies: make docs -->

# Policies

When you write a ` + "`policy`" + ` block, choose an answer to each of its questions here: which
job is next, which jobs may pass it, how many cores a job gets. Each answer has one line. The program prints the rest,
with its source, an example, a schedule of five jobs, and arguments:

    tfexp policies srtf
`
