package engine

import (
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
)

var kinds = schema.NewRegistry("engine: kind", func(k *Kind) string { return k.Name }, func(k *Kind) int { return k.Rank })

// Register adds a kind. It panics when the kind is not whole: when it lacks a name,
// a sentence of documentation or a function that it must have, when its name is taken, or when it describes an
// argument in another way than an engine that has it too.
func Register(k *Kind) *Kind {
	switch {
	case k.Name == "" || k.Doc == "":
		panic("engine: a kind without a name or a documentation")
	case k.Capabilities == nil || k.Real && k.Open == nil || !k.Real && k.Simulate == nil || k.Contained &&
		k.Images == nil || k.Recorded && k.Records == nil:
		panic(fmt.Sprintf("engine: the kind %q lacks a function", k.Name))
	}
	for _, other := range kinds.All() {
		for _, a := range k.Args {
			if b := schema.Find(other.Args, a.Name); b != nil && (a.Type != b.Type || a.Default != b.Default) {
				panic(fmt.Sprintf("engine: %q and %q describe the argument %s in two ways", k.Name, other.Name, a.Name))
			}
		}
	}
	return kinds.Add(k)
}

// Extension is the addition of a feature to the blocks of hardware of some kinds.
type Extension struct {
	// To reports whether it adds to a kind.
	To func(*Kind) bool
	// NodeArgs and Blocks are as in Kind.
	NodeArgs []schema.Arg
	Blocks   []*schema.Block
}

var extensions []Extension

// Extend adds to kinds, those that are registered later too.
func Extend(x Extension) { extensions = append(extensions, x) }

// AllNodeArgs returns the additional arguments of the kind's node blocks, and those that features add.
func (k *Kind) AllNodeArgs() []schema.Arg {
	all := slices.Clone(k.NodeArgs)
	for _, x := range extensions {
		if x.To(k) {
			all = append(all, x.NodeArgs...)
		}
	}
	return all
}

// AllBlocks returns the additional blocks of the kind's hardware, and those that features add.
func (k *Kind) AllBlocks() []*schema.Block {
	all := slices.Clone(k.Blocks)
	for _, x := range extensions {
		if x.To(k) {
			all = append(all, x.Blocks...)
		}
	}
	return all
}

// Kinds returns all kinds, in the order of their ranks.
func Kinds() []*Kind { return kinds.All() }

// Find returns the kind of a name, or nil.
func Find(name string) *Kind {
	k, _ := kinds.Find(name)
	return k
}

// Names returns the names of the kinds for which is holds; of all if it is nil.
func Names(is func(*Kind) bool) []string { return kinds.Names(is) }

// Local returns the engine that samples the programs of simulated jobs: the first engine that runs programs on this
// machine itself. It is nil if no engine does.
func Local() *Kind {
	for _, k := range kinds.All() {
		if k.Real && k.Here {
			return k
		}
	}
	return nil
}
