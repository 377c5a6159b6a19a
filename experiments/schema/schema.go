// Package schema has the types in which the language of experiments is described: blocks, their arguments and the
// arguments' meaning; units, and the words that messages share. It imports nothing of ours, so that each extension of
// the language (an engine, a policy, a metric) can describe its own arguments.
//
// The arguments of a block fill the fields of a struct, which declares them by its tags and comments: see Field and Of.
package schema

import (
	"slices"
	"strings"
	"time"
)

// Block is one kind of block, or the body of a file.
type Block struct {
	// Name is the word that begins the block; empty for the body of a file.
	Name string
	// Label describes the block's label; empty for a block without a label.
	Label string
	// Labels are the only labels that are allowed; nil allows every identifier.
	Labels []string
	// Offered are labels that editors and the JSON schema offer of a block whose labels are checked where it is decoded.
	Offered []string
	Doc     string
	// Example is a piece of HCL; the tests load it.
	Example string
	// Unique blocks have distinct labels within one parent.
	Unique bool
	// Single blocks occur at most once in their parent.
	Single bool
	// Required blocks occur at least once in their parent.
	Required bool
	Args     []Arg
	Blocks   []*Block
	// ByLabel has the arguments of a block whose label chooses among them.
	ByLabel []Labelled
	// Free describes arguments whose names the author chooses; nil allows none.
	Free *Arg
}

// Labelled has the arguments and blocks that a block takes under one of its labels.
type Labelled struct {
	Label string
	Doc   string
	Args  []Arg
}

// Arg is one argument of a block, or one key of an object.
type Arg struct {
	Name     string
	Type     Type
	Required bool
	// Default is the value of an argument that is not set, as an HCL
	// expression; empty if it has no default.
	Default string
	// DefaultDoc describes a default that depends on other things.
	DefaultDoc string
	Doc        string
	// Example is an HCL expression.
	Example string
	// Allowed are the only texts that a String may be.
	Allowed []string
	// Meanings has a list item for each of Allowed, where Doc has none.
	Meanings string
	// Min and Max bound a number (each element of a list of them), inclusively.
	Min, Max *float64
	// Positive durations and sizes are above zero.
	Positive bool
	// Least is the smallest that a duration above zero may be; 0 for none.
	Least time.Duration
	// MayBeEmpty lists need not have an element.
	MayBeEmpty bool
	// Sensitive arguments may have values that results must not show: jobs alone are given them.
	Sensitive bool
	// Needs is another argument, without which nothing reads this one.
	Needs string
	// Keys are the keys of the object form of a Threads value.
	Keys []Arg
}

// Type is the type of an argument, in words for people.
type Type string

// The types of arguments.
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
	// Baseline is the type of a baseline of comparisons.
	Baseline  Type = "reference, or map of values by axis"
	Condition Type = "condition"
	// OfRow is an expression over the columns of a table's row, row.<column>.
	OfRow     Type = "expression over row"
	TypeName  Type = "type"
	Threads   Type = "integer or object"
	Gap       Type = "duration, exponential(…) or normal(…)"
	Instants  Type = "duration or list of durations"
	Bound     Type = "duration or number"
	Estimates Type = "string, noisy(…) or online(…)"
	Share     Type = "number or percentage"
	// ThreadTimes and SpeedUp are the types of models of a run time's dependence on threads.
	ThreadTimes Type = "map from threads to durations"
	SpeedUp     Type = "amdahl(…), usl(…) or map from threads to numbers"
	// Rates is the type of the speeds of types of a resource.
	Rates Type = "map of numbers"
	// Life is the type of models of servers' lifetimes, Price the type of models of their prices.
	Life  Type = "exponential(…), weibull(…), bathtub(…), survival(…) or availability(…)"
	Price Type = "number, prices(…) or catalogue(…)"

	JobRef      Type = "reference to a job"
	WorkloadRef Type = "reference to a workload"
	HardwareRef Type = "reference to a hardware"
	PolicyRef   Type = "reference to a policy"
	JobMap      Type = "map of references to jobs"
)

// ReferenceKind returns the kind of block ("job") that a reference type refers
// to; empty for other types.
func (t Type) ReferenceKind() string {
	if kind, is := strings.CutPrefix(string(t), "reference to a "); is {
		return kind
	}
	return ""
}

// ReferenceKinds returns the kinds of blocks that a value of the type may refer to; nil for types without references.
func (t Type) ReferenceKinds() []string {
	if t == Baseline {
		return []string{"policy", "hardware", "workload"}
	}
	if kind := t.ReferenceKind(); kind != "" {
		return []string{kind}
	}
	return nil
}

// Func is a function that expressions may call.
type Func struct {
	Name      string
	Signature string
	Doc       string
}

// Fact is a fact of the host, read as host.<Name>.
type Fact struct {
	Name string
	Type Type
	Doc  string
}

// Block returns the nested block of that name, or nil.
func (b *Block) Block(name string) *Block {
	i := slices.IndexFunc(b.Blocks, func(n *Block) bool { return n.Name == name })
	if i < 0 {
		return nil
	}
	return b.Blocks[i]
}

// ArgsFor returns the arguments of a block with that label.
func (b *Block) ArgsFor(label string) []Arg {
	for _, v := range b.ByLabel {
		if v.Label == label {
			return v.Args
		}
	}
	return b.Args
}

// Names returns the names of arguments, in the order of the table.
func Names(args []Arg) []string { return Each(args, func(a Arg) string { return a.Name }) }

// BlockNames returns the names of the nested blocks, in the order of the table.
func (b *Block) BlockNames() []string { return Each(b.Blocks, func(n *Block) string { return n.Name }) }

// Find returns the argument of that name, or nil.
func Find(args []Arg, name string) *Arg {
	for i := range args {
		if args[i].Name == name {
			return &args[i]
		}
	}
	return nil
}

// Limit returns a bound for Arg.Min or Arg.Max.
func Limit(v float64) *float64 { return &v }

// The largest counts that a file may ask for. They keep core numbers within 32
// bits, and prevent a typing mistake from filling the memory.
const (
	MaxThreads = 1 << 20
	MaxNodes   = 100_000
	MaxJobs    = 100_000_000 // that are drawn when they arrive; see workload.MaxJobs
	MaxEpochs  = 1_000_000_000
)

// Brought is a block that a registration adds, such as a stage's: to files, or to the block In.
type Brought struct {
	By    string
	In    string
	Block *Block
}

var brought []Brought

// Bring adds a block to the language; BringInto adds one within the blocks of a name.
func Bring(by string, b *Block)         { BringInto("", by, b) }
func BringInto(in, by string, b *Block) { brought = append(brought, Brought{by, in, b}) }

// AllBrought returns the blocks that are added to files (""), or to the blocks of a name, sorted by the names of their
// sources.
func AllBrought(in string) (all []Brought) {
	for _, b := range brought {
		if b.In == in {
			all = append(all, b)
		}
	}
	slices.SortFunc(all, func(a, b Brought) int { return strings.Compare(a.By, b.By) })
	return all
}
