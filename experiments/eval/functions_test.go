package eval

import (
	"slices"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/schema"
)

// Literal escapes names of files and columns such that the language reads the same name.
func TestLiteral(t *testing.T) {
	for _, s := range []string{"", "a.csv", "a${b}", "%{if}", "$${x}", "\"\\", "a\nb\x1b", "größe", "\u202e"} {
		e, diags := hclsyntax.ParseExpression([]byte(Literal(s)), "x.hcl", hcl.InitialPos)
		if diags.HasErrors() {
			t.Errorf("%q: %s: %v", s, Literal(s), diags)
			continue
		}
		if v, diags := e.Value(nil); diags.HasErrors() || v.AsString() != s {
			t.Errorf("%q is written as %s", s, Literal(s))
		}
	}
}

// TestDocumented checks that the reference documents exactly the functions and facts that expressions can use.
func TestDocumented(t *testing.T) {
	documented := slices.Sorted(slices.Values(functionNames))
	var implemented []string
	for name := range functions {
		implemented = append(implemented, name)
	}
	slices.Sort(implemented)
	if !slices.Equal(documented, implemented) {
		t.Errorf("functions: documented %v, implemented %v", documented, implemented)
	}
	facts := hostValue(experiments.HostFacts{
		Threads: 4, Cores: 2, MemoryBytes: 8 << 30, OS: "linux", Arch: "amd64", CPUModel: "Test CPU", Name: "tester",
	})
	for _, f := range schema.Facts {
		if !facts.Type().HasAttribute(f.Name) || facts.GetAttr(f.Name).IsNull() {
			t.Errorf("host.%s has no value", f.Name)
		}
	}
}

// TestFunctionExamples evaluates the example in the documentation of each function.
func TestFunctionExamples(t *testing.T) {
	for _, f := range schema.Functions {
		expr, diags := hclsyntax.ParseExpression([]byte(f.Signature), "example", hcl.InitialPos)
		if diags.HasErrors() {
			t.Errorf("%s: %v", f.Signature, diags)
			continue
		}
		if v, diags := expr.Value(&hcl.EvalContext{Functions: functions}); diags.HasErrors() || !v.IsKnown() {
			t.Errorf("%s: %v", f.Signature, diags)
		}
	}
}
