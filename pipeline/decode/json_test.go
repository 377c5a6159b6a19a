package decode_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/need"
	"github.com/tfexp/tfexp/pipeline/decode"
	"github.com/tfexp/tfexp/pipeline/decodetest"
)

// otherwise are the files that are refused for other reasons in JSON: there blocks, labels and arguments look alike, and
// values in the text of one expression have one place. The last ones take long.
var otherwise = []string{
	"argument_as_block.hcl", "block_as_argument.hcl", "block_misspelled.hcl", "duplicate_key.hcl", "experiment_misspelled.hcl",
	"label_extra.hcl", "label_missing.hcl", "label_not_taken.hcl", "label_of_metric.hcl", "nested_block_misspelled.hcl",
	"axis_control.hcl", "env_of_the_contract.hcl", "runtime_values.hcl",
	"loops_too_large.hcl", "value_concat.hcl", "value_text.hcl",
}

// A file with mistakes in JSON syntax is refused for the same reasons as in HCL syntax, and each message has a line.
// The long form tries all files.
func TestMistakesInJSON(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "broken", "*.hcl"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	work := t.TempDir()
	if err := os.CopyFS(work, os.DirFS(filepath.Join("testdata", "broken"))); err != nil {
		t.Fatal(err)
	}
	for i, file := range files {
		if slices.Contains(otherwise, filepath.Base(file)) || !need.Long() && i%5 != 0 {
			continue
		}
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parsed, bad := hclsyntax.ParseConfig(source, file, hcl.InitialPos)
		if bad.HasErrors() {
			continue // it is no HCL, and has no twin
		}
		var text bytes.Buffer
		if err := json.Indent(&text, []byte(inJSON(source, parsed.Body.(*hclsyntax.Body))), "", " "); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		twin := filepath.Join(work, filepath.Base(file)+".json")
		if err := os.WriteFile(twin, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		_, inHCL := decode.File(filepath.Join(work, filepath.Base(file)), decode.Options{Host: decodetest.Host})
		spec, diags := decode.File(twin, decode.Options{Host: decodetest.Host})
		lines := bytes.Count(text.Bytes(), []byte("\n")) + 1
		if spec != nil || !diags.HasErrors() {
			t.Errorf("%s loads in JSON", filepath.Base(file))
		}
		for _, d := range diags {
			if filepath.Base(d.Range.File) == filepath.Base(twin) && (d.Range.Start.Line < 1 || d.Range.Start.Line > lines) {
				t.Errorf("%s, %s: line %d of %d", filepath.Base(file), d.Summary, d.Range.Start.Line, lines)
			}
		}
		if a, b := summaries(inHCL), summaries(diags); !slices.Equal(a, b) {
			t.Errorf("%s: in HCL %q, in JSON %q", filepath.Base(file), a, b)
		}
	}
}

func summaries(ds experiments.Diagnostics) (all []string) {
	for _, d := range ds {
		all = append(all, d.Summary)
	}
	slices.Sort(all)
	return all
}

// inJSON writes a body in the JSON syntax of HCL: arguments as expressions, blocks of one type as a list.
func inJSON(source []byte, body *hclsyntax.Body) string {
	var parts []string
	attributes := make([]*hclsyntax.Attribute, 0, len(body.Attributes))
	for _, a := range body.Attributes {
		attributes = append(attributes, a)
	}
	slices.SortFunc(attributes, func(a, b *hclsyntax.Attribute) int { return a.SrcRange.Start.Byte - b.SrcRange.Start.Byte })
	for _, a := range attributes {
		value := expression(source, a.Expr)
		if a.Name == "type" { // of a variable: a name, no expression
			value = quoted(string(a.Expr.Range().SliceBytes(source)))
		}
		parts = append(parts, fmt.Sprintf("%s: %s", quoted(a.Name), value))
	}
	var types []string
	for _, b := range body.Blocks {
		if !slices.Contains(types, b.Type) {
			types = append(types, b.Type)
		}
	}
	for _, name := range types {
		var blocks []string
		for _, b := range body.Blocks {
			if b.Type != name {
				continue
			}
			text := inJSON(source, b.Body)
			for _, label := range slices.Backward(b.Labels) {
				text = fmt.Sprintf("{%s: %s}", quoted(label), text)
			}
			blocks = append(blocks, text)
		}
		parts = append(parts, fmt.Sprintf("%s: [%s]", quoted(name), strings.Join(blocks, ", ")))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func expression(source []byte, e hclsyntax.Expression) string {
	text := string(e.Range().SliceBytes(source))
	if _, ok := e.(*hclsyntax.TemplateExpr); ok && strings.HasPrefix(text, `"`) && strings.HasSuffix(text, `"`) {
		if v, bad := e.Value(nil); !bad.HasErrors() {
			return quoted(v.AsString())
		}
	}
	return quoted("${" + text + "}")
}

func quoted(s string) string {
	raw, _ := json.Marshal(s)
	return string(raw)
}

// If the name of a block is misspelled, references to the block are not reported as mistakes.
func TestMisspelledBlockInJSON(t *testing.T) {
	file := filepath.Join(t.TempDir(), "e.hcl.json")
	source := `{"experiment": {"e": {}}, "jobb": {"t": {"command": ["sh"], "epochs": 2}},
		"workload": {"w": {"submit": {"job": "${job.t}"}}}, "hardware": {"h": {"engine": "process", "threads": 1}},
		"policy": {"a": {"order": "fcfs"}}}`
	if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	_, diags := decode.File(file, decode.Options{Host: decodetest.Host})
	if len(diags) != 1 || !strings.Contains(diags[0].Detail, `"jobb"`) || diags[0].Suggestion != "job" {
		t.Errorf("%+v", diags)
	}
}
