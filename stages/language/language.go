// Package language lets features extend the language of experiment files with blocks, arguments and rules about cells.
// Package pipeline/decode decodes files with these extensions. This package has the parts that all decoders share, such
// as finding the files that an experiment names.
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

// Decoder is a file that is being decoded, with the methods that features need.
type Decoder struct {
	Finder
	// Root is the file. Global is the scope of expressions that do not depend on the matrix.
	Root   *eval.Node
	Global *eval.Env
	// Lenient skips malformed lines of traces.
	Lenient bool
	Host    experiments.HostFacts
	// Blocks decodes the blocks of the core.
	Blocks Blocks

	kept map[any]any
}

// NewDecoder returns a decoder of the file whose content is root.
func NewDecoder(files Finder, root *eval.Node, global *eval.Env) *Decoder {
	return &Decoder{Finder: files, Root: root, Global: global, kept: map[any]any{}}
}

// Blocks decodes the blocks of the core. A method reports the errors of a block and then returns false.
type Blocks interface {
	Job(*eval.Node, *eval.Env) (*experiment.Job, bool)
	Hardware(*eval.Node, *eval.Env) (*experiment.Hardware, bool)
}

// Once returns the result of read for a key, and calls read only once for each key and decoded file. A block is decoded
// once for each combination of axis values that it reads; Once shares the data that it reads from files.
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
	// Args are its arguments, including those that features add, and its Node.
	*eval.Args
	Env *eval.Env
	// Nodes are the arguments of the node blocks in a hardware block.
	Nodes []*eval.Args
}

// Names of the core's blocks that features can extend, with the types of their values. The name of an inner block
// contains the name of the outer one.
const (
	File       = ""                // *experiment.Spec: the file
	Experiment = "experiment"      // *experiment.Spec
	Job        = "job"             // *experiment.Job
	Runtime    = "job.runtime"     // *experiment.Runtime
	Submit     = "workload.submit" // *experiment.Submit
	Workload   = "workload"        // *experiment.Workload
	Hardware   = "hardware"        // *experiment.Hardware
	Node       = "hardware.node"   // only arguments; Hardware decodes them
	Policy     = "policy"          // *experiment.Policy
)

// Extension extends the blocks of one name. T is the type of a block's value. Each field may be nil.
type Extension[T any] struct {
	// Blocks are blocks that can be inside the extended block, and Args are arguments. The reference lists them before
	// the block or argument named Before, or at the end if Before is empty.
	Blocks func() []*schema.Block
	Args   func() []schema.Arg
	Before string
	// DecodeFirst decodes values on which other blocks or arguments depend. It is called for jobs (Job), after their
	// arguments and program, and for submit blocks (Submit).
	DecodeFirst func(*Decoder, Block, *T)
	// Decode adds to the value of the extended block after the core has decoded the block: see experiment.Parts.
	Decode func(*Decoder, Block, *T)
	// CheckCells checks the cells of the matrix before AfterCells, and may change them. It is called only for files
	// (File).
	CheckCells func(*Decoder, *T)
	// AfterCells decodes values that depend on the cells of the matrix. It is called only for files (File).
	AfterCells func(*Decoder, *T)
	// Spares returns the kinds of matrix blocks ("workload", "hardware", "policy") that a file may omit because of the
	// feature's blocks. It is called only for files (File).
	Spares func(file *eval.Node) []string
	// Instead is the name of one of Blocks that replaces all other blocks of a job. If a job has this block, only
	// Decode decodes the job, besides its plain arguments.
	Instead string
	// Program is the name of one of Blocks that is the program of a job, instead of a command. DecodeProgram decodes
	// it, and gives the job a stages.ProgramPart. It is called only for jobs (Job), after their arguments.
	Program       string
	DecodeProgram func(*Decoder, Block, *T)
	// Beyond creates cells beyond the matrix. It is used only for files (File).
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

// Extend registers an extension of the blocks of one name. feature is its name, which determines the order of
// extensions. It panics if the feature extends these blocks already.
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

// of returns the extensions of the blocks of one name.
func of(name string) []extension {
	return schema.Where(extensions, func(x extension) bool { return x.of == name })
}

// Extended adds the extensions of features to the description of a core block, and returns it.
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

// DecodeFirst calls DecodeFirst of the extensions of a core block.
func (d *Decoder) DecodeFirst(into any, name string, b Block) {
	for _, x := range of(name) {
		if x.first != nil {
			x.first(d, b, into)
		}
	}
}

// DecodeInto calls Decode of the extensions of a core block, after the core has decoded the block.
func (d *Decoder) DecodeInto(into any, name string, b Block) {
	for _, x := range of(name) {
		if x.decode != nil {
			x.decode(d, b, into)
		}
	}
}

// Instead returns the names of the blocks that replace all other blocks of a core block.
func Instead(name string) (names []string) {
	for _, x := range of(name) {
		if x.instead != "" {
			names = append(names, x.instead)
		}
	}
	return names
}

// DecodeInstead lets a feature decode a core block that has the feature's block Instead. It returns false if the core
// block has no such block.
func (d *Decoder) DecodeInstead(into any, name string, b Block) bool {
	for _, x := range of(name) {
		if x.instead != "" && b.Node.First(x.instead) != nil {
			x.decode(d, b, into)
			return true
		}
	}
	return false
}

// CheckCells calls CheckCells of the extensions of files.
func (d *Decoder) CheckCells(s *experiment.Spec) {
	for _, x := range of(File) {
		if x.checkCells != nil {
			x.checkCells(d, s)
		}
	}
}

// AfterCells calls AfterCells of the extensions of files.
func (d *Decoder) AfterCells(s *experiment.Spec) {
	for _, x := range of(File) {
		if x.afterCells != nil {
			x.afterCells(d, s)
		}
	}
}

// Spared returns the kinds of matrix blocks that a file may omit.
func Spared(file *eval.Node) (kinds []string) {
	for _, x := range of(File) {
		if x.spares != nil {
			kinds = append(kinds, x.spares(file)...)
		}
	}
	return kinds
}

// Sole returns the only block of a kind in the file. If the file has none, it returns an empty block, which has the
// defaults.
func (d *Decoder) Sole(kind string) *eval.Node {
	if n := d.Root.First(kind); n != nil {
		return n
	}
	s := d.Root.Schema.Block(kind)
	return &eval.Node{Schema: s, Args: s.Args}
}

// Values evaluates a block of a feature and its inner blocks, whose values need no Go type.
func (d *Decoder) Values(n *eval.Node, e *eval.Env) schema.Settings {
	a := d.EvalArgs(n, e)
	v := schema.Settings{Name: n.Schema.Name, Label: n.Label, Args: a.Values}
	for name, value := range v.Args {
		if ref, ok := value.(eval.Reference); ok {
			v.Args[name] = ref.Name
		}
	}
	for _, b := range n.Blocks {
		v.Blocks = append(v.Blocks, d.Values(b, e))
	}
	return v
}
