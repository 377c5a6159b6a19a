package engine

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
)

var kinds []*Kind

// Register adds a kind. It is called from init functions and panics when the kind is not whole: when it lacks a name,
// a sentence of documentation or a function that it must have, when its name is taken, or when it describes an
// argument in another way than an engine that has it too.
func Register(k *Kind) {
	switch {
	case k.Name == "" || k.Doc == "":
		panic("engine: a kind without a name or a documentation")
	case k.Capabilities == nil || k.Real && k.Open == nil || !k.Real && k.Simulate == nil || k.Contained &&
		k.Images == nil || k.Recorded && k.Records == nil:
		panic(fmt.Sprintf("engine: the kind %q lacks a function", k.Name))
	}
	for _, other := range kinds {
		if other.Name == k.Name {
			panic(fmt.Sprintf("engine: two kinds are called %q", k.Name))
		}
		for _, a := range k.Args {
			if b := schema.Find(other.Args, a.Name); b != nil && (a.Type != b.Type || a.Default != b.Default) {
				panic(fmt.Sprintf("engine: %q and %q describe the argument %s in two ways", k.Name, other.Name, a.Name))
			}
		}
	}
	kinds = append(kinds, k)
	slices.SortFunc(kinds, func(a, b *Kind) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(a.Name,
			b.Name))
	})
}

// Kinds returns all kinds, in the order of their ranks.
func Kinds() []*Kind { return slices.Clone(kinds) }

// Find returns the kind of a name, or nil.
func Find(name string) *Kind {
	i := slices.IndexFunc(kinds, func(k *Kind) bool { return k.Name == name })
	if i < 0 {
		return nil
	}
	return kinds[i]
}

// Names returns the names of the kinds for which is holds; of all if it is nil.
func Names(is func(*Kind) bool) []string {
	var names []string
	for _, k := range kinds {
		if is == nil || is(k) {
			names = append(names, k.Name)
		}
	}
	return names
}

// Local returns the engine that samples the programs of jobs that are simulated: the first that runs them on this
// machine itself. It is nil when there is none.
func Local() *Kind {
	i := slices.IndexFunc(kinds, func(k *Kind) bool { return k.Real && k.Here })
	if i < 0 {
		return nil
	}
	return kinds[i]
}
