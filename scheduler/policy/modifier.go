package policy

import (
	"slices"

	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/scheduler"
)

// Modifier is an addition to some choices: it adds settings to them, and changes the rules of a policy whose
// settings turn it on.
type Modifier struct {
	// Settings are the arguments that the modifier adds. Of reports whether it adds them to a choice.
	Settings []schema.Arg
	Of       func(Question, *Choice) bool
	// On reports whether the settings of a policy turn the modifier on.
	On func(Settings) bool
	// Check returns an error in the settings, and the name of the wrong argument. Check may be nil.
	Check func(Settings) (arg string, err error)
	// Modify changes the rules of a run.
	Modify func(Policy, *scheduler.PolicyRules, *scheduler.Run) error
	// Sampling says how the modifier runs samples of jobs before the jobs start; nil for a modifier without samples.
	Sampling func(Settings) *Sampling
}

// Sampling says how jobs run as samples before they start.
type Sampling struct {
	// Setting is the name of the argument that turns samples on.
	Setting string
	// ByClass says that the samples of one job serve all jobs of its class.
	ByClass bool
}

var modifiers []*Modifier

// RegisterModifier registers a modifier.
func RegisterModifier(m Modifier) {
	modifiers = append(modifiers, &m)
	for q, registry := range answers {
		for _, c := range registry.All() {
			m.extend(q, c)
		}
	}
	settings.own = nil
}

// extend adds the modifier's settings to a choice that should have them.
func (m *Modifier) extend(q Question, c *Choice) {
	if m.Of(q, c) {
		c.Settings = append(slices.Clip(c.Settings), m.Settings...)
		c.modifiers = append(c.modifiers, m)
	}
}

// check returns an error in the settings of a choice, and the name of the wrong argument.
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

// modifiers returns the modifiers that the policy's settings turn on.
func (p Policy) modifiers() (on []*Modifier) {
	return schema.Where(modifiers, func(m *Modifier) bool { return m.On(p.Settings) })
}

// Sampling returns how jobs run as samples under the policy; nil if they do not.
func (p Policy) Sampling() *Sampling {
	for _, m := range p.modifiers() {
		if m.Sampling != nil {
			return m.Sampling(p.Settings)
		}
	}
	return nil
}
