package eval

import (
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// What is written is read back, whatever a file or a column is called.
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
