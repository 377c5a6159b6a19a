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

// Node is one block of a file with its names checked against the schema, its
// arguments not yet evaluated.
type Node struct {
	Schema *schema.Block
	Args   []schema.Arg
	Label  string
	// header is the block's first line without its brace; labelAt its label.
	Header  hcl.Range
	LabelAt hcl.Range
	// attrs and blocks are in the order of the file.
	Attrs  []*hcl.Attribute
	Blocks []*Node
	// meant are arguments that are there under a wrong name, it seems: they
	// need not be missed.
	meant []string
	// named finds the first block of each kind and label. It lacks the blocks that were added after it was built.
	named *index
	// broken is set when an error was found in the block itself, so that its
	// users need not report it as well.
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

// fewBlocks is the number of blocks up to which they are searched one by one.
const fewBlocks = 32

// index finds blocks by kind and label in a list that only grows.
type index struct {
	first map[[2]string]*Node
	seen  int // how many blocks are in it
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

// Title names the block in a sentence: `policy "rr"`.
func (n *Node) Title() string {
	if n.Label == "" {
		return n.Schema.Name
	}
	return fmt.Sprintf("%s %q", n.Schema.Name, n.Label)
}

// expressions calls f for every expression in the block and the blocks within.
func (n *Node) expressions(f func(hcl.Expression)) {
	for _, a := range n.Attrs {
		f(a.Expr)
	}
	for _, b := range n.Blocks {
		b.expressions(f)
	}
}

// structure reads a body by its schema, and reports every name that the schema
// lacks and every missing required argument or block.
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

// argument adds an argument to its block, if the schema has it.
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

// block adds a block to its parent, if the schema has it.
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
	if s := parent.Schema.Block(near); s != nil { // a reference to it is not an error as well
		stand := &Node{Schema: s, Header: b.DefRange, LabelAt: b.DefRange, Broken: true}
		if len(b.Labels) > 0 {
			stand.Label = b.Labels[0]
		}
		parent.Blocks = append(parent.Blocks, stand)
	}
}

// missing reports the required arguments and blocks that a block lacks.
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
			need = "an " + b.Name + " block" // experiment is the only one
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

// maxName bounds names, in bytes: a folder with the name and a suffix must be
// possible on every file system.
const maxName = 100

// nested adds a block to its parent.
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

// unknownName reports a name that the schema does not have, and returns the
// name that was probably meant.
func (r *Reporter) unknownName(at hcl.Range, kind, name string, n *Node) string {
	where := "at the top of a file"
	if n.Schema.Name != "" {
		where = "in " + n.Title()
	}
	detail := fmt.Sprintf("There is no %s %q %s.", kind, name, where)
	near := r.Nearest(name, func() []string { return append(schema.Names(n.Args), n.Schema.BlockNames()...) })
	r.Suggest(at, near, "Unknown "+kind, "%s", detail)
	return near
}

// split takes a body of either syntax apart, in the order of the file.
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
		// In JSON only the schema distinguishes blocks from arguments.
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

// labelOf finds the kind of block in the HCL library's message about a block in JSON that has no name.
var labelOf = regexp.MustCompile(`^At least one object property is required, whose name represents the (\w+) block's `)

// nameless returns the kinds of the blocks in JSON that have no name, and a message about it.
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

// sorted returns attributes in the order of the file.
func sorted(attrs hcl.Attributes) []*hcl.Attribute {
	list := slices.Collect(maps.Values(attrs))
	slices.SortFunc(list, func(a, b *hcl.Attribute) int {
		return cmp.Compare(a.NameRange.Start.Byte, b.NameRange.Start.Byte)
	})
	return list
}
