package engine

import (
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
)

var kinds = schema.NewRegistry("engine: kind", func(k *Kind) string { return k.Name }, func(k *Kind) int { return k.Rank })

// Register registers a kind, and returns it. It panics if the kind lacks a name, documentation or a required
// function, if the name is taken, or if another engine describes an argument differently.
func Register(k *Kind) *Kind {
	switch {
	case k.Name == "" || k.Doc == "":
		panic("engine: a kind without a name or a documentation")
	case k.Capabilities == nil || k.Real && k.Open == nil || !k.Real && k.Simulate == nil || k.Contained &&
		k.Images == nil || k.Recorded && k.Records == nil:
		panic(fmt.Sprintf("engine: the kind %q lacks a required function", k.Name))
	}
	for _, other := range kinds.All() {
		for _, a := range k.Args {
			if b := schema.Find(other.Args, a.Name); b != nil && (a.Type != b.Type || a.Default != b.Default) {
				panic(fmt.Sprintf("engine: %q and %q describe the argument %s differently", k.Name, other.Name, a.Name))
			}
		}
	}
	return kinds.Add(k)
}

// Extension is an addition of a feature to the hardware blocks of some kinds.
type Extension struct {
	// To reports whether the extension is for a kind.
	To func(*Kind) bool
	// NodeArgs and Blocks are as in Kind.
	NodeArgs []schema.Arg
	Blocks   []*schema.Block
}

var extensions []Extension

// Extend adds an extension to all kinds, also to kinds that are registered later.
func Extend(x Extension) { extensions = append(extensions, x) }

// AllNodeArgs returns the further arguments of node blocks, from the kind and from features.
func (k *Kind) AllNodeArgs() []schema.Arg {
	all := slices.Clone(k.NodeArgs)
	for _, x := range extensions {
		if x.To(k) {
			all = append(all, x.NodeArgs...)
		}
	}
	return all
}

// AllBlocks returns the further blocks of hardware blocks, from the kind and from features.
func (k *Kind) AllBlocks() []*schema.Block {
	all := slices.Clone(k.Blocks)
	for _, x := range extensions {
		if x.To(k) {
			all = append(all, x.Blocks...)
		}
	}
	return all
}

// Kinds returns all kinds, ordered by rank.
func Kinds() []*Kind { return kinds.All() }

// Find returns the kind with a name, or nil.
func Find(name string) *Kind {
	k, _ := kinds.Find(name)
	return k
}

// Names returns the names of the kinds for which is returns true; of all kinds if is is nil.
func Names(is func(*Kind) bool) []string { return kinds.Names(is) }

// Local returns the first engine that runs programs on this machine; nil if no engine does. It takes the samples of
// simulated jobs.
func Local() *Kind {
	for _, k := range kinds.All() {
		if k.Real && k.Here {
			return k
		}
	}
	return nil
}
