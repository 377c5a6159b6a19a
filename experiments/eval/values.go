package eval

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/experiments/secret"
)

// refType is the type of a reference to a block, such as `job.long`.
var refType = cty.Object(map[string]cty.Type{"kind": cty.String, "name": cty.String})

func RefValue(kind, name string) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"kind": cty.StringVal(kind), "name": cty.StringVal(name)})
}

// rounded returns a number with fewer digits than calculations have, so that 0.1 * 30 is 3.
func rounded(v cty.Value) *big.Float { return new(big.Float).SetPrec(200).Set(v.AsBigFloat()) }

// Display returns a value as text for messages and for values of axes: strings without quotes, durations and sizes in
// canonical form, references as names.
func Display(v cty.Value) string {
	switch {
	case v.IsMarked():
		return secret.Shown
	case !v.IsKnown():
		return "unknown"
	case v.IsNull():
		return "null"
	}
	t := v.Type()
	switch {
	case t == cty.String:
		return schema.Canonical(v.AsString())
	case t == cty.Number:
		n := rounded(v)
		if n.IsInt() && n.MantExp(nil) < 60 {
			return n.Text('f', 0)
		}
		if f, off := n.Float64(); f != math.Trunc(f) || off == big.Exact {
			return strconv.FormatFloat(f, 'g', -1, 64)
		}
		return n.Text('g', 25) // more digits than a float64 has
	case t == cty.Bool:
		return fmt.Sprint(v.True())
	case t.Equals(refType) && v.GetAttr("name").IsKnown() && !v.GetAttr("name").IsNull():
		return v.GetAttr("name").AsString()
	case t.Equals(modelType):
		return v.EncapsulatedValue().(*Model).String()
	case t.IsObjectType() || t.IsMapType():
		var parts []string
		for it := v.ElementIterator(); it.Next(); {
			key, e := it.Element() // in the order of keys
			parts = append(parts, key.AsString()+"="+Display(e))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case v.CanIterateElements():
		var parts []string
		for it := v.ElementIterator(); it.Next(); {
			_, e := it.Element()
			parts = append(parts, Display(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return t.FriendlyName()
}

// literal returns a variable's value in the form that -var accepts: a string without quotes, other values as
// expressions.
func literal(v cty.Value) string {
	if v.ContainsMarked() {
		return secret.Shown
	}
	if v.Type() == cty.String && !v.IsNull() {
		return v.AsString()
	}
	return expression(v)
}

// Literal returns a string in HCL syntax: in quotes, with special characters escaped.
func Literal(s string) string { return expression(cty.StringVal(s)) }

// expression returns a value in HCL syntax.
func expression(v cty.Value) string {
	t := v.Type()
	if v.IsNull() || !v.CanIterateElements() {
		if v.IsNull() || t == cty.String {
			return string(hclwrite.TokensForValue(v).Bytes())
		}
		return Display(v)
	}
	var parts []string
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		if t.IsObjectType() || t.IsMapType() {
			parts = append(parts, expression(k)+" = "+expression(e))
		} else {
			parts = append(parts, expression(e))
		}
	}
	if t.IsObjectType() || t.IsMapType() {
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return "[" + strings.Join(parts, ", ") + "]"
}
