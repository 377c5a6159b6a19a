package policy

import "github.com/tfexp/tfexp/scheduler"

// AllPairs is a policy that checks every pair of a job and an alternative, without shortcuts.
type AllPairs struct{ Policy }

func (p AllPairs) Rules(r scheduler.Run) (scheduler.PolicyRules, error) {
	rules, err := p.Policy.Rules(r)
	if d, ok := rules.Admission.(*pairDesk); ok {
		d.final = false
	}
	return rules, err
}
