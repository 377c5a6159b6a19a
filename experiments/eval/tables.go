package eval

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// KeyRanges returns the places of an object's keys, by key. It is empty if the object is not a literal.
func KeyRanges(expr hcl.Expression) map[string]hcl.Range {
	at := map[string]hcl.Range{}
	pairs, _ := hcl.ExprMap(expr)
	for _, p := range pairs {
		if word := hcl.ExprAsKeyword(p.Key); word != "" {
			at[word] = p.Key.Range()
		} else if k, diags := p.Key.Value(nil); !diags.HasErrors() && k.Type() == cty.String && k.IsKnown() && !k.IsNull() {
			at[k.AsString()] = p.Key.Range()
		}
	}
	return at
}

// PairRanges returns functions that return the place of an object's key, and of its value. For an object that is not
// a literal, both return the place of the object.
func PairRanges(expr hcl.Expression) (keyAt, valueAt func(key string) hcl.Range) {
	keys, values := map[string]hcl.Range{}, map[string]hcl.Range{}
	pairs, _ := hcl.ExprMap(expr) // no pairs if the object is not a literal
	for _, p := range pairs {
		name := hcl.ExprAsKeyword(p.Key)
		if name == "" {
			k, diags := p.Key.Value(nil)
			if diags.HasErrors() || !k.IsKnown() || k.IsNull() {
				continue
			}
			if k, err := convert.Convert(k, cty.String); err == nil {
				name = k.AsString()
			}
		}
		keys[name], values[name] = p.Key.Range(), p.Value.Range()
	}
	place := func(places map[string]hcl.Range) func(string) hcl.Range {
		return func(key string) hcl.Range {
			if at, ok := places[key]; ok {
				return at
			}
			return expr.Range()
		}
	}
	return place(keys), place(values)
}
