package eval

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/experiments/secret"
)

// varType is the type of a variable. Durations and sizes are strings in canonical form.
type varType struct {
	name string // string, number, bool, duration, size, any, list, map
	elem *varType
}

// scalarTypes are the types that have no element type.
var scalarTypes = []string{"string", "number", "bool", "duration", "size", "any"}

func (t *varType) String() string {
	if t.elem != nil {
		return t.name + "(" + t.elem.String() + ")"
	}
	return t.name
}

// isText reports whether -var accepts values of the type without quotes.
func (t *varType) isText() bool {
	return t.name == "string" || t.name == "duration" || t.name == "size"
}

// parseType reads a type expression. It returns nil for another expression, which it reports.
func (r *Reporter) parseType(expr hcl.Expression) *varType {
	if word := hcl.ExprAsKeyword(expr); word != "" {
		if slices.Contains(scalarTypes, word) {
			return &varType{name: word}
		}
		r.Suggest(expr.Range(), schema.Nearest(word, scalarTypes), "Unknown type",
			"%q is not a type. The types are %s, list(…) and map(…).", word, strings.Join(scalarTypes, ", "))
		return nil
	}
	if call, diags := hcl.ExprCall(expr); !diags.HasErrors() {
		if (call.Name == "list" || call.Name == "map") && len(call.Arguments) == 1 {
			if elem := r.parseType(call.Arguments[0]); elem != nil {
				return &varType{name: call.Name, elem: elem}
			}
			return nil
		}
		r.Suggest(expr.Range(), schema.Nearest(call.Name, []string{"list", "map"}), "Unknown type",
			"Types with an element type are list(…) and map(…).")
		return nil
	}
	r.Errorf(expr.Range(), "Unknown type", "The types are %s, list(…) and map(…), written without quotes.",
		strings.Join(scalarTypes, ", "))
	return nil
}

// convert converts v to the type; durations and sizes get their canonical form. Its errors are phrases about the
// value.
func (t *varType) convert(v cty.Value) (cty.Value, error) {
	if !v.IsKnown() || v.IsNull() {
		return v, nil
	}
	switch t.name {
	case "string":
		return t.scalar(v, cty.String)
	case "number":
		return t.scalar(v, cty.Number)
	case "bool":
		return t.scalar(v, cty.Bool)
	case "duration", "size":
		return t.quantity(v)
	case "list", "map":
		return t.elements(v)
	}
	return v, nil
}

// scalar converts v to a type without elements.
func (t *varType) scalar(v cty.Value, to cty.Type) (cty.Value, error) {
	c, err := convert.Convert(v, to)
	if err != nil {
		return cty.NilVal, fmt.Errorf("%s is not a %s", Display(v), t)
	}
	return c, nil
}

// quantity converts v to a duration or a size, a string with a unit.
func (t *varType) quantity(v cty.Value) (cty.Value, error) {
	s, err := t.scalar(v, cty.String)
	if err != nil {
		return cty.NilVal, err
	}
	if t.name == "size" {
		n, err := schema.ParseSize(s.AsString())
		if err != nil {
			return cty.NilVal, fmt.Errorf("%q is not a size: %w", s.AsString(), err)
		}
		return cty.StringVal(schema.FormatSize(n)), nil
	}
	d, err := schema.ParseDuration(s.AsString())
	if err != nil {
		return cty.NilVal, fmt.Errorf("%q is not a duration: %w", s.AsString(), err)
	}
	return cty.StringVal(schema.FormatDuration(d)), nil
}

// elements converts v to a list or a map, element by element.
func (t *varType) elements(v cty.Value) (cty.Value, error) {
	isMap := v.Type().IsObjectType() || v.Type().IsMapType()
	if !isMap && t.name == "map" || !IsList(v) && t.name == "list" {
		return cty.NilVal, fmt.Errorf("%s is not a %s", Display(v), t.name)
	}
	elems, byKey := make([]cty.Value, 0, v.LengthInt()), map[string]cty.Value{}
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		c, err := t.elem.convert(e)
		if err != nil {
			return cty.NilVal, err
		}
		if isMap {
			byKey[k.AsString()] = c
		} else {
			elems = append(elems, c)
		}
	}
	if isMap {
		return cty.ObjectVal(byKey), nil
	}
	return cty.TupleVal(elems), nil
}

// Outside has the values of variables that come from outside of the file.
type Outside struct {
	// Vars are values of variables in the form "name=value"; VarFiles are paths of files with values.
	Vars, VarFiles []string
	Host           experiments.HostFacts
}

// given is the value of a variable from outside of the file, either text or expr.
type given struct {
	at   hcl.Range      // place of the value
	text string         // the value as written, for types that need no quotes
	expr hcl.Expression // the parsed value; nil: text must be parsed
}

// variables evaluates all variables, in the order of the file.
func (r *Reporter) variables(root *Node, from Outside) (map[string]cty.Value, []schema.Setting) {
	names := schema.Each(root.All("variable"), func(n *Node) string { return n.Label })
	r.findSensitive(root)
	outside := r.givenValues(names, from)

	values := map[string]cty.Value{}
	var settings []schema.Setting
	for _, n := range root.All("variable") {
		v := r.variable(n, outside[n.Label])
		values[n.Label] = v
		if v.IsWhollyKnown() && !v.IsNull() {
			settings = append(settings, schema.Setting{Name: n.Label, Value: literal(v)})
		}
	}
	return values, settings
}

// variable evaluates a variable. It returns an unknown value after an error.
func (r *Reporter) variable(n *Node, g *given) cty.Value {
	constants := &Env{Ctx: &hcl.EvalContext{Variables: map[string]cty.Value{}, Functions: r.functions()}}
	if a := n.Attr("description"); a != nil {
		r.Eval(a.Expr, constants)
	}
	t := &varType{name: "any"}
	if a := n.Attr("type"); a != nil {
		if t = r.parseType(a.Expr); t == nil {
			return Unknown
		}
	}
	if g == nil && n.Attr("default") == nil {
		if !n.Broken {
			r.withoutValue(n)
		}
		return Unknown
	}
	var v cty.Value
	var at hcl.Range
	if r.sensitive[n.Label] {
		v, at = r.sensitiveValue(n, g, t, constants)
	} else {
		v, at = r.ownValue(n, g, t, constants)
		r.doubtSecret(n, v)
	}
	if !v.IsWhollyKnown() || n.Broken {
		return v
	}
	for _, check := range n.All("validation") {
		if !r.validate(n, check, v, at) {
			return Unknown
		}
	}
	return v
}

// ownValue evaluates the default of a variable and its value from outside, and returns the latter if there is one. It
// also returns the place where the value is written.
func (r *Reporter) ownValue(n *Node, g *given, t *varType, constants *Env) (v cty.Value, at hcl.Range) {
	v = Unknown
	if a := n.Attr("default"); a != nil {
		at = a.Expr.Range()
		v = r.typed(r.Eval(a.Expr, constants), t, at, n.Label)
	}
	if g == nil {
		return v, at
	}
	text := t.isText() || t.name == "any" && (v.Type() == cty.String || n.Attr("default") == nil)
	if v = r.givenValue(n.Label, g, t, text, constants); v.IsKnown() {
		v = r.typed(v, t, g.at, n.Label)
	}
	return v, g.at
}

// withoutValue reports a variable that has no value.
func (r *Reporter) withoutValue(n *Node) {
	const summary = "Variable without a value"
	if r.sensitive[n.Label] {
		r.Errorf(n.Header, summary, "The variable %q is sensitive, so that no file of results keeps its value. Set it: -var "+
			"%s=…, the variable %s%s of the environment, or a file that -var-file names.", n.Label, n.Label, secret.Environment, n.Label)
		return
	}
	r.Errorf(n.Header, summary, "The variable %q has no default; set it: -var %s=….", n.Label, n.Label)
}

// givenValue evaluates the value of a variable from outside of the file. text is set if -var accepts such values
// without quotes.
func (r *Reporter) givenValue(name string, g *given, t *varType, text bool, constants *Env) cty.Value {
	switch {
	case g.expr != nil:
		return r.Eval(g.expr, constants)
	case text:
		return cty.StringVal(g.text)
	}
	tokens, _ := hclsyntax.LexExpression([]byte(g.text), g.at.Filename, g.at.Start)
	if at, what, _ := tooDeep(tokens); what != "" {
		r.Errorf(at, tooLarge, "%s", what)
		return Unknown
	}
	expr, diags := hclsyntax.ParseExpression([]byte(g.text), g.at.Filename, g.at.Start)
	// A word without quotes is probably meant as a text, but the variable has another type.
	if diags.HasErrors() || len(expr.Variables()) > 0 {
		r.Errorf(g.at, "Wrong value of a variable", "The variable %q is a %s; this is not one.", name, t)
		return Unknown
	}
	r.effort.Count(expr)
	return r.Eval(expr, constants)
}

func (r *Reporter) typed(v cty.Value, t *varType, at hcl.Range, name string) cty.Value {
	c, err := t.convert(v)
	if err != nil {
		r.Suggest(at, schema.Suggestion(err), "Wrong value of a variable", "The variable %q is a %s, but %s.", name,
			t, err)
		return Unknown
	}
	return c
}

// validate checks the value of a variable with one validation block.
func (r *Reporter) validate(n, check *Node, v cty.Value, at hcl.Range) bool {
	for _, t := range check.Attr("condition").Expr.Variables() {
		if step := second(t); t.RootName() == "var" && step != "" && step != n.Label {
			r.Errorf(t.SourceRange(), "Reference not available here",
				"The validation of the variable %q reads its own value alone, var.%s.", n.Label, n.Label)
			return false
		}
	}
	self := cty.ObjectVal(map[string]cty.Value{n.Label: v})
	e := &Env{Ctx: &hcl.EvalContext{Variables: map[string]cty.Value{"var": self}, Functions: r.functions()}}
	condition := check.Attr("condition").Expr
	holds, _ := r.evaluate(condition, e)
	ok := r.truth(condition, holds)
	if !ok.IsKnown() || ok.True() {
		return ok.IsKnown()
	}
	message, _ := r.evaluate(check.Attr("error_message").Expr, e)
	if message.IsMarked() {
		message = cty.StringVal("The value is sensitive and part of the error_message, so this message is not shown.")
	}
	if !message.IsKnown() {
		return false
	}
	text, err := convert.Convert(message, cty.String)
	if err != nil || text.IsNull() {
		r.Errorf(check.Attr("error_message").Expr.Range(), "Wrong type", "error_message must be a string.")
		return false
	}
	r.Errorf(at, "Invalid value of a variable", "%s (The variable %q is %s; the condition is at line %d.)",
		text.AsString(), n.Label, Display(v), check.Header.Start.Line)
	return false
}

// Condition evaluates an expression of type bool. It returns an unknown value for any other type, which it reports.
func (r *Reporter) Condition(expr hcl.Expression, e *Env) cty.Value {
	return r.truth(expr, r.Eval(expr, e))
}

// truth checks that a value is a bool. It returns an unknown value otherwise.
func (r *Reporter) truth(expr hcl.Expression, v cty.Value) cty.Value {
	if !v.IsKnown() {
		return cty.UnknownVal(cty.Bool)
	}
	plain, _ := v.UnmarkDeep()
	b, err := convert.Convert(plain, cty.Bool)
	if err != nil || b.IsNull() {
		r.Errorf(expr.Range(), "Wrong type", "A condition is true or false; this is %s.", Describe(v))
		return cty.UnknownVal(cty.Bool)
	}
	return b
}

// givenValues reads values of variables from the environment, from -var-file and from -var. Later ones override
// earlier ones.
func (r *Reporter) givenValues(names []string, from Outside) map[string]*given {
	values := map[string]*given{}
	known := make(map[string]bool, len(names))
	for _, n := range names {
		known[n] = true
	}
	set := func(name string, at hcl.Range, g *given) {
		if known[name] {
			values[name] = g
			return
		}
		near := r.Nearest(name, func() []string { return names })
		r.Suggest(at, near, "Unknown variable", "The experiment has no variable %q.", name)
	}
	for _, name := range names {
		if text, ok := os.LookupEnv(secret.Environment + name); ok {
			values[name] = &given{at: hcl.Range{Filename: secret.Environment + name}, text: text}
		}
	}
	for _, path := range from.VarFiles {
		src, err := ReadSource(path)
		if err != nil {
			r.Add(experiments.ErrorAt(experiments.Range{File: path}, "Cannot read the file of variables", "%v.", err))
			continue
		}
		attrs := r.attributes(path, src)
		for _, a := range attrs {
			set(a.Name, a.NameRange, &given{at: a.Expr.Range(), expr: a.Expr})
		}
	}

	// To give diagnostics a source, all -var arguments form one text with a line for each. Sensitive values are left
	// out.
	cited := schema.Each(from.Vars, func(v string) string { return r.cited(v, known) })
	source := strings.Join(cited, "\n")
	if len(from.Vars) > 0 {
		r.Files[experiments.CommandLine] = &hcl.File{Bytes: []byte(source)}
	}
	offset := 0
	for i, v := range from.Vars {
		rangeAt := func(from, to int) hcl.Range {
			pos := func(n int) hcl.Pos { return hcl.Pos{Line: i + 1, Column: n + 1, Byte: offset + n} }
			return hcl.Range{Filename: experiments.CommandLine, Start: pos(from), End: pos(to)}
		}
		name, text, ok := strings.Cut(v, "=")
		v = cited[i]
		if r.sensitive[strings.TrimSpace(name)] && text == secret.Shown {
			offset += len(v) + 1
			continue // from the command line of the run that is resumed
		}
		if ok && strings.TrimSpace(name) != "" {
			set(strings.TrimSpace(name), rangeAt(0, len(name)), &given{at: rangeAt(len(name)+1, len(v)), text: text})
		} else {
			r.Errorf(rangeAt(0, len(v)), "Malformed -var", "A variable is set by name=value.")
		}
		offset += len(v) + 1
	}
	return values
}
