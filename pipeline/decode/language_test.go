package decode_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/pipeline/decodetest"
	"github.com/tfexp/tfexp/scheduler/policy"
	_ "github.com/tfexp/tfexp/stages/all"
)

// TestReference holds docs/language.md to the schema that the decoder uses.
func TestReference(t *testing.T) {
	decodetest.Golden(t, filepath.Join("..", "..", "docs", "language.md"), decodetest.LanguageReference(), *update)
}

// TestSchemaExamples loads every example of the reference: examples of blocks
// inside a file with the blocks that they refer to, examples of arguments by
// evaluating them.
func TestSchemaExamples(t *testing.T) {
	frame := map[string]string{
		"experiment": `experiment "e" {}`,
		"job": "job \"long\" {\n command = [\"x\"]\n image = \"x\"\n epochs = 1\n}\n" +
			"job \"short\" {\n command = [\"x\"]\n epochs = 1\n}",
		"workload": "workload \"mixed\" {\n submit { job = job.long }\n}",
		"hardware": "hardware \"here\" {\n engine = \"simulated\"\n threads = 64\n}",
		"policy":   "policy \"fcfs\" { order = \"fcfs\" }\npolicy \"rr\" {\n order = \"round_robin\"\n quantum = \"1s\"\n}",
	}
	for _, b := range decode.Language().Blocks {
		examples := []string{b.Example}
		for _, inner := range b.Blocks {
			if inner.Example != "" {
				examples = append(examples, inner.Example)
			}
		}
		for _, example := range examples {
			src := example + "\n"
			for _, kind := range []string{"experiment", "job", "workload", "hardware", "policy"} {
				if kind != b.Name {
					src += frame[kind] + "\n"
				}
			}
			switch b.Name {
			case "job": // the frame's workload needs its own
				src = strings.ReplaceAll(src, "submit { job = job.long }",
					"submit { job = job."+firstLabel(example)+" }")
				if inner := firstLabel(example); strings.Contains(example, "recorded {") { // as a tuning has
					src += "tune \"it\" {\n job = job." + inner +
						"\n objective = \"cost\"\n setting \"workers\" {}\n setting \"type\" {}\n}\n"
					src = strings.ReplaceAll(src, "submit { job = job."+inner+" }", "submit { job = job.other }") +
						"job \"other\" {\n command = [\"x\"]\n epochs = 1\n}\n"
				}
			case "tune": // it is complete
				src = example + "\n" + frame["experiment"]
			case "policy": // some name nodes
				src = strings.Replace(src, " threads = 64\n", " node \"n\" {\n count = 16\n threads = 4\n }\n", 1)
			case "matrix":
				src = strings.Replace(src, `quantum = "1s"`, `quantum = each.quantum`, 1)
			case "size": // it asks for an axis
				src = strings.Replace(src, `quantum = "1s"`, `quantum = each.nodes`, 1) + "matrix { nodes = [\"1s\", \"2s\"] }\n"
			}
			// A piece of a file may warn that nothing uses it.
			_, diags := decode.Source(filepath.Join("testdata", "example.hcl"), []byte(src), decode.Options{Host: decodetest.Host})
			if diags.HasErrors() {
				t.Errorf("%s:\n%s", b.Name, decodetest.Text(t, diags))
			}
		}
	}
	var visit func(b *schema.Block)
	check := func(args []schema.Arg) {
		for _, a := range args {
			if a.Doc == "" {
				t.Errorf("%s has no documentation", a.Name)
			}
			_, diags := hclsyntax.ParseExpression([]byte(a.Example), a.Name, hcl.InitialPos)
			if a.Example != "" && diags.HasErrors() {
				t.Errorf("the example of %s: %v", a.Name, diags)
			}
		}
	}
	visit = func(b *schema.Block) {
		check(b.Args)
		for _, v := range b.ByLabel {
			check(v.Args)
		}
		for _, inner := range b.Blocks {
			if inner.Doc == "" {
				t.Errorf("%s has no documentation", inner.Name)
			}
			visit(inner)
		}
	}
	visit(decode.Language())
}

func firstLabel(example string) string { return strings.Split(example, `"`)[1] }

// TestReferenceBegins loads the experiment at the head of the reference.
func TestReferenceBegins(t *testing.T) {
	_, rest, _ := strings.Cut(string(decodetest.LanguageReference()), "```hcl\n")
	src, _, _ := strings.Cut(rest, "```")
	spec, diags := decode.Source("reference.hcl", []byte(src), decode.Options{Host: decodetest.Host})
	if len(diags) > 0 {
		t.Fatal(decodetest.Text(t, diags))
	}
	if len(spec.Cells) != 3 {
		t.Errorf("%d cells, want 3: FCFS does not read the quantum", len(spec.Cells))
	}
}

func TestSchemaAgrees(t *testing.T) {
	args := decode.Language().Block("policy").Args
	for _, q := range policy.Questions {
		if got, want := schema.Find(args, string(q)).Allowed, q.Names(); !slices.Equal(got, want) {
			t.Errorf("%s: %v in the language, %v in the registry", q, got, want)
		}
	}
}
