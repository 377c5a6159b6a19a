package eval

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// mostEffort bounds the values that an expression may make during its evaluation, as a multiple of the limits of one
// value. Nested loops can make many more values than the result has.
const mostEffort = 4

// Effort counts the values that loops and calls make while an expression is evaluated. It also counts the large
// values that the file keeps.
type Effort struct {
	weight
	kept weight
	full bool // the large values together exceed the limit: nothing more is evaluated
}

// A value above these sizes counts as large. All large values of a file together must stay within the limits of one
// value.
const (
	largeElements = 10_000
	largeText     = 64 << 10
)

// keeps adds the weight of an expression's value, and reports whether the file's large values are still within the
// limits.
func (e *Effort) keeps(w weight) bool {
	if w.elements <= largeElements && w.text <= largeText {
		return true
	}
	w.elements, w.text = w.elements+e.kept.elements, w.text+e.kept.text
	if e.full = w.tooMuch() != ""; !e.full {
		e.kept = w
	}
	return !e.full
}

// spent reports whether an expression has made too many values. The rest of it is then not evaluated.
func (e *Effort) spent() bool {
	return e.huge || e.elements > mostEffort*mostElements || e.text > mostEffort*mostText
}

// made adds a value that was made.
func (e *Effort) made(v cty.Value) {
	var w weight
	w.add(v)
	e.elements, e.text, e.huge = e.elements+w.elements, e.text+w.text, e.huge || w.huge
}

// counted is an expression whose value is counted at each evaluation.
type counted struct {
	hclsyntax.Expression
	effort *Effort
}

// Value implements hcl.Expression. It returns an unknown value after too many values were made.
func (c *counted) Value(ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if c.effort.spent() {
		return cty.DynamicVal, nil
	}
	v, diags := c.Expression.Value(ctx)
	c.effort.made(v)
	return v, diags
}

// Count makes the loops, concatenations and comparisons in node count their values.
func (e *Effort) Count(node hclsyntax.Node) {
	_ = hclsyntax.VisitAll(node, func(n hclsyntax.Node) hcl.Diagnostics {
		if c, ok := n.(*counted); ok {
			n = c.Expression
		}
		if loop, ok := n.(*hclsyntax.ForExpr); ok {
			for _, part := range []*hclsyntax.Expression{&loop.KeyExpr, &loop.ValExpr, &loop.CondExpr} {
				e.countIn(part)
			}
		}
		for _, operand := range operands(n) {
			e.countIn(operand)
		}
		return nil
	})
}

// operands returns pointers to those operands of an expression that may have long values.
func operands(n hclsyntax.Node) (at []*hclsyntax.Expression) {
	switch n := n.(type) {
	case *hclsyntax.BinaryOpExpr:
		if n.Op == hclsyntax.OpEqual || n.Op == hclsyntax.OpNotEqual {
			return []*hclsyntax.Expression{&n.LHS, &n.RHS}
		}
	case *hclsyntax.FunctionCallExpr:
		for i, arg := range n.Args {
			switch arg := arg.(type) {
			case *hclsyntax.SplatExpr:
				at = append(at, &n.Args[i])
			case *hclsyntax.TemplateExpr:
				if hclsyntax.Variables(arg) != nil {
					at = append(at, &n.Args[i])
				}
			}
		}
	}
	return at
}

// countIn replaces the expression by one that counts its values.
func (e *Effort) countIn(at *hclsyntax.Expression) {
	inner := *at
	switch reference := inner.(type) {
	case nil, *counted:
		return
	case *hclsyntax.ScopeTraversalExpr:
		// References are recognized by their type when names are looked up, so the type must stay.
		inner = &hclsyntax.ParenthesesExpr{Expression: reference, SrcRange: reference.SrcRange}
	}
	*at = &counted{inner, e}
}

// Value evaluates an expression, and reports an error if it exceeds the limits.
func (e *Effort) Value(expr hcl.Expression, ctx *hcl.EvalContext) (cty.Value, hcl.Diagnostics) {
	if e.weight = (weight{}); e.full {
		return cty.DynamicVal, nil
	}
	v, diags := expr.Value(ctx)
	var w weight
	w.add(v)
	var what string
	switch {
	case e.huge || w.huge:
		what = "A number in this expression is above 1e1000, or closer to 0 than 1e-1000."
	case e.spent():
		what = fmt.Sprintf("The loops and calls of this expression make more than %d elements or %d MiB of text; write it with fewer.",
			mostEffort*mostElements, mostEffort*mostText>>20)
	case !e.keeps(w):
		what = fmt.Sprintf("With this value, the large values of the file have more than %d elements or %d MiB of text. Write long "+
			"lists and texts into files, and name these in the experiment.", mostElements, mostText>>20)
	default:
		return v, diags
	}
	return cty.DynamicVal, hcl.Diagnostics{{
		Severity: hcl.DiagError, Summary: "Value too large", Subject: expr.Range().Ptr(), Detail: what,
	}}
}
