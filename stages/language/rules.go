package language

import (
	"fmt"
	"slices"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Checker finds mistakes that only complete cells show: requests beyond the hardware, policies that need a missing
// capability of an engine, and blocks without effect. Rules report to it.
type Checker struct {
	*eval.Reporter
	Spec *experiment.Spec
	// Host is this machine, with which real hardware is compared.
	Host experiments.HostFacts
	// Whole reports whether all blocks that cells need were decoded.
	Whole bool

	seen map[[4]any]bool
	own  []*Checker // one for each rule, so that rules do not share First
}

// NewChecker returns a checker of the cells of spec that reports to r.
func NewChecker(r *eval.Reporter, spec *experiment.Spec, host experiments.HostFacts) *Checker {
	return &Checker{Reporter: r, Spec: spec, Host: host, seen: map[[4]any]bool{}}
}

var rules []func(*Checker, experiment.Cell)

// RegisterRule registers a rule for all cells, including cells beyond the matrix. A rule should call First before it
// checks something that several cells share.
func RegisterRule(check func(*Checker, experiment.Cell)) { rules = append(rules, check) }

// Check runs the registered rules on a cell.
func (c *Checker) Check(cell experiment.Cell) {
	for i, check := range rules {
		if i == len(c.own) {
			c.own = append(c.own, NewChecker(c.Reporter, c.Spec, c.Host))
		}
		c.own[i].Whole = c.Whole
		check(c.own[i], cell)
	}
}

// First reports whether this rule checks a thing for the first time. The argument is the thing, or a combination of at
// most 4 things.
func (c *Checker) First(what ...any) bool {
	var key [4]any
	copy(key[:], what)
	seen := c.seen[key]
	c.seen[key] = true
	return !seen
}

// Fail reports an error.
func (c *Checker) Fail(at experiments.Range, summary, detail string, args ...any) {
	c.Add(experiments.ErrorAt(at, summary, detail, args...))
}

// Place returns the place of an argument in the file, or the place of its block if the argument is not set.
func Place(at map[string]experiments.Range, argument string, block experiments.Range) experiments.Range {
	if r, ok := at[argument]; ok {
		return r
	}
	return block
}

// Lacks reports an error: an engine lacks a needed capability.
func (c *Checker) Lacks(at experiments.Range, h *experiment.Hardware, capability, need string) {
	summary, detail := Lacking(h, capability, need)
	c.Fail(at, summary, "%s", detail)
}

// Lacking returns the message that the engine of a hardware lacks a needed capability.
func Lacking(h *experiment.Hardware, capability, need string) (summary, detail string) {
	summary = fmt.Sprintf("The engine of %q lacks %q", h.Name, capability)
	if slices.Contains(h.Lacks, capability) {
		return summary, fmt.Sprintf("%s, but the hardware %q says that its engine lacks %q.", need, h.Name, capability)
	}
	return summary, fmt.Sprintf("%s, but the engine %q of the hardware %q lacks %q.", need, h.Engine, h.Name,
		capability)
}
