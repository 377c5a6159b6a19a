// Package language lets features add to the language of experiment files: blocks and arguments, within
// the blocks of the core or at the top of a file, and rules about whole cells. Package pipeline/decode reads files by it; it has
// the parts that all decoders share, such as finding and reading the files that an experiment names.
package language

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Decoder is a file that is being decoded, as features see it.
type Decoder struct {
	Finder
	// Root is the file, Global the scope of its expressions outside of the matrix.
	Root   *eval.Node
	Global *eval.Env
	// Lenient leaves out malformed lines of traces.
	Lenient bool
	Host    experiments.HostFacts
	// Blocks decodes the blocks of the core.
	Blocks Blocks

	kept map[any]any
}

// NewDecoder returns a decoder of the file at root; files has its folder.
func NewDecoder(files Finder, root *eval.Node, global *eval.Env) *Decoder {
	return &Decoder{Finder: files, Root: root, Global: global, kept: map[any]any{}}
}

// Blocks decodes the blocks of the core. Each method returns false when the block has an error, which is reported.
type Blocks interface {
	Job(*eval.Node, *eval.Env) (*experiment.Job, bool)
	Hardware(*eval.Node, *eval.Env) (*experiment.Hardware, bool)
	Policy(*eval.Node, *eval.Env) (*experiment.Policy, bool)
}

// Once returns the result of read for a key: read is called once for each file that is decoded. Blocks are decoded at
// each point of the matrix that they depend on, and use it to share data that they read from files.
func Once[K comparable, V any](d *Decoder, key K, read func() V) V {
	if v, ok := d.kept[key]; ok {
		return v.(V)
	}
	v := read()
	d.kept[key] = v
	return v
}

// Block is a block of a file that is being decoded.
type Block struct {
	// Args are its arguments, with the ones that features add, and its Node.
	*eval.Args
	Env *eval.Env
	// Nodes are the arguments of the node blocks of hardware.
	Nodes []*eval.Args
}

// The blocks of the core that features extend, with the type of their values. The name of a block within another
// names both.
const (
	File       = ""                // *experiment.Spec: the file
	Experiment = "experiment"      // *experiment.Spec
	Job        = "job"             // *experiment.Job
	Runtime    = "job.runtime"     // *experiment.Runtime
	Submit     = "workload.submit" // *experiment.Submit
	Workload   = "workload"        // *experiment.Workload
	Hardware   = "hardware"        // *experiment.Hardware
	Node       = "hardware.node"   // arguments alone; Hardware decodes them
	Policy     = "policy"          // *experiment.Policy
)

// Extension is the addition of a feature to the blocks of a name, whose values are of type T. Each field may be nil.
type Extension[T any] struct {
	// Blocks are the blocks that it adds within them, and Args the arguments. In lists, they are before the block or the
	// argument named Before; behind all where it is empty.
	Blocks func() []*schema.Block
	Args   func() []schema.Arg
	Before string
	// DecodeFirst decodes the values that other blocks or arguments depend on, before these. It is called for jobs (Job),
	// with their arguments and program, and for submit blocks (Submit).
	DecodeFirst func(*Decoder, Block, *T)
	// Decode decodes them into the value of the block around them, which has been decoded: see experiment.Parts.
	Decode func(*Decoder, Block, *T)
	// CheckCells checks the cells of the matrix before AfterCells, and may change them. It is called for files alone (File).
	CheckCells func(*Decoder, *T)
	// AfterCells decodes what depends on the cells of the matrix. It is called for files alone (File).
	AfterCells func(*Decoder, *T)
	// Spares lists the kinds of blocks of the matrix ("workload", "hardware", "policy") that a file does without because
	// of the blocks of the feature. It is for files alone (File).
	Spares func(file *eval.Node) []string
	// Instead is the name of one of Blocks that takes the place of the rest of a job: where a job has it, Decode alone
	// decodes the job, apart from its plain arguments.
	Instead string
	// Program is the name of one of Blocks that is the program of a job, in place of a command. DecodeProgram decodes it: the
	// job then has a stages.ProgramPart. It is called for jobs alone (Job), with their arguments.
	Program       string
	DecodeProgram func(*Decoder, Block, *T)
	// Beyond makes cells beyond the matrix. It is for files alone (File).
	Beyond Beyond
}

// extension is an Extension of any type.
type extension struct {
	name, of   string
	before     string
	blocks     func() []*schema.Block
	args       func() []schema.Arg
	first      func(d *Decoder, b Block, into any)
	decode     func(d *Decoder, b Block, into any)
	checkCells func(d *Decoder, into any)
	afterCells func(d *Decoder, into any)
	spares     func(file *eval.Node) []string
	instead    string
	beyond     Beyond

	program       string
	decodeProgram func(d *Decoder, b Block, into any)
}

var extensions []extension

// Extend adds to the blocks of a name; feature is its name in the order of extensions. It panics when the feature
// extends these blocks already.
func Extend[T any](feature, of string, x Extension[T]) {
	if slices.ContainsFunc(extensions, func(o extension) bool { return o.name == feature && o.of == of }) {
		panic(fmt.Sprintf("language: %s extends %q twice", feature, of))
	}
	one := extension{name: feature, of: of, before: x.Before, blocks: x.Blocks, args: x.Args, spares: x.Spares,
		instead: x.Instead, beyond: x.Beyond, program: x.Program}
	if x.DecodeProgram != nil {
		one.decodeProgram = func(d *Decoder, b Block, into any) { x.DecodeProgram(d, b, into.(*T)) }
	}
	if x.DecodeFirst != nil {
		one.first = func(d *Decoder, b Block, into any) { x.DecodeFirst(d, b, into.(*T)) }
	}
	if x.Decode != nil {
		one.decode = func(d *Decoder, b Block, into any) { x.Decode(d, b, into.(*T)) }
	}
	if x.CheckCells != nil {
		one.checkCells = func(d *Decoder, into any) { x.CheckCells(d, into.(*T)) }
	}
	if x.AfterCells != nil {
		one.afterCells = func(d *Decoder, into any) { x.AfterCells(d, into.(*T)) }
	}
	extensions = append(extensions, one)
	slices.SortStableFunc(extensions, func(a, b extension) int { return cmp.Compare(a.name, b.name) })
}

// of returns the extensions of the blocks of a name.
func of(name string) []extension {
	return schema.Where(extensions, func(x extension) bool { return x.of == name })
}

// Extended adds to a block of the core what features add to the blocks of its name, and returns it.
func Extended(name string, b *schema.Block) *schema.Block {
	for _, x := range of(name) {
		if x.blocks != nil {
			at := slices.IndexFunc(b.Blocks, func(in *schema.Block) bool { return in.Name == x.before })
			if at < 0 {
				at = len(b.Blocks)
			}
			b.Blocks = slices.Insert(b.Blocks, at, x.blocks()...)
		}
		if x.args != nil {
			at := slices.IndexFunc(b.Args, func(a schema.Arg) bool { return a.Name == x.before })
			if at < 0 {
				at = len(b.Args)
			}
			b.Args = slices.Insert(b.Args, at, x.args()...)
		}
	}
	return b
}

// DecodeFirst lets features decode the values that other blocks within a block of the core depend on.
func (d *Decoder) DecodeFirst(into any, name string, b Block) {
	for _, x := range of(name) {
		if x.first != nil {
			x.first(d, b, into)
		}
	}
}

// DecodeInto lets features decode their part of a block of the core, whose own part has been decoded into a value.
func (d *Decoder) DecodeInto(into any, name string, b Block) {
	for _, x := range of(name) {
		if x.decode != nil {
			x.decode(d, b, into)
		}
	}
}

// Instead returns the names of the blocks that take the place of the rest of a block of the core.
func Instead(name string) (names []string) {
	for _, x := range of(name) {
		if x.instead != "" {
			names = append(names, x.instead)
		}
	}
	return names
}

// DecodeInstead lets a feature decode a block of the core whose rest its own block takes the place of. It returns false
// where there is no such block.
func (d *Decoder) DecodeInstead(into any, name string, b Block) bool {
	for _, x := range of(name) {
		if x.instead != "" && b.Node.First(x.instead) != nil {
			x.decode(d, b, into)
			return true
		}
	}
	return false
}

// CheckCells lets features check the cells of the matrix.
func (d *Decoder) CheckCells(s *experiment.Spec) {
	for _, x := range of(File) {
		if x.checkCells != nil {
			x.checkCells(d, s)
		}
	}
}

// AfterCells lets features decode what depends on the cells.
func (d *Decoder) AfterCells(s *experiment.Spec) {
	for _, x := range of(File) {
		if x.afterCells != nil {
			x.afterCells(d, s)
		}
	}
}

// Spared lists the kinds of blocks of the matrix that a file does without.
func Spared(file *eval.Node) (kinds []string) {
	for _, x := range of(File) {
		if x.spares != nil {
			kinds = append(kinds, x.spares(file)...)
		}
	}
	return kinds
}

// Sole returns the block of a kind in the file, or one without arguments, which has the defaults.
func (d *Decoder) Sole(kind string) *eval.Node {
	if n := d.Root.First(kind); n != nil {
		return n
	}
	s := d.Root.Schema.Block(kind)
	return &eval.Node{Schema: s, Args: s.Args}
}

// Values evaluates a block of a feature and those within it, whose values need no Go type. given says that
// the file has the block.
func (d *Decoder) Values(n *eval.Node, e *eval.Env, given bool) schema.Settings {
	a := d.EvalArgs(n, e)
	v := schema.Settings{Name: n.Schema.Name, Label: n.Label, Given: given, Args: a.Values}
	for name, value := range v.Args {
		if ref, ok := value.(eval.Reference); ok {
			v.Args[name] = ref.Name
		}
	}
	for _, b := range n.Blocks {
		v.Blocks = append(v.Blocks, d.Values(b, e, true))
	}
	return v
}
