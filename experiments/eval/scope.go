package eval

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/schema"
)

// Kinds are the types of blocks that references can name, in the order of the language.
var Kinds = []string{"job", "workload", "hardware", "policy"}

// namespaces are the first words of references.
var namespaces = []string{"var", "local", "host", "each", "job", "workload", "hardware", "policy"}

// Env is the scope of an expression: the names that it can use.
type Env struct {
	Ctx *hcl.EvalContext
	// note lists the values of each.*; it is appended to errors in expressions that read them.
	note string
}

// Lookup returns the value of a name, and whether there is one.
func (e *Env) Lookup(name string) (cty.Value, bool) {
	for c := e.Ctx; c != nil; c = c.Parent() {
		if v, ok := c.Variables[name]; ok {
			return v, true
		}
	}
	return cty.NilVal, false
}

// Refers reports whether a value is a reference to an existing block of that kind. An object written by hand can look
// like a reference.
func (e *Env) Refers(v cty.Value, kind string) bool {
	if !v.Type().Equals(refType) || v.IsNull() || !v.IsWhollyKnown() {
		return false
	}
	for _, field := range []string{"kind", "name"} {
		if v.GetAttr(field).IsNull() {
			return false
		}
	}
	blocks, ok := e.Lookup(kind)
	name := v.GetAttr("name").AsString()
	return ok && v.GetAttr("kind").AsString() == kind && blocks.Type().IsObjectType() && blocks.Type().HasAttribute(name)
}

// With returns a copy of the environment with the values of each.* added.
func (e *Env) With(each map[string]cty.Value, note string) *Env {
	ctx := e.Ctx.NewChild()
	ctx.Variables = map[string]cty.Value{"each": cty.ObjectVal(each)}
	return &Env{Ctx: ctx, note: note}
}

// WithRow returns a copy of the environment with row.*, the columns of a table's row. Fields that are numbers become
// numbers.
func (e *Env) WithRow(head, fields []string) *Env {
	row := make(map[string]cty.Value, len(head))
	for i, name := range head {
		row[name] = cty.StringVal(fields[i])
		if v, err := cty.ParseNumberVal(strings.TrimSpace(fields[i])); err == nil && !Huge(v) {
			row[name] = v
		}
	}
	ctx := e.Ctx.NewChild()
	ctx.Variables = map[string]cty.Value{"row": cty.ObjectVal(row)}
	return &Env{Ctx: ctx, note: e.note}
}

// Note returns the values of each.* as text in brackets; "" if the environment has none.
func (e *Env) Note() string { return e.note }

// Unknown replaces a value that could not be evaluated. Expressions that use it are unknown too, so that one mistake
// gives one error.
var Unknown = cty.DynamicVal

// Eval evaluates an expression. It returns an unknown value after an error, and for a sensitive value; it reports
// both.
func (r *Reporter) Eval(expr hcl.Expression, e *Env) cty.Value {
	v, _ := r.evaluate(expr, e)
	if r.isSensitive(v) {
		r.refuseSensitive(expr.Range())
		return Unknown
	}
	return v
}

// evaluate evaluates an expression whose value may be sensitive. It returns false after an error.
func (r *Reporter) evaluate(expr hcl.Expression, e *Env) (cty.Value, bool) {
	note := ""
	for _, t := range expr.Variables() {
		if !r.checkReference(t, e) {
			return Unknown, false
		}
		if t.RootName() == "each" {
			note = e.note
		}
	}
	v, diags := r.effort.Value(expr, e.Ctx)
	if diags.HasErrors() {
		if r.readsSensitive(expr, e) {
			diags = withoutDetails(diags)
		}
		r.addHCL(diags, note)
		return Unknown, false
	}
	return v, true
}

// checkReference follows a reference as far as the values are known. It reports the first name that does not exist.
func (r *Reporter) checkReference(t hcl.Traversal, e *Env) bool {
	root := t.RootName()
	v, ok := e.Lookup(root)
	if !ok {
		r.unknownRoot(t, e)
		return false
	}
	if slices.Contains(namespaces, root) && len(t) == 1 {
		r.Errorf(t.SourceRange(), "Incomplete reference", "%s is not a value by itself: write %s.<name>.", root, root)
		return false
	}
	path := root
	for i, step := range t[1:] {
		name, ok := nameOf(step)
		at := step.SourceRange()
		var marks cty.ValueMarks
		v, marks = v.Unmark()
		switch {
		case !ok || !v.IsKnown() || v.IsNull():
			return true
		case v.Type().IsObjectType():
			if !v.Type().HasAttribute(name) && len(marks) > 0 {
				return true // the evaluation reports the error
			}
			if !v.Type().HasAttribute(name) {
				r.unknownAttribute(hcl.RangeBetween(t[0].SourceRange(), at), path, name, v, i == 0)
				return false
			}
			v = v.GetAttr(name).WithMarks(marks)
		case v.Type().IsMapType() && len(marks) == 0:
			key := cty.StringVal(name)
			if !v.HasIndex(key).True() {
				r.unknownAttribute(hcl.RangeBetween(t[0].SourceRange(), at), path, name, v, false)
				return false
			}
			v = v.Index(key)
		default:
			return true // the evaluation reports the error
		}
		path += "." + name
	}
	return true
}

func (r *Reporter) unknownRoot(t hcl.Traversal, e *Env) {
	root := t.RootName()
	switch {
	case root == "each":
		r.Errorf(t.SourceRange(), "each is not available here",
			"Only job, workload, hardware and policy blocks, and the condition of exclude, can read each.*. "+
				"In a baseline, write the axis without each, as in { gap = \"3m\" }.")
	case slices.Contains(namespaces, root):
		r.Errorf(t.SourceRange(), "Reference not available here", "%s.* cannot be read here.", root)
	case len(t) == 1:
		r.Suggest(t.SourceRange(), `"`+root+`"`, "Unknown reference",
			"A word without quotes is a reference, and nothing has the name %q. Text is written in quotes.", root)
	default:
		suggestion := schema.Nearest(root, namespaces)
		if _, ok := e.Lookup(suggestion); !ok {
			suggestion = ""
		}
		r.Suggest(t[0].SourceRange(), suggestion, "Unknown reference", "References begin with %s.",
			schema.OneOf(namespaces))
	}
}

// unknownAttribute reports that the value v of path has no attribute `name`. direct is set if path is a namespace.
func (r *Reporter) unknownAttribute(at hcl.Range, path, name string, v cty.Value, direct bool) {
	summary, detail := "Unknown attribute", fmt.Sprintf("%s has no attribute %q", path, name)
	if direct {
		what := path
		switch path {
		case "var":
			what = "variable"
		case "each":
			what = "axis"
		case "host":
			what = "fact of the host"
		}
		summary, detail = "Unknown reference", fmt.Sprintf("There is no %s %q", what, name)
	}
	if n := v.LengthInt(); n > 0 && n <= 12 {
		detail += "; known: " + strings.Join(objectKeys(v), ", ")
	}
	suggestion := ""
	if near := r.Nearest(name, func() []string { return objectKeys(v) }); near != "" {
		suggestion = path + "." + near
	}
	r.Suggest(at, suggestion, summary, "%s.", detail)
}

// objectKeys returns the names of an object's attributes in alphabetical order.
func objectKeys(v cty.Value) []string {
	var names []string
	for it := v.ElementIterator(); it.Next(); {
		k, _ := it.Element()
		names = append(names, k.AsString())
	}
	return names
}

// NamesRead returns the names x of all references root.x in a block, without repetitions, in the order of the block.
// all is true if an expression uses root as a whole, or an index that is not constant.
func NamesRead(n *Node, root string) (names []string, all bool) {
	n.expressions(func(expr hcl.Expression) {
		for _, t := range expr.Variables() {
			if t.RootName() != root {
				continue
			}
			if name := second(t); name != "" && !slices.Contains(names, name) {
				names = append(names, name)
			}
			all = all || len(t) < 2
		}
	})
	return names, all
}

// Globals evaluates variables and locals, and returns the scope of all blocks.
func (r *Reporter) Globals(root *Node, outside Outside) (*Env, []schema.Setting) {
	vars := map[string]cty.Value{
		"host": hostValue(outside.Host),
	}
	for _, kind := range Kinds {
		refs := map[string]cty.Value{}
		nameless := slices.Contains(root.meant, kind) // a block with a misspelled type is probably of this kind
		for _, n := range root.All(kind) {
			refs[n.Label] = RefValue(kind, n.Label)
			nameless = nameless || n.Label == ""
		}
		vars[kind] = cty.ObjectVal(refs)
		if nameless {
			vars[kind] = Unknown // a reference may name a block with an error
		}
	}
	values, settings := r.variables(root, outside)
	vars["var"] = cty.ObjectVal(values)
	e := &Env{Ctx: &hcl.EvalContext{Variables: vars, Functions: r.functions()}}
	r.locals(root, e)
	return e, settings
}

func hostValue(h experiments.HostFacts) cty.Value {
	facts := map[string]cty.Value{
		"threads":  cty.NumberIntVal(int64(h.Threads)),
		"cores":    cty.NumberIntVal(int64(h.Cores)),
		"memory":   cty.StringVal(schema.FormatSize(h.MemoryBytes)),
		"gpus":     cty.NumberIntVal(int64(h.GPUs)),
		"gpu_type": cty.StringVal(h.GPUType),
		"os":       cty.StringVal(h.OS),
		"arch":     cty.StringVal(h.Arch),
		"cpu":      cty.StringVal(h.CPUModel),
		"name":     cty.StringVal(h.Name),
	}
	documented := map[string]cty.Value{}
	for _, f := range schema.Facts {
		documented[f.Name] = facts[f.Name]
	}
	return cty.ObjectVal(documented)
}

// nameOf returns the name in a step of a reference: x of ".x" and of "["x"]".
func nameOf(step hcl.Traverser) (name string, ok bool) {
	switch step := step.(type) {
	case hcl.TraverseAttr:
		return step.Name, true
	case hcl.TraverseIndex:
		if step.Key.Type() == cty.String && step.Key.IsKnown() && !step.Key.IsNull() {
			return step.Key.AsString(), true
		}
	}
	return "", false
}

// second returns the second name of a reference, such as x of var.x. It returns "" if it is missing or not
// constant.
func second(t hcl.Traversal) (name string) {
	if len(t) > 1 {
		name, _ = nameOf(t[1])
	}
	return name
}

// locals evaluates the locals in the order of their dependencies.
func (r *Reporter) locals(root *Node, e *Env) {
	l := locals{r: r, e: e, byName: map[string]*hcl.Attribute{}, values: map[string]cty.Value{}, done: map[string]bool{}}
	var names []string
	for _, block := range root.All("locals") {
		for _, a := range block.Attrs {
			if first := l.byName[a.Name]; first != nil {
				r.Errorf(a.NameRange, "Duplicate name", "There is another local %q at line %d.", a.Name,
					first.NameRange.Start.Line)
				continue
			}
			l.byName[a.Name] = a
			names = append(names, a.Name)
			l.values[a.Name] = Unknown // until the local is evaluated
		}
	}
	for _, name := range names {
		l.visit(name)
	}
	e.Ctx.Variables["local"] = cty.ObjectVal(l.values)
}

// locals holds the locals of a file during their evaluation.
type locals struct {
	r      *Reporter
	e      *Env
	byName map[string]*hcl.Attribute
	values map[string]cty.Value
	done   map[string]bool // by name; false while the locals that it reads are evaluated
	path   []string        // names of the locals under evaluation; each reads the next
}

// mostOfCycle is the largest number of names shown of a cycle.
const mostOfCycle = 12

// visit evaluates a local, after all locals that it reads.
func (l *locals) visit(name string) {
	done, begun := l.done[name]
	if done {
		return
	}
	if begun {
		cycle := append(slices.Clone(l.path[slices.Index(l.path, name):]), name)
		if n := len(cycle); n > mostOfCycle {
			left := fmt.Sprintf("%s → … (%d more)", cycle[mostOfCycle/2], n-mostOfCycle-1)
			cycle = slices.Concat(cycle[:mostOfCycle/2], []string{left}, cycle[n-mostOfCycle/2:])
		}
		l.r.Errorf(l.byName[name].Range, "Cycle", "local.%s: the value of each depends on the next one.",
			strings.Join(cycle, " → local."))
		return
	}
	l.done[name] = false
	l.path = append(l.path, name)
	expr := l.byName[name].Expr
	seen := map[string]cty.Value{}
	for _, t := range expr.Variables() {
		if t.RootName() != "local" {
			continue
		}
		read := second(t)
		if l.byName[read] == nil { // the expression reads all locals, or a missing one
			if l.r.compared <= mostCompared {
				maps.Copy(seen, l.values)
			}
			continue
		}
		l.visit(read)
		seen[read] = l.values[read]
	}
	l.path = l.path[:len(l.path)-1]
	l.done[name] = true
	// The scope has only the locals that the expression reads, because making an object of all locals each time is
	// slow.
	l.e.Ctx.Variables["local"] = cty.ObjectVal(seen)
	l.values[name], _ = l.r.evaluate(expr, l.e)
}
