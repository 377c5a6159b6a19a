package experiments

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/tfexp/tfexp/experiments/units"
)

// varType is the type of a variable. Durations and sizes are strings that are
// checked, and kept in canonical form.
type varType struct {
	name string // string, number, bool, duration, size, any, list, map
	elem *varType
}

// scalarTypes are the types without an element type.
var scalarTypes = []string{"string", "number", "bool", "duration", "size", "any"}

func (t *varType) String() string {
	if t.elem != nil {
		return t.name + "(" + t.elem.String() + ")"
	}
	return t.name
}

// isText says whether -var takes the value as it is, without quotes.
func (t *varType) isText() bool {
	return t.name == "string" || t.name == "duration" || t.name == "size"
}

// parseType reads a type expression; nil when it is none, which is reported.
func (r *reporter) parseType(expr hcl.Expression) *varType {
	if word := hcl.ExprAsKeyword(expr); word != "" {
		for _, s := range scalarTypes {
			if s == word {
				return &varType{name: word}
			}
		}
		r.suggest(expr.Range(), nearest(word, scalarTypes), "Unknown type", "%q is not a type. The types are %s, list(…) and map(…).", word, strings.Join(scalarTypes, ", "))
		return nil
	}
	if call, diags := hcl.ExprCall(expr); !diags.HasErrors() {
		if (call.Name == "list" || call.Name == "map") && len(call.Arguments) == 1 {
			if elem := r.parseType(call.Arguments[0]); elem != nil {
				return &varType{name: call.Name, elem: elem}
			}
			return nil
		}
		r.suggest(expr.Range(), nearest(call.Name, []string{"list", "map"}), "Unknown type", "Types with an element type are list(…) and map(…).")
		return nil
	}
	r.errorf(expr.Range(), "Unknown type", "The types are %s, list(…) and map(…), written without quotes.", strings.Join(scalarTypes, ", "))
	return nil
}

// convert makes v a value of the type, with units in canonical form. Its
// errors are phrases about the value.
func (t *varType) convert(v cty.Value) (cty.Value, error) {
	if !v.IsKnown() || v.IsNull() {
		return v, nil
	}
	scalar := func(to cty.Type) (cty.Value, error) {
		c, err := convert.Convert(v, to)
		if err != nil {
			return cty.NilVal, fmt.Errorf("%s is not a %s", display(v), t)
		}
		return c, nil
	}
	switch t.name {
	case "string":
		return scalar(cty.String)
	case "number":
		return scalar(cty.Number)
	case "bool":
		return scalar(cty.Bool)
	case "duration", "size":
		s, err := scalar(cty.String)
		if err != nil {
			return cty.NilVal, err
		}
		if t.name == "size" {
			n, err := units.ParseSize(s.AsString())
			if err != nil {
				return cty.NilVal, fmt.Errorf("%q is no size: %w", s.AsString(), err)
			}
			return cty.StringVal(units.FormatSize(n)), nil
		}
		d, err := units.ParseDuration(s.AsString())
		if err != nil {
			return cty.NilVal, fmt.Errorf("%q is no duration: %w", s.AsString(), err)
		}
		return cty.StringVal(units.FormatDuration(d)), nil
	case "list":
		ty := v.Type()
		if !ty.IsTupleType() && !ty.IsListType() && !ty.IsSetType() {
			return cty.NilVal, fmt.Errorf("%s is not a list", display(v))
		}
		elems := make([]cty.Value, 0, v.LengthInt())
		for it := v.ElementIterator(); it.Next(); {
			_, e := it.Element()
			c, err := t.elem.convert(e)
			if err != nil {
				return cty.NilVal, err
			}
			elems = append(elems, c)
		}
		return cty.TupleVal(elems), nil
	case "map":
		ty := v.Type()
		if !ty.IsObjectType() && !ty.IsMapType() {
			return cty.NilVal, fmt.Errorf("%s is not a map", display(v))
		}
		elems := map[string]cty.Value{}
		for it := v.ElementIterator(); it.Next(); {
			k, e := it.Element()
			c, err := t.elem.convert(e)
			if err != nil {
				return cty.NilVal, err
			}
			elems[k.AsString()] = c
		}
		return cty.ObjectVal(elems), nil
	}
	return v, nil
}

// Outside is what comes from outside of a file.
type Outside struct {
	// Vars are values of variables, "name=value"; VarFiles are files of them.
	Vars, VarFiles []string
	Host           HostFacts
}

// given is a value of a variable from outside of the file.
type given struct {
	at   hcl.Range      // of the value
	text string         // as it was written, for text types
	expr hcl.Expression // otherwise; nil means that text is to be parsed
}

// variables evaluates all variables, in the order of the file.
func (r *reporter) variables(root *node, from Outside) (map[string]cty.Value, []Setting) {
	var names []string
	for _, n := range root.all("variable") {
		names = append(names, n.label)
	}
	outside := r.givenValues(names, from)

	values := map[string]cty.Value{}
	var settings []Setting
	for _, n := range root.all("variable") {
		v := r.variable(n, outside[n.label])
		values[n.label] = v
		if v.IsWhollyKnown() && !v.IsNull() {
			settings = append(settings, Setting{Name: n.label, Value: literal(v)})
		}
	}
	return values, settings
}

// variable evaluates one variable; unknown when something is wrong with it.
func (r *reporter) variable(n *node, g *given) cty.Value {
	constants := &env{ctx: &hcl.EvalContext{Variables: map[string]cty.Value{}, Functions: functions}}
	if a := n.attr("description"); a != nil {
		r.eval(a.Expr, constants)
	}
	t := &varType{name: "any"}
	if a := n.attr("type"); a != nil {
		if t = r.parseType(a.Expr); t == nil {
			return unknown
		}
	}
	v := unknown
	var at hcl.Range
	if a := n.attr("default"); a != nil {
		at = a.Expr.Range()
		v = r.eval(a.Expr, constants)
		v = r.typed(v, t, at, n.label)
	}
	switch {
	case g != nil:
		at = g.at
		switch {
		case g.expr != nil:
			v = r.eval(g.expr, constants)
		case t.isText() || (t.name == "any" && (v.Type() == cty.String || n.attr("default") == nil)):
			v = cty.StringVal(g.text)
		default:
			expr, diags := hclsyntax.ParseExpression([]byte(g.text), g.at.Filename, g.at.Start)
			if diags.HasErrors() {
				r.errorf(g.at, "Wrong value of a variable", "The variable %q is a %s; this is not one.", n.label, t)
				return unknown
			}
			// A bare word is most likely a text that the type has no room for.
			if len(expr.Variables()) > 0 {
				r.errorf(g.at, "Wrong value of a variable", "The variable %q is a %s; this is not one.", n.label, t)
				return unknown
			}
			v = r.eval(expr, constants)
		}
		v = r.typed(v, t, at, n.label)
	case n.attr("default") == nil:
		if !n.broken {
			r.errorf(n.header, "Variable without a value", "The variable %q has no default; set it: -var %s=….", n.label, n.label)
		}
		return unknown
	}
	if !v.IsWhollyKnown() || n.broken {
		return v
	}
	for _, check := range n.all("validation") {
		if !r.validate(n, check, v, at) {
			return unknown
		}
	}
	return v
}

func (r *reporter) typed(v cty.Value, t *varType, at hcl.Range, name string) cty.Value {
	c, err := t.convert(v)
	if err != nil {
		r.suggest(at, units.Suggestion(err), "Wrong value of a variable", "The variable %q is a %s, but %s.", name, t, err)
		return unknown
	}
	return c
}

// validate checks a variable's value by one validation block.
func (r *reporter) validate(n, check *node, v cty.Value, at hcl.Range) bool {
	self := cty.ObjectVal(map[string]cty.Value{n.label: v})
	e := &env{ctx: &hcl.EvalContext{Variables: map[string]cty.Value{"var": self}, Functions: functions}}
	ok := r.condition(check.attr("condition").Expr, e)
	if !ok.IsKnown() || ok.True() {
		return ok.IsKnown()
	}
	message := r.eval(check.attr("error_message").Expr, e)
	if !message.IsKnown() {
		return false
	}
	text, err := convert.Convert(message, cty.String)
	if err != nil || text.IsNull() {
		r.errorf(check.attr("error_message").Expr.Range(), "Wrong type", "error_message must be a string.")
		return false
	}
	r.errorf(at, "Invalid value of a variable", "%s (The variable %q is %s; the condition is at line %d.)", text.AsString(), n.label, display(v), check.header.Start.Line)
	return false
}

// condition evaluates a bool; unknown when it is none, which is reported.
func (r *reporter) condition(expr hcl.Expression, e *env) cty.Value {
	v := r.eval(expr, e)
	if !v.IsKnown() {
		return cty.UnknownVal(cty.Bool)
	}
	b, err := convert.Convert(v, cty.Bool)
	if err != nil || b.IsNull() {
		r.errorf(expr.Range(), "Wrong type", "A condition is true or false; this is %s.", describe(v))
		return cty.UnknownVal(cty.Bool)
	}
	return b
}

// givenValues reads -var-file and -var, in this order, so that later values win.
func (r *reporter) givenValues(names []string, from Outside) map[string]*given {
	values := map[string]*given{}
	set := func(name string, at hcl.Range, g *given) {
		for _, n := range names {
			if n == name {
				values[name] = g
				return
			}
		}
		r.suggest(at, nearest(name, names), "Unknown variable", "The experiment has no variable %q.", name)
	}
	for _, path := range from.VarFiles {
		src, err := readSource(path)
		if err != nil {
			r.add(Diagnostic{Severity: SeverityError, Summary: "Cannot read the file of variables", Detail: err.Error() + ".", Range: Range{File: path}})
			continue
		}
		file := r.parseFile(path, src)
		if file == nil {
			continue
		}
		attrs, diags := file.Body.JustAttributes()
		r.addHCL(diags, "")
		for _, a := range sorted(attrs) {
			set(a.Name, a.NameRange, &given{at: a.Expr.Range(), expr: a.Expr})
		}
	}

	// All -var arguments make up one text, a line each, that diagnostics cite.
	source := strings.Join(from.Vars, "\n")
	if len(from.Vars) > 0 {
		r.files[commandLine] = &hcl.File{Bytes: []byte(source)}
	}
	offset := 0
	for i, v := range from.Vars {
		rangeAt := func(from, to int) hcl.Range {
			pos := func(n int) hcl.Pos { return hcl.Pos{Line: i + 1, Column: n + 1, Byte: offset + n} }
			return hcl.Range{Filename: commandLine, Start: pos(from), End: pos(to)}
		}
		name, text, ok := strings.Cut(v, "=")
		if ok && strings.TrimSpace(name) != "" {
			set(strings.TrimSpace(name), rangeAt(0, len(name)), &given{at: rangeAt(len(name)+1, len(v)), text: text})
		} else {
			r.errorf(rangeAt(0, len(v)), "Malformed -var", "A variable is set by name=value.")
		}
		offset += len(v) + 1
	}
	return values
}
