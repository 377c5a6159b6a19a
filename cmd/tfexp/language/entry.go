package language

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/pipeline/decode"
)

// entry is a named part of the language. Exactly one of its pointers is set.
type entry struct {
	path     string // such as job.runtime.epoch
	block    *schema.Block
	label    *schema.Labelled // a label that has arguments
	argument *schema.Arg
	function *schema.Func
	fact     *schema.Fact
}

// entries returns all entries in the order of the reference. A block that several blocks can contain has several
// entries.
func entries() (all []entry) {
	for _, b := range decode.Language().Blocks {
		all = appendBlock(all, b, "")
	}
	for i := range schema.Functions {
		all = append(all, entry{path: schema.Functions[i].Name, function: &schema.Functions[i]})
	}
	for i := range schema.Facts {
		all = append(all, entry{path: "host." + schema.Facts[i].Name, fact: &schema.Facts[i]})
	}
	return all
}

func appendBlock(all []entry, b *schema.Block, above string) []entry {
	path := above + b.Name
	all = append(all, entry{path: path, block: b})
	all = appendArguments(all, argumentsOf(b), path)
	for i := range b.ByLabel {
		l := &b.ByLabel[i]
		all = append(all, entry{path: path + "." + l.Label, label: l})
		all = appendArguments(all, l.Args, path+"."+l.Label)
	}
	for _, inner := range b.Blocks {
		all = appendBlock(all, inner, path+".")
	}
	return all
}

func appendArguments(all []entry, args []schema.Arg, path string) []entry {
	for i := range args {
		at := path + "." + args[i].Name
		all = append(all, entry{path: at, argument: &args[i]})
		all = appendArguments(all, args[i].Keys, at)
	}
	return all
}

// argumentsOf returns the arguments of a block, including the one with a free name.
func argumentsOf(b *schema.Block) []schema.Arg {
	if b.Free == nil {
		return b.Args
	}
	return append(b.Args[:len(b.Args):len(b.Args)], *b.Free)
}

// equals reports whether two entries are the same part of the language at different paths.
func (e entry) equals(other entry) bool { e.path = other.path; return e == other }

// doc returns the documentation of the entry.
func (e entry) doc() string {
	switch {
	case e.block != nil:
		return e.block.Doc
	case e.label != nil:
		return e.label.Doc
	case e.argument != nil:
		return e.argument.Doc
	case e.function != nil:
		return e.function.Doc
	}
	return e.fact.Doc
}

// write writes everything about the entry.
func (e entry) write(w io.Writer) {
	fmt.Fprintf(w, "%s\n\n", e.title())
	if e.block != nil && e.block.Label != "" {
		fmt.Fprintf(w, "The label is the %s.\n\n", e.block.Label)
	}
	fmt.Fprintln(w, e.doc())
	switch {
	case e.block != nil:
		writeExample(w, e.block.Example)
		listArguments(w, e.path, argumentsOf(e.block))
		var inner []entry
		for i := range e.block.ByLabel {
			l := &e.block.ByLabel[i]
			inner = append(inner, entry{path: e.path + "." + l.Label, label: l})
		}
		for _, b := range e.block.Blocks {
			inner = append(inner, entry{path: e.path + "." + b.Name, block: b})
		}
		if len(inner) > 0 {
			fmt.Fprint(w, "\nBlocks:\n")
			listEntries(w, inner)
		}
	case e.label != nil:
		listArguments(w, e.path, e.label.Args)
	case e.argument != nil:
		e.writeArgument(w)
	}
}

// title returns the first line of the text about the entry.
func (e entry) title() string {
	switch {
	case e.block != nil:
		if e.block.Single {
			return e.path + ": a block, at most one"
		}
		return e.path + ": a block"
	case e.label != nil:
		return e.path + ": a kind of block"
	case e.argument != nil:
		return fmt.Sprintf("%s: %s", e.path, e.argument.Type)
	case e.function != nil:
		return e.function.Signature + ": a function"
	}
	return fmt.Sprintf("%s: %s, a fact of the host", e.path, e.fact.Type)
}

// writeArgument writes the details of an argument that follow its documentation.
func (e entry) writeArgument(w io.Writer) {
	a := e.argument
	if a.Meanings != "" && a.Meanings != a.Doc {
		fmt.Fprintf(w, "\n%s\n", strings.TrimSpace(a.Meanings))
	} else if len(a.Allowed) > 0 {
		fmt.Fprintf(w, "\nOne of: %s.\n", strings.Join(a.Allowed, ", "))
	}
	var limits []string
	if a.Positive {
		limits = append(limits, "above zero")
	}
	if a.Min != nil {
		limits = append(limits, fmt.Sprintf("at least %v", *a.Min))
	}
	if a.Max != nil {
		limits = append(limits, fmt.Sprintf("at most %v", *a.Max))
	}
	if len(limits) > 0 {
		fmt.Fprintf(w, "\nBounds: %s.\n", strings.Join(limits, ", "))
	}
	if a.Needs != "" {
		fmt.Fprintf(w, "\nIt is read only with %s.\n", a.Needs)
	}
	switch {
	case a.Required:
		fmt.Fprint(w, "\nRequired.\n")
	case a.Default+a.DefaultDoc != "":
		fmt.Fprintf(w, "\nDefault: %s.\n", cmp.Or(a.DefaultDoc, a.Default))
	}
	if a.Example != "" {
		writeExample(w, a.Name+" = "+a.Example)
	}
	if len(a.Keys) > 0 {
		fmt.Fprint(w, "\nKeys of the object:\n")
		listEntries(w, appendArguments(nil, a.Keys, e.path))
	}
}

func writeExample(w io.Writer, example string) {
	if example == "" {
		return
	}
	fmt.Fprint(w, "\nExample:\n\n")
	for line := range strings.Lines(example + "\n") {
		fmt.Fprint(w, strings.TrimRight("  "+line, " \n")+"\n")
	}
}

// listArguments writes one line for each argument of a block.
func listArguments(w io.Writer, path string, args []schema.Arg) {
	if len(args) == 0 {
		return
	}
	fmt.Fprint(w, "\nArguments:\n")
	list := make([]entry, len(args))
	for i := range args {
		list[i] = entry{path: path + "." + args[i].Name, argument: &args[i]}
	}
	listEntries(w, list)
}
