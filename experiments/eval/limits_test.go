package eval

import (
	"errors"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// Nesting up to the limit is accepted. The error about deeper nesting marks the place where the limit is exceeded.
func TestTooDeep(t *testing.T) {
	const operators10k = "more than 10000 operators"
	nested := func(open string, n int, close string) string {
		return strings.Repeat(open, n) + "1" + strings.Repeat(close, n)
	}
	for _, c := range []struct {
		src  string
		at   hcl.Pos // Line 0: no error
		what string
	}{
		{"a = " + nested("[", 500, "]"), hcl.Pos{}, ""},
		{"a = 1\nb = " + nested("[", 501, "]"), hcl.Pos{Line: 2, Column: 505, Byte: 510}, "more than 500 deep"},
		{"a = " + nested("(", 501, ")"), hcl.Pos{Line: 1, Column: 505, Byte: 504}, "more than 500 deep"},
		{"a = " + nested(`"${`, 250, `}"`), hcl.Pos{}, ""},
		{"a = " + nested(`"${`, 251, `}"`), hcl.Pos{Line: 1, Column: 755, Byte: 754}, "more than 500 deep"},
		{strings.Repeat("a = [[1], (2), \"${3}\"]\n", 600), hcl.Pos{}, ""}, // each bracket is closed
		{"a = 0" + strings.Repeat("+1", 10_000), hcl.Pos{}, ""},
		{"a = 0" + strings.Repeat("+1", 10_001), hcl.Pos{Line: 1, Column: 20006, Byte: 20005}, "more than 10000 operators"},
		{"a = 0" + strings.Repeat("+1", 6000) + "\nb = [0" + strings.Repeat("-1", 6000) + ", 0" + strings.Repeat("*1", 6000) + "]", hcl.Pos{}, ""},
		// In parentheses and lists, a line does not end an expression, but a comma does.
		{"a = (0" + strings.Repeat("+\n1", 10_000) + ")", hcl.Pos{}, ""},
		{"a = (0" + strings.Repeat("+\n1", 10_001) + ")", hcl.Pos{Line: 10_001, Column: 2, Byte: 30_006}, operators10k},
		{"a = [0" + strings.Repeat("+\n1", 10_001) + "]", hcl.Pos{Line: 10_000, Column: 2, Byte: 30_003}, operators10k}, // the bracket counts too
		{"a {\n" + strings.Repeat("b = 1 + 1\n", 20_000) + "}", hcl.Pos{}, ""},
		{"a = [" + strings.Repeat("1 + 1,\n", 20_000) + "]", hcl.Pos{}, ""},
		{"a = max(max(1" + strings.Repeat("+1", 6000) + ", 0)" + strings.Repeat("+1", 3000) + ", 0)", hcl.Pos{}, ""},
		{"a = max(0" + strings.Repeat("+1", 6000) + ", 0" + strings.Repeat("+1", 6000) + ")", hcl.Pos{}, ""},
		{"a = b" + strings.Repeat("[0]", 10_001), hcl.Pos{Line: 1, Column: 30_006, Byte: 30_005}, operators10k},
		{"a = \"" + strings.Repeat("%{if true}", 10_001) + "\"", hcl.Pos{Line: 1, Column: 100_006, Byte: 100_005}, operators10k},
		{"a = <<E\n" + strings.Repeat("%{if true}\n", 10_001) + "E\n", hcl.Pos{Line: 10_002, Column: 1, Byte: 110_008}, operators10k},
	} {
		at, what := TooDeep("f.hcl", []byte(c.src))
		if at.Start != c.at || !strings.Contains(what, c.what) || (c.what == "") != (what == "") {
			t.Errorf("%.40s…: %+v, %q", c.src, at.Start, what)
		}
	}
	for _, c := range []struct {
		src string
		at  hcl.Pos
	}{
		{`{"a": ` + nested("[", 499, "]") + "}", hcl.Pos{}},
		{"{\n\n" + `"a": ` + nested("[", 500, "]") + "}", hcl.Pos{Line: 3, Column: 505, Byte: 507}},
		{`["` + strings.Repeat("]", 900) + `", ` + nested("[", 499, "]"), hcl.Pos{}}, // brackets in a text do not close others
		{`["` + strings.Repeat("]", 900) + `", ` + nested("[", 500, "]"), hcl.Pos{Line: 1, Column: 1405, Byte: 1404}},
		{strings.Repeat("[{()}]", 600), hcl.Pos{}},
		// Texts in JSON are templates.
		{`["a", "${0` + strings.Repeat("+1", 10_000) + `}"]`, hcl.Pos{}},
		{"[\"a\",\n\"${0" + strings.Repeat("+1", 10_001) + `}"]`, hcl.Pos{Line: 2, Column: 20_008, Byte: 20_013}},
		{`{"${` + strings.Repeat("!", 10_001) + `true}": 1}`, hcl.Pos{Line: 1, Column: 10_011, Byte: 10_010}},
		{`["${` + strings.Repeat(`\u005b`, 501) + `}"]`, hcl.Pos{Line: 1, Column: 3012, Byte: 3011}},
		{`["` + strings.Repeat("%{if true}", 10_001) + `"]`, hcl.Pos{Line: 1, Column: 100_013, Byte: 100_012}},
		{`["` + strings.Repeat("1+", 10_001) + `"]`, hcl.Pos{}}, // not a template, so not parsed
	} {
		at, _, what := TooDeepJSON("f.json", []byte(c.src))
		if at.Start != c.at || (what == "") != (c.at.Line == 0) {
			t.Errorf("%.40s…: %+v, %q", c.src, at.Start, what)
		}
		if what != "" && (at.End.Byte != at.Start.Byte+1 || at.End.Column != at.Start.Column+1 || at.End.Line != at.Start.Line) {
			t.Errorf("%.40s…: from %+v to %+v", c.src, at.Start, at.End)
		}
	}
}

// numbers returns a tuple of n numbers.
func numbers(n int) cty.Value {
	all := make([]cty.Value, n)
	for i := range all {
		all[i] = cty.NumberIntVal(int64(i))
	}
	return cty.TupleVal(all)
}

func textOf(n int) cty.Value { return cty.StringVal(strings.Repeat("x", n)) }

// The weight of a value includes all its parts.
func TestWeight(t *testing.T) {
	half := mostText / 2
	for _, c := range []struct {
		what string
		v    cty.Value
		want string
	}{
		{"as many elements as may be", numbers(mostElements - 1), ""},
		{"one more", numbers(mostElements), "more than 250000 elements"},
		{"elements of elements", cty.TupleVal([]cty.Value{numbers(mostElements / 2), numbers(mostElements / 2)}), "more than 250000 elements"},
		{"two halves", cty.TupleVal([]cty.Value{numbers(mostElements/2 - 2), numbers(mostElements/2 - 1)}), ""},
		{"a text", textOf(mostText), ""},
		{"a longer text", textOf(mostText + 1), "more than 8 MiB of text"},
		{"texts", cty.TupleVal([]cty.Value{textOf(half), textOf(half)}), ""},
		{"longer texts", cty.ListVal([]cty.Value{textOf(half), textOf(half + 1)}), "more than 8 MiB of text"},
		{"keys", cty.MapVal(map[string]cty.Value{strings.Repeat("k", half): textOf(half)}), ""},
		{"longer keys", cty.ObjectVal(map[string]cty.Value{strings.Repeat("k", half+1): textOf(half)}), "more than 8 MiB of text"},
		{"a set", cty.SetVal([]cty.Value{textOf(half), textOf(half + 1)}), "more than 8 MiB of text"},
		{"nothing", cty.NullVal(cty.String), ""},
		{"what is not known", cty.UnknownVal(cty.List(cty.String)), ""},
	} {
		var w weight
		w.add(c.v)
		if got := w.tooMuch(); got != c.want {
			t.Errorf("%s: %q", c.what, got)
		}
	}
}

// Guard rejects calls with too large a result before they run. Other calls return the result of the function.
func TestGuard(t *testing.T) {
	lists := func(n, elements int) []cty.Value {
		all := make([]cty.Value, n)
		for i := range all {
			all[i] = numbers(elements)
		}
		return all
	}
	mixed := func(n int) cty.Value {
		all := numbers(n).AsValueSlice()
		all[0] = cty.StringVal("0")
		return cty.TupleVal(all)
	}
	s, n := cty.StringVal, func(i int64) cty.Value { return cty.NumberIntVal(i) }
	for _, c := range []struct {
		name string
		f    function.Function
		args []cty.Value
		want string // the expected error; "" for none
	}{
		{"setproduct", stdlib.SetProductFunc, lists(2, 300), ""}, // 2 × 300² elements
		{"setproduct", stdlib.SetProductFunc, lists(2, 354), "more than 250000 elements"},
		{"setproduct", stdlib.SetProductFunc, lists(6, 8), "more than 250000 elements"},
		{"setproduct", stdlib.SetProductFunc, lists(40, 40), "more than 250000 elements"}, // 40^40 exceeds all integers
		{"range", stdlib.RangeFunc, []cty.Value{n(1), n(5), n(0)}, "the step must not be 0"},
		{"range", stdlib.RangeFunc, []cty.Value{n(1), n(5), n(2)}, ""},
		{"range", stdlib.RangeFunc, []cty.Value{n(0), n(5)}, ""},
		{"concat", stdlib.ConcatFunc, lists(2, mostElements/2-1), ""},
		{"concat", stdlib.ConcatFunc, lists(2, mostElements/2), "more than 250000 elements"},
		{"replace", stdlib.ReplaceFunc, []cty.Value{s("aaaa"), s("a"), textOf(mostText/5 - 2)}, ""}, // four texts and the argument
		{"replace", stdlib.ReplaceFunc, []cty.Value{s("aaaa"), s("a"), textOf(mostText / 5)}, "more than 8388608 bytes"},
		{"replace", stdlib.ReplaceFunc, []cty.Value{s("abab"), s("c"), textOf(mostText / 4)}, ""},
		{"join", stdlib.JoinFunc, []cty.Value{textOf(1 << 20), cty.ListVal([]cty.Value{s("a"), s("b"), s("c")})}, ""},
		{"join", stdlib.JoinFunc, []cty.Value{textOf(4 << 20), cty.ListVal([]cty.Value{s("a"), s("b"), s("c")})}, "more than 8388608 bytes"},
		{"join", stdlib.JoinFunc, []cty.Value{s(","), cty.TupleVal([]cty.Value{s("a"), n(1)})}, ""},
		{"join", stdlib.JoinFunc, []cty.Value{s(","), mixed(mostMixed + 1)}, "more than 5000 elements of several types"},
		{"join", stdlib.JoinFunc, []cty.Value{s(","), numbers(mostMixed + 1)}, ""}, // numbers have one type
		{"join", stdlib.JoinFunc, []cty.Value{s(","), cty.TupleVal([]cty.Value{s("a"), numbers(2)})}, "string required"},
		{"join", stdlib.JoinFunc, []cty.Value{s(","), cty.EmptyTupleVal}, ""},
		{"jsonencode", stdlib.JSONEncodeFunc, []cty.Value{textOf(mostText)}, ""},
		{"jsonencode", stdlib.JSONEncodeFunc, []cty.Value{cty.TupleVal([]cty.Value{textOf(mostText), s("x")})}, "more than 8388608 bytes"},
		{"jsondecode", stdlib.JSONDecodeFunc, []cty.Value{s("{")}, "the text ends too early"},
		{"log", stdlib.LogFunc, []cty.Value{n(-1), n(2)}, "it has no value for these arguments"},
		{"upper", stdlib.UpperFunc, []cty.Value{s("x")}, ""},
	} {
		var made Effort
		got, err := Guard(c.name, c.f, &made).Call(c.args)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "":
			if err == nil || !strings.Contains(err.Error(), c.want) || made != (Effort{}) {
				t.Errorf("%s: %v with %v made; want %q", c.name, err, made, c.want)
			}
		default:
			// The effort includes the result, which equals the result of the function itself.
			var w weight
			w.add(got)
			plain, err := c.f.Call(c.args)
			if made.weight != w || err == nil && w.elements < 1000 && !plain.RawEquals(got) {
				t.Errorf("%s: %v counts as %v", c.name, w, made)
			}
		}
	}
	if _, err := Guard("join", stdlib.JoinFunc, &Effort{}).Call([]cty.Value{s(","), cty.UnknownVal(cty.DynamicPseudoType)}); err != nil {
		t.Errorf("a list that is not known: %v", err)
	}
	if _, err := Guard("replace", stdlib.ReplaceFunc, &Effort{}).Call([]cty.Value{s("a"), cty.UnknownVal(cty.String), s("b")}); err != nil {
		t.Errorf("a text that is not known: %v", err)
	}
	if got := inWords(errors.New("odd")); got.Error() != "odd" || inWords(nil) != nil {
		t.Errorf("%v", got)
	}
}

// value evaluates a local within the limits.
func value(t *testing.T, expr string, variables map[string]cty.Value) (cty.Value, hcl.Diagnostics, *Effort) {
	t.Helper()
	file, diags := hclsyntax.ParseConfig([]byte("a = "+expr+"\n"), "f.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var e Effort
	e.Count(file.Body.(*hclsyntax.Body))
	functions := map[string]function.Function{"length": Guard("length", stdlib.LengthFunc, &e), "range": Guard("range", stdlib.RangeFunc, &e)}
	v, diags := e.Value(file.Body.(*hclsyntax.Body).Attributes["a"].Expr,
		&hcl.EvalContext{Variables: variables, Functions: functions})
	return v, diags, &e
}

// The effort includes intermediate values of loops, calls and comparisons. When the limit is reached, evaluation
// stops.
func TestEffort(t *testing.T) {
	many := map[string]cty.Value{"many": numbers(1000), "ten": numbers(10), "long": cty.ListVal([]cty.Value{textOf(1 << 20)})}
	for expr, want := range map[string]int{ // expression → number of elements counted
		`1`:                              0,
		`[for i in ten : i]`:             10,
		`[for i in ten : i if i > 20]`:   11, // the condition is evaluated once more to find its type
		`{ for i in ten : i => i }`:      20,
		`[for i in ten : [i, i]]`:        30,
		`[for i in ten : i if i < 5]`:    16,
		`ten == ten`:                     22,
		`ten != [1]`:                     13,
		`1 + 2`:                          0,
		`length(ten)`:                    1,
		`length(ten[*])`:                 12,
		`length("a${length(ten)}b")`:     0, // the expression is an error
		`[for i in ten : length(ten)]`:   20,
		`[for i in [1, 2] : (ten == i)]`: 2 + 2*(11+1),
	} {
		_, diags, e := value(t, expr, many)
		if want > 0 && (diags.HasErrors() || e.elements != want) {
			t.Errorf("%s counts as %d elements, want %d; %v", expr, e.elements, want, diags)
		}
	}
	for expr, fits := range map[string]bool{
		`length([for i in many : [for j in many : j] if i < 499])`: true, // 499 × (1,000 + 1,001) elements, and 1,001 conditions
		`length([for i in many : [for j in many : j] if i < 500])`: false,
		`[for i in range(8) : long]`:                               true,
		`[for i in range(33) : long]`:                              false, // 33 MiB
	} {
		v, diags, e := value(t, expr, many)
		if diags.HasErrors() == fits || !fits && (v != cty.DynamicVal || diags[0].Summary != "Value too large") {
			t.Errorf("%s: %v with %d elements", expr, diags, e.elements)
		}
		if most := mostEffort * mostElements * 3 / 2; e.elements > most {
			t.Errorf("%s has made %d elements", expr, e.elements)
		}
	}
	again := &Effort{weight: weight{elements: mostEffort*mostElements + 1}}
	if _, diags := again.Value(hcl.StaticExpr(cty.True, hcl.Range{}), nil); diags.HasErrors() {
		t.Errorf("what another expression has made counts: %v", diags)
	}
	for e, spent := range map[Effort]bool{
		{weight: weight{elements: mostEffort * mostElements, text: mostEffort * mostText}}: false,
		{weight: weight{elements: mostEffort*mostElements + 1}}:                            true, {weight: weight{huge: true}}: true,
		{weight: weight{text: mostEffort*mostText + 1}}: true,
	} {
		if e.spent() != spent {
			t.Errorf("%v: spent %t", e, e.spent())
		}
	}
}

// Infinite numbers are errors wherever they arise: a text would contain "+Inf".
func TestInfinity(t *testing.T) {
	for _, expr := range []string{`1 / 0`, `"a${1 / 0}"`, `5 % 0`, `upper(0 / 0)`, `{ (1 / 0) = 1 }`, `[for i in [0] : 1 / i]`,
		`"a${"Inf" + 1}"`, `"a${-"Inf"}"`, `"Inf" / 2`, `length("a${"-Inf" * 2}")`} {
		if v, diags, _ := value(t, expr, nil); !diags.HasErrors() {
			t.Errorf("%s is %#v", expr, v)
		}
	}
	if v, diags, _ := value(t, `"${7 / 2} ${7 % 4} ${-1 + 3 * 2 - 1}"`, nil); diags.HasErrors() || v.AsString() != "3.5 3 4" {
		t.Errorf("%#v, %v", v, diags)
	}
	weibull := Guard("weibull", functions["weibull"], &Effort{})
	if _, err := weibull.Call([]cty.Value{cty.MustParseNumberVal("1e400"), cty.StringVal("1h")}); err == nil ||
		!strings.Contains(err.Error(), "must be below 1.8e308") {
		t.Errorf("a shape of 1e400: %v", err)
	}
}

// TooDeepJSON finds nested loops in the texts of a JSON file.
func TestLoopsInJSON(t *testing.T) {
	for src, want := range map[string]bool{
		`{"a": "${[for i in [1]: [for j in [i]: j]]}"}`:             true,
		`{"a": ["x", {"b": "${[for i in [for j in [1]: j]: i]}"}]}`: true,
		`{"${[for i in [1]: [for j in [i]: j]]}": 1}`:               true,
		`{"a": "${[for i in [1]: i]}${[for j in [1]: j]}"}`:         false,
		`{"a": "for i in [for j in"}`:                               false,
		`{"a": 1, "b": [true, null]}`:                               false,
		`{"a"`:                                                      false,
	} {
		if _, summary, _ := TooDeepJSON("f.json", []byte(src)); (summary == "Loop inside a loop") != want {
			t.Errorf("%s: %q", src, summary)
		}
	}
}
