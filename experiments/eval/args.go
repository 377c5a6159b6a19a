package eval

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/tfexp/tfexp/experiments/schema"
)

// Reference is the value of an argument that refers to a block.
type Reference struct {
	Name string
	At   hcl.Range
}

// Target is the name of the block, for schema.Fill.
func (r Reference) Target() string { return r.Name }

// Estimates is the value of a policy's argument `estimates`.
type Estimates struct {
	Name  string
	Sigma float64
}

// Args are the evaluated arguments of one block. Their Go types by type in the schema:
//
//	String string, Integer int, Number float64, Share float64, Bool bool,
//	Duration time.Duration, Size int64, Strings []string, Integers []int,
//	StringMap and Baseline []Setting, JobMap []jobName, Threads Threads, Gap workload.Arrivals,
//	Instants []time.Duration, Estimates estimates, ThreadTimes []threadTime,
//	SpeedUp workload.SpeedUp, Rates []GPURate, Life and Price Model, references reference
type Args struct {
	r    *Reporter
	Node *Node
	e    *Env
	// Values are the values by name of the argument, including defaults. set has the arguments that the file sets,
	// even to a wrong value. maybe has arguments whose value is unknown: it may be null, as if the argument were not
	// set.
	Values map[string]any
	set    map[string]hcl.Range
	maybe  map[string]bool
	// OK is false if an argument has an error or an unknown value.
	OK bool
	// wrong are the arguments whose value itself is an error.
	wrong []string
}

// EvalArgs evaluates the arguments of a block that its schema has.
func (r *Reporter) EvalArgs(n *Node, e *Env) *Args {
	a := &Args{
		r: r, Node: n, e: e, OK: !n.Broken,
		Values: map[string]any{}, set: map[string]hcl.Range{}, maybe: map[string]bool{},
	}
	for _, name := range n.meant {
		a.maybe[name] = true
	}
	for i := range n.Args {
		arg := &n.Args[i]
		if attr := n.Attr(arg.Name); attr != nil {
			v, good := r.evaluate(attr.Expr, e)
			if !arg.Sensitive && r.isSensitive(v) {
				r.refuseSensitive(attr.Expr.Range())
				v, good = Unknown, false
			}
			if !good {
				a.wrong = append(a.wrong, arg.Name)
			}
			if !v.IsKnown() {
				a.maybe[arg.Name], a.OK = true, false
				continue
			}
			if !v.IsNull() { // null means that the argument is not set
				a.set[arg.Name] = attr.Range
				if value, ok := a.convert(arg, attr.Expr, v); ok {
					a.Values[arg.Name] = value
				} else {
					a.OK, a.wrong = false, append(a.wrong, arg.Name)
				}
				continue
			}
			if arg.Required {
				a.OK = false
				r.Errorf(attr.Expr.Range(), "Missing argument", "%s needs the argument %q, but its value is null.",
					n.Title(), arg.Name)
			}
		}
		if arg.Default != "" && !a.maybe[arg.Name] {
			a.Values[arg.Name] = defaultOf(arg)
		}
	}
	return a
}

// Decode evaluates the arguments of a block into the fields of the struct `into`. It reports an argument that needs
// another one which is not set.
func (r *Reporter) Decode(n *Node, e *Env, into any) *Args {
	a := r.EvalArgs(n, e)
	a.Fill(into)
	return a
}

// Fill sets the fields of a struct to the values of the arguments.
func (a *Args) Fill(into any) {
	schema.Fill(into, a.Values)
	for _, f := range schema.Fields(reflect.TypeOf(into).Elem()) {
		if f.Needs != "" && a.Lacks(f.Needs) {
			a.Unread("{} belongs to "+f.Needs+", which is not set.", f.Name)
		}
	}
}

// Get returns an argument's value, or the zero value if it has none.
func Get[T any](a *Args, name string) T {
	v, _ := a.Values[name].(T)
	return v
}

// IsSet reports whether the file sets the argument, even to a wrong value.
func (a *Args) IsSet(name string) bool {
	_, ok := a.set[name]
	return ok
}

// Lacks reports whether it is certain that the file does not set the argument.
func (a *Args) Lacks(name string) bool { return !a.IsSet(name) && !a.maybe[name] }

// Has reports whether the argument has a value.
func (a *Args) Has(name string) bool {
	_, ok := a.Values[name]
	return ok
}

// At returns the place where the argument is set, or else the block's header.
func (a *Args) At(name string) hcl.Range {
	if rng, ok := a.set[name]; ok {
		return rng
	}
	return a.Node.Header
}

// Fail reports an error in this block.
func (a *Args) Fail(at hcl.Range, summary, detail string, values ...any) {
	a.OK = false
	a.r.Errorf(at, summary, detail, values...)
}

// Unread reports the named arguments that the file sets although nothing reads them. In the detail, {} is replaced by
// the name.
func (a *Args) Unread(detail string, names ...string) {
	a.refuse("Unused argument", detail, names)
}

// Excludes reports the named arguments that the file sets although they contradict others. In the detail, {} is
// replaced by the name.
func (a *Args) Excludes(detail string, names ...string) {
	a.refuse("Contradicting arguments", detail, names)
}

// refuse reports the arguments in names that are set, except those that have an error already.
func (a *Args) refuse(summary, detail string, names []string) {
	for _, name := range names {
		if !a.IsSet(name) {
			continue
		}
		a.OK = false
		if !a.IsWrong(name) {
			a.r.Errorf(a.At(name), summary, "%s", strings.ReplaceAll(detail, "{}", name))
		}
	}
}

// IsWrong reports whether the argument's value itself is an error. Conflicts with such an argument are not reported.
func (a *Args) IsWrong(name string) bool { return slices.Contains(a.wrong, name) }

// defaults caches the values of arguments that are not set. They depend only on the type and the text of the default.
var defaults sync.Map // defaultKey → value

type defaultKey struct {
	of   schema.Type
	text string
}

// defaultOf returns the default of an argument, or nil if it has none.
func defaultOf(arg *schema.Arg) any {
	if arg.Default == "" {
		return nil
	}
	key := defaultKey{arg.Type, arg.Default}
	if value, ok := defaults.Load(key); ok {
		return value
	}
	r := NewReporter()
	a := &Args{r: r, Node: &Node{Schema: &schema.Block{Name: "default"}}, OK: true}
	expr, diags := hclsyntax.ParseExpression([]byte(arg.Default), "default", hcl.InitialPos)
	r.addHCL(diags, "")
	v := r.Eval(expr, &Env{Ctx: &hcl.EvalContext{Functions: r.functions()}})
	value, ok := a.convert(arg, expr, v)
	if !ok {
		panic(fmt.Sprintf("default of %s: %v", arg.Name, r.List))
	}
	defaults.Store(key, value)
	return value
}

// Wrong reports a wrong value of the argument. It returns nil and false, so that converters can return its result.
func (a *Args) Wrong(at hcl.Range, suggestion, summary, detail string, values ...any) (any, bool) {
	if a.e != nil {
		detail += strings.ReplaceAll(a.noteFor(at), "%", "%%")
	}
	a.OK = false
	a.r.Suggest(at, suggestion, summary, detail, values...)
	return nil, false
}

// noteFor returns the values of each.* as a note for messages, if the argument at that place reads them.
func (a *Args) noteFor(at hcl.Range) string {
	for _, attr := range a.Node.Attrs {
		if !attr.Range.Overlaps(at) {
			continue
		}
		for _, t := range attr.Expr.Variables() {
			if t.RootName() == "each" {
				return a.e.note
			}
		}
	}
	return ""
}
