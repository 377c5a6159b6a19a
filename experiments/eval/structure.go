package eval

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/tfexp/tfexp/experiments/schema"
)

// Node is a block of a file. Its names have been checked against the schema; its arguments are not evaluated yet.
type Node struct {
	Schema *schema.Block
	Args   []schema.Arg
	Label  string
	// Header is the place of the block's first line without the brace, and LabelAt the place of its label.
	Header  hcl.Range
	LabelAt hcl.Range
	// Attrs and Blocks are in the order of the file.
	Attrs  []*hcl.Attribute
	Blocks []*Node
	// meant are arguments that the file probably sets under a misspelled name. They are not reported as missing.
	meant []string
	// named is an index of the blocks by kind and label. It may lack blocks that were added last.
	named *index
	// Broken is set if the block itself has an error. Blocks that use it then report no further error.
	Broken bool
}

// Attr returns the argument of that name, or nil.
func (n *Node) Attr(name string) *hcl.Attribute {
	for _, a := range n.Attrs {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// All returns the nested blocks of a kind, in the order of the file.
func (n *Node) All(name string) []*Node {
	var found []*Node
	for _, b := range n.Blocks {
		if b.Schema.Name == name {
			found = append(found, b)
		}
	}
	return found
}

// First returns the first nested block of a kind, or nil.
func (n *Node) First(name string) *Node {
	for _, b := range n.Blocks {
		if b.Schema.Name == name {
			return b
		}
	}
	return nil
}

// Find returns the nested block with that kind and label, or nil.
func (n *Node) Find(name, label string) *Node {
	if len(n.Blocks) > fewBlocks {
		if n.named == nil {
			n.named = &index{first: map[[2]string]*Node{}}
		}
		return n.named.find(n.Blocks, name, label)
	}
	for _, b := range n.Blocks {
		if b.Schema.Name == name && b.Label == label {
			return b
		}
	}
	return nil
}

// fewBlocks is the largest number of blocks that Find searches without an index.
const fewBlocks = 32

// index is an index by kind and label of a list of blocks to which blocks are appended.
type index struct {
	first map[[2]string]*Node
	seen  int // number of blocks in the index
}

func (x *index) find(blocks []*Node, name, label string) *Node {
	for ; x.seen < len(blocks); x.seen++ {
		b := blocks[x.seen]
		if id := [2]string{b.Schema.Name, b.Label}; x.first[id] == nil {
			x.first[id] = b
		}
	}
	return x.first[[2]string{name, label}]
}

// Title returns the name of the block in messages, such as `policy "rr"`.
func (n *Node) Title() string {
	if n.Label == "" {
		return n.Schema.Name
	}
	return fmt.Sprintf("%s %q", n.Schema.Name, n.Label)
}

// expressions calls f for every expression in the block and in nested blocks.
func (n *Node) expressions(f func(hcl.Expression)) {
	for _, a := range n.Attrs {
		f(a.Expr)
	}
	for _, b := range n.Blocks {
		b.expressions(f)
	}
}

// structure reads a body according to its schema. It reports unknown names, and missing arguments and blocks that are
// required.
func (r *Reporter) structure(body hcl.Body, n *Node) {
	before := len(r.List)
	attrs, blocks := r.split(body, n)
	for _, a := range attrs {
		r.argument(a, n)
	}
	for _, b := range blocks {
		r.block(b, n)
	}
	r.missing(n)
	n.Broken = n.Broken || len(r.List) > before
}

// argument adds an argument to the block n, or reports that the schema lacks it.
func (r *Reporter) argument(a *hcl.Attribute, n *Node) {
	switch {
	case schema.Find(n.Args, a.Name) != nil:
	case n.Schema.Block(a.Name) != nil:
		r.Errorf(a.NameRange, "Block written as argument", "%s is a block here: write it without \"=\".", a.Name)
		return
	case n.Schema.Free != nil:
	default:
		if near := r.unknownName(a.NameRange, "argument", a.Name, n); near != "" {
			n.meant = append(n.meant, near)
		}
		return
	}
	n.Attrs = append(n.Attrs, a)
}

// block adds a block to its parent, or reports that the schema lacks it.
func (r *Reporter) block(b *hcl.Block, parent *Node) {
	if s := parent.Schema.Block(b.Type); s != nil {
		r.nested(b, s, parent)
		return
	}
	if schema.Find(parent.Args, b.Type) != nil {
		r.Errorf(b.TypeRange, "Argument written as block", "%s is an argument here: write %s = ….", b.Type, b.Type)
		parent.meant = append(parent.meant, b.Type)
		return
	}
	near := r.unknownName(b.TypeRange, "block", b.Type, parent)
	if s := parent.Schema.Block(near); s != nil { // references to the misspelled block are not reported too
		stand := &Node{Schema: s, Header: b.DefRange, LabelAt: b.DefRange, Broken: true}
		if len(b.Labels) > 0 {
			stand.Label = b.Labels[0]
		}
		parent.Blocks = append(parent.Blocks, stand)
	}
}

// missing reports required arguments and blocks that a block does not have.
func (r *Reporter) missing(n *Node) {
	for i := range n.Args {
		if a := &n.Args[i]; a.Required && n.Attr(a.Name) == nil && !slices.Contains(n.meant, a.Name) {
			r.Errorf(n.Header, "Missing argument", "%s needs the argument %q%s.", n.Title(), a.Name, forExample(a))
		}
	}
	for _, b := range n.Schema.Blocks {
		if !b.Required || n.First(b.Name) != nil || slices.Contains(n.meant, b.Name) {
			continue
		}
		what, need := "The file", "at least one "+b.Name+" block"
		if n.Schema.Name != "" {
			what = n.Title()
		}
		if b.Single {
			need = "an " + b.Name + " block" // experiment is the only required block with a vowel
		}
		r.Errorf(n.Header, "Missing block", "%s needs %s.", what, need)
	}
}

func forExample(a *schema.Arg) string {
	if a.Example == "" {
		return ""
	}
	return fmt.Sprintf(", for example %s = %s", a.Name, a.Example)
}

// maxName is the largest length of a name in bytes. Folders have names with a suffix, which every file system must
// accept.
const maxName = 100

// nested checks the label of a block and adds the block to its parent.
func (r *Reporter) nested(b *hcl.Block, s *schema.Block, parent *Node) {
	n := &Node{Schema: s, Header: b.DefRange, LabelAt: b.DefRange}
	if len(b.Labels) > 0 {
		n.Label, n.LabelAt = b.Labels[0], b.LabelRanges[0]
	}
	switch {
	case s.Label == "" && len(b.Labels) > 0:
		r.Errorf(b.LabelRanges[0], "Unexpected label", "%s takes no label.", s.Name)
	case s.Label != "" && len(b.Labels) == 0:
		r.Errorf(b.DefRange, "Missing label", "%s needs a label: %s \"…\" { … }.", s.Name, s.Name)
		n.Broken = true
		parent.Blocks = append(parent.Blocks, n)
		return
	case len(b.Labels) > 1:
		r.Errorf(b.LabelRanges[1], "Too many labels", "%s takes one label.", s.Name)
	case s.Labels != nil && !slices.Contains(s.Labels, n.Label):
		r.Suggest(n.LabelAt, schema.Nearest(n.Label, s.Labels), fmt.Sprintf("Unknown %s %q", s.Name, n.Label),
			"It is one of %s.", schema.OneOf(s.Labels))
		n.Broken = true
		parent.Blocks = append(parent.Blocks, n)
		return
	case s.Label != "" && s.Labels == nil && n.Label == "":
		r.Errorf(n.LabelAt, "Empty name", "%s needs a name.", s.Name)
	case s.Label != "" && s.Labels == nil && len(n.Label) > maxName:
		r.Errorf(n.LabelAt, "Name too long",
			"A name has at most %d bytes, because folders are named by it; this has %d.", maxName, len(n.Label))
	case s.Label != "" && s.Labels == nil && !hclsyntax.ValidIdentifier(n.Label):
		r.Errorf(n.LabelAt, "Invalid name", "A name has letters, digits, _ and -, and begins with a letter or _.")
	}
	if twin := parent.First(s.Name); s.Single && twin != nil {
		r.Errorf(n.Header, "Duplicate block", "Only one %s block is allowed; the first is at line %d.", s.Name,
			twin.Header.Start.Line)
		return
	}
	if twin := parent.Find(s.Name, n.Label); s.Unique && twin != nil {
		r.Errorf(n.Header, "Duplicate name", "There is another %s at line %d.", n.Title(), twin.Header.Start.Line)
		return
	}
	n.Args = s.ArgsFor(n.Label)
	r.structure(b.Body, n)
	parent.Blocks = append(parent.Blocks, n)
}

// mostNamed is the largest number of names of a block that an error about an unknown one lists.
const mostNamed = 16

// unknownName reports a name that the schema does not have, and returns the known name that was probably meant.
func (r *Reporter) unknownName(at hcl.Range, kind, name string, n *Node) string {
	where := "at the top of a file"
	if n.Schema.Name != "" {
		where = "in " + n.Title()
	}
	detail := fmt.Sprintf("There is no %s %q %s.", kind, name, where)
	known := append(schema.Names(n.Args), n.Schema.BlockNames()...)
	near := r.Nearest(name, func() []string { return known })
	if near == "" && len(known) > 0 && len(known) <= mostNamed {
		detail += fmt.Sprintf(" It has %s.", schema.Listed(known, "and"))
	}
	r.Suggest(at, near, "Unknown "+kind, "%s", detail)
	return near
}

// split returns the arguments and blocks of a body in HCL or JSON syntax, in the order of the file.
func (r *Reporter) split(body hcl.Body, n *Node) (attrs []*hcl.Attribute, blocks []*hcl.Block) {
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
		// In JSON, blocks and arguments look alike: only the schema distinguishes them.
		want := &hcl.BodySchema{}
		for _, b := range n.Schema.Blocks {
			header := hcl.BlockHeaderSchema{Type: b.Name}
			if b.Label != "" {
				header.LabelNames = []string{b.Label}
			}
			want.Blocks = append(want.Blocks, header)
		}
		content, remain, diags := body.PartialContent(want)
		n.meant = append(n.meant, nameless(diags)...)
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

// labelOf matches the HCL library's message about a block in JSON without a name, and captures the kind of block.
var labelOf = regexp.MustCompile(`^At least one object property is required, whose name represents the (\w+) block's `)

// nameless returns the kinds of JSON blocks without a name, with a message about them.
func nameless(diags hcl.Diagnostics) (kinds []string) {
	for _, h := range diags {
		if m := labelOf.FindStringSubmatch(h.Detail); m != nil {
			kinds = append(kinds, m[1])
			h.Summary = "Missing name"
			h.Detail = fmt.Sprintf("A block in JSON has its name as a key: {\"%s\": {\"my_%[1]s\": {…}}}.", m[1])
		}
	}
	return kinds
}

// sorted returns arguments in the order of the file.
func sorted(attrs hcl.Attributes) []*hcl.Attribute {
	list := slices.Collect(maps.Values(attrs))
	slices.SortFunc(list, func(a, b *hcl.Attribute) int {
		return cmp.Compare(a.NameRange.Start.Byte, b.NameRange.Start.Byte)
	})
	return list
}
