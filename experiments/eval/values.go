package eval

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/experiments/secret"
)

// refType is the type of a reference to a block: `job.long`.
var refType = cty.Object(map[string]cty.Type{"kind": cty.String, "name": cty.String})

func RefValue(kind, name string) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"kind": cty.StringVal(kind), "name": cty.StringVal(name)})
}

// Display writes a value for people, and as the text of an axis: strings
// without quotes, durations and sizes canonically, references by name.
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
		f, _ := v.AsBigFloat().Float64()
		if f == math.Trunc(f) && math.Abs(f) < 1e15 {
			return strconv.FormatFloat(f, 'f', -1, 64)
		}
		return strconv.FormatFloat(f, 'g', -1, 64)
	case t == cty.Bool:
		return fmt.Sprint(v.True())
	case t.Equals(refType) && v.GetAttr("name").IsKnown() && !v.GetAttr("name").IsNull():
		return v.GetAttr("name").AsString()
	case t.Equals(modelType):
		return v.EncapsulatedValue().(*Model).String()
	case t.IsObjectType() || t.IsMapType():
		var parts []string
		for it := v.ElementIterator(); it.Next(); {
			key, e := it.Element() // in the order of the keys
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

// literal writes a variable's value so that -var reads it back: a string as
// it is, anything else as an expression.
func literal(v cty.Value) string {
	if v.ContainsMarked() {
		return secret.Shown
	}
	if v.Type() == cty.String && !v.IsNull() {
		return v.AsString()
	}
	return expression(v)
}

// Literal writes a string in the language: in quotes, with special characters escaped.
func Literal(s string) string { return expression(cty.StringVal(s)) }

// expression writes a value in the language.
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
