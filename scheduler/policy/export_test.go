package policy

import "github.com/tfexp/tfexp/scheduler"

// AllPairs are the rules of a policy under which every pair is looked at.
type AllPairs struct{ Policy }

func (p AllPairs) Rules(r scheduler.Run) (scheduler.PolicyRules, error) {
	rules, err := p.Policy.Rules(r)
	if d, ok := rules.Admission.(*pairDesk); ok {
		d.final = false
	}
	return rules, err
}
