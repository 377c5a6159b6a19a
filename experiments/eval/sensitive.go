package eval

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/experiments/secret"
)

// mark is the type of the mark on sensitive values. Package cty copies marks to all values that are computed from
// marked ones.
type mark struct{}

// sensitiveSummary is the summary of errors about a sensitive value that would be shown.
const sensitiveSummary = "Sensitive value"

// Sensitive returns the names of the sensitive variables in alphabetical order.
func (r *Reporter) Sensitive() []string { return slices.Sorted(maps.Keys(r.sensitive)) }

// findSensitive stores the names of the variables whose block has sensitive = true.
func (r *Reporter) findSensitive(root *Node) {
	for _, n := range root.All("variable") {
		a := n.Attr("sensitive")
		if a == nil {
			continue
		}
		v := r.Eval(a.Expr, &Env{Ctx: &hcl.EvalContext{Variables: map[string]cty.Value{}, Functions: r.functions()}})
		b := r.truth(a.Expr, v)
		if b.IsKnown() && b.False() {
			continue
		}
		if r.sensitive == nil {
			r.sensitive = map[string]bool{}
		}
		r.sensitive[n.Label] = true // also if its value is wrong
	}
}

// sensitiveValue returns the value of a sensitive variable, with a mark. No error quotes the value.
func (r *Reporter) sensitiveValue(n *Node, g *given, t *varType, constants *Env) (v cty.Value, at hcl.Range) {
	before := len(r.List)
	v, at = r.ownValue(n, g, t, constants)
	if wrong := r.TakeBack(before); wrong.HasErrors() {
		r.Add(experiments.ErrorAt(wrong[0].Range, "Wrong value of a variable", "The variable %q is a %s, and its "+
			"value is not one, or has an error. The value is sensitive and not shown.", n.Label, t))
		return Unknown, at
	}
	if a := n.Attr("default"); a != nil && !r.mayShow(a.Expr, constants) {
		title := n.Title()
		d := experiments.ErrorAt(RangeOf(n.Header), "Default of a sensitive variable", "Results have a copy of the "+
			"experiment file, in which the default of %q could be read. Remove it, or let it be null or \"\"; a value comes "+
			"from -var, %s%s or -var-file.", n.Label, secret.Environment, n.Label)
		d.Snippet = &experiments.Snippet{Line: n.Header.Start.Line, Code: title, MarkEnd: len(title)}
		r.Add(d)
		return Unknown, at
	}
	return v.Mark(mark{}), at
}

// mayShow reports whether the default of a sensitive variable is null or empty, so that it reveals nothing.
func (r *Reporter) mayShow(expr hcl.Expression, constants *Env) bool {
	v := r.Eval(expr, constants)
	switch {
	case !v.IsKnown() || v.IsNull():
		return true
	case v.Type() == cty.String:
		return v.AsString() == ""
	}
	return v.CanIterateElements() && v.LengthInt() == 0
}

// isSensitive reports whether a value is computed from a sensitive variable.
func (r *Reporter) isSensitive(v cty.Value) bool { return len(r.sensitive) > 0 && v.ContainsMarked() }

func (r *Reporter) refuseSensitive(at hcl.Range) {
	r.Errorf(at, sensitiveSummary, "Results show what is set here, so it cannot be computed from a sensitive variable. "+
		"The arguments in a job's command and the values of its env can.")
}

// readsSensitive reports whether an expression uses a sensitive value.
func (r *Reporter) readsSensitive(expr hcl.Expression, e *Env) bool {
	return len(r.sensitive) > 0 && slices.ContainsFunc(expr.Variables(), func(t hcl.Traversal) bool {
		v, diags := t.TraverseAbs(e.Ctx)
		if diags.HasErrors() {
			v, _ = e.Lookup(t.RootName())
		}
		return v != cty.NilVal && v.ContainsMarked()
	})
}

// withoutDetails removes from diagnostics all details that may quote a value.
func withoutDetails(diags hcl.Diagnostics) hcl.Diagnostics {
	return schema.Each(diags, func(d *hcl.Diagnostic) *hcl.Diagnostic {
		return &hcl.Diagnostic{Severity: d.Severity, Subject: d.Subject, Summary: "Invalid expression",
			Detail: "The expression reads a sensitive value, so the reason is not shown."}
	})
}

// intoElements moves the mark from a list to its elements.
func intoElements(v cty.Value) cty.Value {
	v, marks := v.Unmark()
	if len(marks) == 0 || v.LengthInt() == 0 {
		return v
	}
	return cty.TupleVal(schema.Each(v.AsValueSlice(), func(e cty.Value) cty.Value { return e.WithMarks(marks) }))
}

// hidden converts a sensitive text to its token.
func (a *Args) hidden(arg *schema.Arg, at hcl.Range, v cty.Value) (any, bool) {
	v, _ = v.UnmarkDeep()
	s, err := convert.Convert(v, cty.String)
	if err != nil || s.IsNull() {
		return a.Wrong(at, "", "Wrong type", "%s must be a string; the sensitive value is not.", arg.Name)
	}
	if strings.ContainsRune(s.AsString(), 0) {
		return a.Wrong(at, "", "Control character", "%s has a NUL character, which no program and no file can take.", arg.Name)
	}
	text, err := secret.Hide(s.AsString())
	if err != nil {
		return a.Wrong(at, "", sensitiveSummary, "%v.", err)
	}
	return text, true
}

// attributes reads a file of variables, and returns its arguments in the order of the file. If the experiment has
// sensitive variables, no error quotes the file.
func (r *Reporter) attributes(path string, src []byte) []*hcl.Attribute {
	before := len(r.List)
	file := r.ParseFile(path, src)
	var attrs hcl.Attributes
	if file != nil {
		var diags hcl.Diagnostics
		attrs, diags = file.Body.JustAttributes()
		r.addHCL(diags, "")
	}
	if len(r.sensitive) > 0 {
		delete(r.Files, path)
		for _, d := range r.TakeBack(before) {
			r.Add(experiments.ErrorAt(d.Range, "Cannot read the file of variables",
				"The file has an error here. It may have sensitive values, so its text is not shown."))
		}
	}
	return sorted(attrs)
}

// cited returns a -var argument as diagnostics quote it. The value is left out if it is or may be sensitive.
func (r *Reporter) cited(v string, known map[string]bool) string {
	name, _, ok := strings.Cut(v, "=")
	bare := strings.TrimSpace(name)
	if len(r.sensitive) == 0 || known[bare] && !r.sensitive[bare] {
		return v
	}
	if !ok {
		return secret.Shown
	}
	return name + "=" + secret.Shown
}

// secretWords are words that occur in names of secrets.
var secretWords = []string{"token", "secret", "secrets", "password", "passwords", "passwd", "passphrase", "credential",
	"credentials", "apikey"}

// secretKeys are words that stand before "key" in names of secrets.
var secretKeys = []string{"api", "access", "account", "auth", "encryption", "private", "secret", "service", "signing", "ssh"}

// doubtSecret warns of a variable with the name of a secret that is not marked as sensitive.
func (r *Reporter) doubtSecret(n *Node, v cty.Value) {
	if v.Type() != cty.String || n.Attr("sensitive") != nil || !namesSecret(n.Label) {
		return
	}
	r.Warnf(n.Header, "Readable secret", "The variable %q is named like a secret, and results show its value. If it is "+
		"secret, set sensitive = true; otherwise set sensitive = false.", n.Label)
}

// namesSecret reports whether a name contains a word such as token, password or key. Words are separated by _ or -,
// or begin with a capital.
func namesSecret(name string) bool {
	var b strings.Builder
	before := ' '
	for _, c := range name {
		if unicode.IsUpper(c) && !unicode.IsUpper(before) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(c))
		before = c
	}
	words := strings.FieldsFunc(b.String(), func(c rune) bool { return c == '_' || c == '-' })
	for i, w := range words {
		if slices.Contains(secretWords, w) || w == "key" && (len(words) == 1 || i > 0 && slices.Contains(secretKeys, words[i-1])) {
			return true
		}
	}
	return false
}
