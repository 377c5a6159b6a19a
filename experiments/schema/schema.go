// Package schema has the types that describe the experiment language: blocks and arguments with their meaning, and
// units. It also has words that messages share. It imports no other package of tfexp, so that any extension (an
// engine, a policy, a metric) can describe its own arguments.
//
// The arguments of a block fill the fields of a struct. The tags and comments of the fields declare the arguments:
// see Field and Of.
package schema

import (
	"slices"
	"strings"
	"time"
)

// Block describes a kind of block, or the file as a whole.
type Block struct {
	// Name is the type of the block, its first word; "" for the file as a whole.
	Name string
	// Label describes the block's label; "" if the block has none.
	Label string
	// Labels are the allowed labels; nil allows every identifier.
	Labels []string
	// Offered are labels that editors and the JSON schema suggest, for a block whose labels are checked when it is
	// decoded.
	Offered []string
	Doc     string
	// Example is a piece of HCL, which the tests load.
	Example string
	// Unique is set if the labels of blocks in the same parent must differ.
	Unique bool
	// Single is set if the block may occur only once in its parent.
	Single bool
	// Required is set if the block must occur in its parent.
	Required bool
	Args     []Arg
	Blocks   []*Block
	// ByLabel has the arguments that depend on the block's label.
	ByLabel []Labelled
	// Free describes arguments with names that the user chooses; nil allows none.
	Free *Arg
}

// Labelled has the arguments and blocks that a block accepts with a certain label.
type Labelled struct {
	Label string
	Doc   string
	Args  []Arg
}

// Arg describes an argument of a block, or a key of an object.
type Arg struct {
	Name     string
	Type     Type
	Required bool
	// Default is the default value as an HCL expression; "" if the argument has no default.
	Default string
	// DefaultDoc describes a default that is not a constant.
	DefaultDoc string
	Doc        string
	// Example is an HCL expression.
	Example string
	// Allowed are the allowed values of a String; nil allows any.
	Allowed []string
	// Meanings describes each of the Allowed values in a list, if Doc does not.
	Meanings string
	// Min and Max are inclusive bounds of a number, or of each number in a list; nil means no bound.
	Min, Max *float64
	// Positive is set if a duration or a size must be above zero.
	Positive bool
	// Least is the smallest duration above zero that is allowed; 0 means no limit.
	Least time.Duration
	// MayBeEmpty is set if a list may have no elements.
	MayBeEmpty bool
	// Sensitive is set if values may be sensitive: they are given only to jobs, and results do not show them.
	Sensitive bool
	// Needs names an argument without which this one has no effect.
	Needs string
	// Keys are the keys of the object form of a Threads value.
	Keys []Arg
}

// Type is the type of an argument, in words for the user.
type Type string

// Types of arguments.
const (
	String    Type = "string"
	Integer   Type = "integer"
	Number    Type = "number"
	Bool      Type = "bool"
	Duration  Type = "duration"
	Size      Type = "size"
	Strings   Type = "list of strings"
	Integers  Type = "list of integers"
	StringMap Type = "map of strings"
	Any       Type = "any"
	Values    Type = "list of values"
	// Baseline is the type of the baseline of comparisons.
	Baseline  Type = "reference, or map of values by axis"
	Condition Type = "condition"
	// OfRow is the type of an expression that can use the columns of a table's row, as row.<column>.
	OfRow     Type = "expression over row"
	TypeName  Type = "type"
	Threads   Type = "integer or object"
	Gap       Type = "duration, exponential(…) or normal(…)"
	Instants  Type = "duration or list of durations"
	Bound     Type = "duration or number"
	Estimates Type = "string, noisy(…) or online(…)"
	Share     Type = "number or percentage"
	// ThreadTimes and SpeedUp are types of arguments that say how run times depend on threads.
	ThreadTimes Type = "map from threads to durations"
	SpeedUp     Type = "amdahl(…), usl(…) or map from threads to numbers"
	// Rates is the type of a map from types of a resource to speeds.
	Rates Type = "map of numbers"
	// Life is the type of distributions of servers' lifetimes, and Price the type of their prices.
	Life  Type = "exponential(…), weibull(…), bathtub(…), survival(…) or availability(…)"
	Price Type = "number, prices(…) or catalogue(…)"

	JobRef      Type = "reference to a job"
	WorkloadRef Type = "reference to a workload"
	HardwareRef Type = "reference to a hardware"
	PolicyRef   Type = "reference to a policy"
	JobMap      Type = "map of references to jobs"
)

// ReferenceKind returns the kind of block that a reference type refers to, such as "job"; "" for other types.
func (t Type) ReferenceKind() string {
	if kind, is := strings.CutPrefix(string(t), "reference to a "); is {
		return kind
	}
	return ""
}

// ReferenceKinds returns the kinds of blocks to which values of the type may refer; nil if the type has no
// references.
func (t Type) ReferenceKinds() []string {
	if t == Baseline {
		return []string{"policy", "hardware", "workload"}
	}
	if kind := t.ReferenceKind(); kind != "" {
		return []string{kind}
	}
	return nil
}

// Func describes a function that expressions can call.
type Func struct {
	Name      string
	Signature string
	Doc       string
}

// Fact describes a fact about the host, which expressions read as host.<Name>.
type Fact struct {
	Name string
	Type Type
	Doc  string
}

// Block returns the nested block with this name, or nil.
func (b *Block) Block(name string) *Block {
	i := slices.IndexFunc(b.Blocks, func(n *Block) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return b.Blocks[i]
}

// ArgsFor returns the arguments that the block accepts with a label.
func (b *Block) ArgsFor(label string) []Arg {
	for _, v := range b.ByLabel {
		if v.Label == label {
			return v.Args
		}
	}
	return b.Args
}

// Names returns the names of arguments, in their order.
func Names(args []Arg) []string { return Each(args, func(a Arg) string { return a.Name }) }

// BlockNames returns the names of the nested blocks, in their order.
func (b *Block) BlockNames() []string { return Each(b.Blocks, func(n *Block) string { return n.Name }) }

// Find returns the argument with this name, or nil.
func Find(args []Arg, name string) *Arg {
	for i := range args {
		if args[i].Name == name {
			return &args[i]
		}
	}
	return nil
}

// Limit returns a pointer to v, for Arg.Min and Arg.Max.
func Limit(v float64) *float64 { return &v }

// Largest counts in a file. They keep core numbers within 32 bits, and a typing mistake from filling the memory.
const (
	MaxThreads = 1 << 20
	MaxNodes   = 100_000
	MaxJobs    = 100_000_000 // drawn on demand; other jobs: workload.MaxJobs
	MaxEpochs  = 1_000_000_000
)

// Brought is a block that a package adds to the language: at the top of files, or inside blocks named In.
type Brought struct {
	By    string
	In    string
	Block *Block
}

var brought []Brought

// Bring adds a block to files, and BringInto to the blocks with a name. by is the name of the feature.
func Bring(by string, b *Block)         { BringInto("", by, b) }
func BringInto(in, by string, b *Block) { brought = append(brought, Brought{by, in, b}) }

// AllBrought returns the blocks added to files (in == "") or to the blocks with a name, sorted by the features'
// names.
func AllBrought(in string) (all []Brought) {
	for _, b := range brought {
		if b.In == in {
			all = append(all, b)
		}
	}
	slices.SortFunc(all, func(a, b Brought) int { return strings.Compare(a.By, b.By) })
	return all
}
