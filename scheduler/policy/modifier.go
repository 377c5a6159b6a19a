package policy

import (
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
)

// Modifier is an addition to policies with some choices: its settings, which change the rules that follow from the
// choices.
type Modifier struct {
	Name string
	// Settings are its arguments. Of reports whether a choice has them, after its own.
	Settings []schema.Arg
	Of       func(Question, *Choice) bool
	// On reports whether the settings of a policy turn it on.
	On func(Settings) bool
	// Check returns an error in the settings and the argument that has it; it may be nil.
	Check func(Settings) (arg string, err error)
	// Modify changes the rules of a run.
	Modify func(Policy, *scheduler.PolicyRules, *scheduler.Run) error
	// Sampling is set where it runs samples of jobs before these start.
	Sampling func(Settings) *Sampling
}

// Sampling says that jobs run as samples before they start.
type Sampling struct {
	// Setting is the argument that asks for it.
	Setting string
	// ByClass runs the samples of one job for all jobs of its class.
	ByClass bool
}

var modifiers []*Modifier

// RegisterModifier makes a modifier known.
func RegisterModifier(m Modifier) {
	modifiers = append(modifiers, &m)
	for q, registry := range answers {
		for _, c := range registry.All() {
			m.extend(q, c)
		}
	}
	settings.own = nil
}

// extend adds the settings to a choice that has them.
func (m *Modifier) extend(q Question, c *Choice) {
	if m.Of(q, c) {
		c.Settings = append(slices.Clip(c.Settings), m.Settings...)
		c.modifiers = append(c.modifiers, m)
	}
}

// check returns an error in the settings of a choice, and the argument that has it.
func (c *Choice) check(s Settings) (arg string, err error) {
	if c.Check != nil {
		if arg, err = c.Check(s); err != nil {
			return arg, err
		}
	}
	for _, m := range c.modifiers {
		if m.Check != nil {
			if arg, err = m.Check(s); err != nil {
				return arg, err
			}
		}
	}
	return "", nil
}

// modifiers returns the modifiers that the settings of a policy turn on.
func (p Policy) modifiers() (on []*Modifier) {
	return schema.Where(modifiers, func(m *Modifier) bool { return m.On(p.Settings) })
}

// Sampling returns how jobs run as samples under the policy; nil where they do not.
func (p Policy) Sampling() *Sampling {
	for _, m := range p.modifiers() {
		if m.Sampling != nil {
			return m.Sampling(p.Settings)
		}
	}
	return nil
}
