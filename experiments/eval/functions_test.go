package eval

import (
	"slices"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/schema"
)

// TestDocumented holds the functions and facts of the reference to those that
// expressions can use.
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

// TestFunctionExamples evaluates the call that documents each function.
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
