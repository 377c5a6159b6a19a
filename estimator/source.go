// Source has the registry of where the run times come from that a policy
// decides by: what users write after estimates =.

package estimator

import (
	"cmp"
	"fmt"
	"slices"
)

// Source is one way to tell a policy how long jobs run.
type RunTimeSource struct {
	// Name is what users write; Doc is its part of the sentence on estimates in the
	// language reference, and Rank its place there.
	Name, Doc string
	Rank      int
	// Call is set when users write it with the standard deviation of its errors
	// alone, as noisy(0.2).
	Call bool
	// Fitted is set when estimates begin with what was fitted to samples, with an
	// error where the policy has a sigma; Asked when they are what users asked for,
	// and True when they are the run times to come.
	Fitted, Asked, True bool
	// Follows is set when what jobs report while they run corrects estimates; Losses
	// when their losses do as well.
	Follows, Losses bool
}

var registry []RunTimeSource

// Register adds a source. It is called from init functions, and panics when the
// name is taken.
func RegisterSource(s RunTimeSource) {
	if FindSource(s.Name) != (RunTimeSource{}) {
		panic(fmt.Sprintf("source: two sources of estimates are called %q", s.Name))
	}
	registry = append(registry, s)
	slices.SortFunc(registry, func(a, b RunTimeSource) int { return cmp.Compare(a.Rank, b.Rank) })
}

// Find returns the source of a name; the zero Source for none.
func FindSource(name string) RunTimeSource {
	for _, s := range registry {
		if s.Name == name {
			return s
		}
	}
	return RunTimeSource{}
}

// All lists the sources by their ranks.
func RunTimeSources() []RunTimeSource { return slices.Clone(registry) }
