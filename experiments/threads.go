package experiments

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/tfexp/tfexp/experiments/schema"
)

// threads reads a thread request: a number, or an object.
func (a *args) threads(arg *schema.Arg, expr hcl.Expression, v cty.Value) (any, bool) {
	at := expr.Range()
	t := Threads{Range: rangeOf(at)}
	if ty := v.Type(); !ty.IsObjectType() && !ty.IsMapType() || v.IsNull() || ty.Equals(refType) {
		n, ok := a.integer(arg, at, v)
		if !ok {
			return nil, false
		}
		t.Request, t.Inter, t.Intra = n.(int), 1, n.(int)
		return t, true
	}
	keyAt, valueAt := pairRanges(expr)
	good := true
	got := map[string]int{}
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		name := k.AsString()
		key := schema.Find(arg.Keys, name)
		if key == nil {
			names := schema.Names(arg.Keys)
			a.wrong(keyAt(name), nearest(name, names), "Unknown key", "%s has no key %q; it has %s.", arg.Name, name, strings.Join(names, ", "))
			good = false
			continue
		}
		if e.IsNull() {
			continue
		}
		n, ok := a.integer(key, valueAt(name), e)
		if ok {
			got[name] = n.(int)
		}
		good = good && ok
	}
	if !good {
		return nil, false
	}
	_, hasInter := got["inter"]
	_, hasIntra := got["intra"]
	_, hasRequest := got["request"]
	switch {
	case hasRequest && (hasInter || hasIntra):
		return a.wrong(at, "", "Contradicting keys", "threads takes either request, or inter and intra.")
	case hasRequest:
		t.Request, t.Inter, t.Intra = got["request"], 1, got["request"]
	case hasInter && hasIntra:
		t.Request, t.Inter, t.Intra = got["inter"]+got["intra"], got["inter"], got["intra"]
	default:
		return a.wrong(at, "", "Missing key", "threads needs either request, or both inter and intra.")
	}
	t.Min, t.Max = got["min"], got["max"]
	if t.Min > t.Request || (t.Max > 0 && t.Max < t.Request) {
		return a.wrong(at, "", "Value out of range", "The request of %d threads must be from min to max.", t.Request)
	}
	return t, true
}

// pairRanges tells where the keys and the values of an object are written: in
// their own places, or all in the place of the object.
func pairRanges(expr hcl.Expression) (keyAt, valueAt func(key string) hcl.Range) {
	keys, values := map[string]hcl.Range{}, map[string]hcl.Range{}
	pairs, _ := hcl.ExprMap(expr) // without pairs where it is not written out
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
