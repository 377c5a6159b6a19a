package experiments

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/tfexp/tfexp/experiments/schema"
)

// node is one block of a file with its names checked against the schema, its
// arguments not yet evaluated.
type node struct {
	schema *schema.Block
	args   []schema.Arg
	label  string
	// header is the block's first line without its brace; labelAt its label.
	header  hcl.Range
	labelAt hcl.Range
	// attrs and blocks are in the order of the file.
	attrs  []*hcl.Attribute
	blocks []*node
	// meant are arguments that are there under a wrong name, it seems: they
	// need not be missed.
	meant []string
	// broken is set when an error was found in the block itself, so that what
	// uses it need not complain as well.
	broken bool
}

// attr returns the argument of that name, or nil.
func (n *node) attr(name string) *hcl.Attribute {
	for _, a := range n.attrs {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// all returns the nested blocks of a kind, in the order of the file.
func (n *node) all(name string) []*node {
	var found []*node
	for _, b := range n.blocks {
		if b.schema.Name == name {
			found = append(found, b)
		}
	}
	return found
}

// first returns the first nested block of a kind, or nil.
func (n *node) first(name string) *node {
	if found := n.all(name); len(found) > 0 {
		return found[0]
	}
	return nil
}

// find returns the nested block with that kind and label, or nil.
func (n *node) find(name, label string) *node {
	for _, b := range n.all(name) {
		if b.label == label {
			return b
		}
	}
	return nil
}

// title names the block in a sentence: `policy "rr"`.
func (n *node) title() string {
	if n.label == "" {
		return n.schema.Name
	}
	return fmt.Sprintf("%s %q", n.schema.Name, n.label)
}

// expressions calls f for every expression in the block and those within.
func (n *node) expressions(f func(hcl.Expression)) {
	for _, a := range n.attrs {
		f(a.Expr)
	}
	for _, b := range n.blocks {
		b.expressions(f)
	}
}

// structure reads a body by its schema, and reports every name that the
// schema does not have and everything required that is not there.
func (r *reporter) structure(body hcl.Body, n *node) {
	before := len(r.list)
	attrs, blocks := r.split(body, n.schema)

	for _, a := range attrs {
		switch known := schema.Find(n.args, a.Name); {
		case known != nil:
		case n.schema.Block(a.Name) != nil:
			r.errorf(a.NameRange, "Block written as argument", "%s is a block here: write it without \"=\".", a.Name)
			continue
		case n.schema.Free != nil:
		default:
			if near := r.unknownName(a.NameRange, "argument", a.Name, n); near != "" {
				n.meant = append(n.meant, near)
			}
			continue
		}
		n.attrs = append(n.attrs, a)
	}
	for _, b := range blocks {
		inner := n.schema.Block(b.Type)
		switch {
		case inner != nil:
		case schema.Find(n.args, b.Type) != nil:
			r.errorf(b.TypeRange, "Argument written as block", "%s is an argument here: write %s = ….", b.Type, b.Type)
			n.meant = append(n.meant, b.Type)
			continue
		default:
			near := r.unknownName(b.TypeRange, "block", b.Type, n)
			if inner = n.schema.Block(near); inner == nil {
				continue
			}
			stand := &node{schema: inner, header: b.DefRange, labelAt: b.DefRange, broken: true}
			if len(b.Labels) > 0 {
				stand.label = b.Labels[0]
			}
			n.blocks = append(n.blocks, stand) // so that references to it are no errors too
			continue
		}
		r.nested(b, inner, n)
	}

	for i := range n.args {
		if a := &n.args[i]; a.Required && n.attr(a.Name) == nil && !slices.Contains(n.meant, a.Name) {
			r.errorf(n.header, "Missing argument", "%s needs the argument %q%s.", n.title(), a.Name, forExample(a))
		}
	}
	for _, b := range n.schema.Blocks {
		if !b.Required || n.first(b.Name) != nil {
			continue
		}
		what, need := "The file", "at least one "+b.Name+" block"
		if n.schema.Name != "" {
			what = n.title()
		}
		if b.Single {
			need = "an " + b.Name + " block" // experiment is the only one
		}
		r.errorf(n.header, "Missing block", "%s needs %s.", what, need)
	}
	n.broken = n.broken || len(r.list) > before
}

func forExample(a *schema.Arg) string {
	if a.Example == "" {
		return ""
	}
	return fmt.Sprintf(", for example %s = %s", a.Name, a.Example)
}

// maxName bounds names, in bytes: folders that carry them shall be possible
// everywhere, with what is put behind.
const maxName = 100

// nested adds a block to its parent.
func (r *reporter) nested(b *hcl.Block, s *schema.Block, parent *node) {
	n := &node{schema: s, header: b.DefRange, labelAt: b.DefRange}
	if len(b.Labels) > 0 {
		n.label, n.labelAt = b.Labels[0], b.LabelRanges[0]
	}
	switch {
	case s.Label == "" && len(b.Labels) > 0:
		r.errorf(b.LabelRanges[0], "Label where none belongs", "%s takes no label.", s.Name)
	case s.Label != "" && len(b.Labels) == 0:
		r.errorf(b.DefRange, "Missing label", "%s needs a label: %s \"…\" { … }.", s.Name, s.Name)
		n.broken = true
		parent.blocks = append(parent.blocks, n)
		return
	case len(b.Labels) > 1:
		r.errorf(b.LabelRanges[1], "Too many labels", "%s takes one label.", s.Name)
	case s.Labels != nil && !slices.Contains(s.Labels, n.label):
		r.suggest(n.labelAt, nearest(n.label, s.Labels), fmt.Sprintf("Unknown %s %q", s.Name, n.label), "It is one of %s.", oneOf(s.Labels))
		n.broken = true
		parent.blocks = append(parent.blocks, n)
		return
	case s.Label != "" && s.Labels == nil && n.label == "":
		r.errorf(n.labelAt, "Empty name", "%s needs a name.", s.Name)
	case s.Label != "" && s.Labels == nil && len(n.label) > maxName:
		r.errorf(n.labelAt, "Name too long", "A name has at most %d bytes, because folders are named by it; this has %d.", maxName, len(n.label))
	case s.Label != "" && s.Labels == nil && !hclsyntax.ValidIdentifier(n.label):
		r.errorf(n.labelAt, "Invalid name", "A name has letters, digits, _ and -, and begins with a letter or _.")
	}
	if twin := parent.first(s.Name); s.Single && twin != nil {
		r.errorf(n.header, "Duplicate block", "There can be one %s block only; the first is at line %d.", s.Name, twin.header.Start.Line)
		return
	}
	if twin := parent.find(s.Name, n.label); s.Unique && twin != nil {
		r.errorf(n.header, "Duplicate name", "There is another %s at line %d.", n.title(), twin.header.Start.Line)
		return
	}
	n.args = s.ArgsFor(n.label)
	r.structure(b.Body, n)
	parent.blocks = append(parent.blocks, n)
}

// unknownName reports a name that the schema does not have, and returns the
// one that was probably meant.
func (r *reporter) unknownName(at hcl.Range, kind, name string, n *node) string {
	candidates := append(schema.Names(n.args), n.schema.BlockNames()...)
	where := "at the top of a file"
	if n.schema.Name != "" {
		where = "in " + n.title()
	}
	detail := fmt.Sprintf("There is no %s %q %s.", kind, name, where)
	near := nearest(name, candidates)
	r.suggest(at, near, "Unknown "+kind, "%s", detail)
	return near
}

// split takes a body of either syntax apart, in the order of the file.
func (r *reporter) split(body hcl.Body, s *schema.Block) (attrs []*hcl.Attribute, blocks []*hcl.Block) {
	if native, ok := body.(*hclsyntax.Body); ok {
		all := make(hcl.Attributes, len(native.Attributes))
		for name, a := range native.Attributes {
			all[name] = a.AsHCLAttribute()
		}
		attrs = sorted(all)
		for _, b := range native.Blocks {
			blocks = append(blocks, b.AsHCLBlock())
		}
	} else {
		// In JSON only the schema tells blocks from arguments.
		want := &hcl.BodySchema{}
		for _, b := range s.Blocks {
			header := hcl.BlockHeaderSchema{Type: b.Name}
			if b.Label != "" {
				header.LabelNames = []string{b.Label}
			}
			want.Blocks = append(want.Blocks, header)
		}
		content, remain, diags := body.PartialContent(want)
		r.addHCL(diags, "")
		rest, diags := remain.JustAttributes()
		r.addHCL(diags, "")
		attrs = sorted(rest)
		if content != nil {
			blocks = content.Blocks
		}
	}
	return attrs, blocks
}

// sorted returns attributes in the order of the file.
func sorted(attrs hcl.Attributes) []*hcl.Attribute {
	list := slices.Collect(maps.Values(attrs))
	slices.SortFunc(list, func(a, b *hcl.Attribute) int {
		return cmp.Compare(a.NameRange.Start.Byte, b.NameRange.Start.Byte)
	})
	return list
}
