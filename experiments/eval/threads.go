package eval

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/schema"
)

// threads reads a thread request: a number, or an object.
func (a *Args) threads(arg *schema.Arg, expr hcl.Expression, v cty.Value) (any, bool) {
	at := expr.Range()
	t := experiments.Threads{Range: RangeOf(at)}
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
			a.Wrong(keyAt(name), schema.Nearest(name, names), "Unknown key", "%s has no key %q; it has %s.",
				arg.Name, name, strings.Join(names, ", "))
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
		return a.Wrong(at, "", "Contradicting keys", "threads takes either request, or inter and intra.")
	case hasRequest:
		t.Request, t.Inter, t.Intra = got["request"], 1, got["request"]
	case hasInter && hasIntra:
		t.Request, t.Inter, t.Intra = got["inter"]+got["intra"], got["inter"], got["intra"]
	default:
		return a.Wrong(at, "", "Missing key", "threads needs either request, or both inter and intra.")
	}
	t.Min, t.Max = got["min"], got["max"]
	if t.Min > t.Request || (t.Max > 0 && t.Max < t.Request) {
		return a.Wrong(at, "", "Value out of range", "The request of %d threads must be from min to max.", t.Request)
	}
	return t, true
}
