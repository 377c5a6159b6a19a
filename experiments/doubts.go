package experiments

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// warnf reports what is allowed but probably not meant.
func (r *reporter) warnf(at hcl.Range, summary, detail string, args ...any) {
	r.add(Diagnostic{Severity: SeverityWarning, Summary: summary, Detail: fmt.Sprintf(detail, args...), Range: rangeOf(at)})
}

// doubts warns of blocks and comparisons that change nothing. It wants the
// cells of a file without errors.
func (d *decoder) doubts(s *Spec) {
	type machine struct{ workload, hardware string }
	policies := map[machine][]string{}
	used := map[[2]string]bool{}
	for _, c := range s.Cells {
		used[[2]string{"workload", c.Workload.Name}] = true
		used[[2]string{"hardware", c.Hardware.Name}] = true
		used[[2]string{"policy", c.Policy.Name}] = true
		for _, submit := range c.Workload.Submits {
			used[[2]string{"job", submit.Job.Name}] = true
		}
		if t := c.Workload.Trace; t != nil {
			for _, k := range t.Kinds {
				used[[2]string{"job", k.Name}] = true
			}
		}
		at := machine{c.Workload.Name, c.Hardware.Name}
		if !slices.Contains(policies[at], c.Policy.Name) {
			policies[at] = append(policies[at], c.Policy.Name)
		}
	}
	for _, w := range d.root.all("workload") { // jobs of a workload that is itself unused, or of a trace
		w.expressions(func(expr hcl.Expression) {
			for _, t := range expr.Variables() {
				if t.RootName() != "job" {
					continue
				}
				if len(t) < 2 { // all of them, as in job[each.which]
					for _, n := range d.root.all("job") {
						used[[2]string{"job", n.label}] = true
					}
				} else if step, ok := t[1].(hcl.TraverseAttr); ok {
					used[[2]string{"job", step.Name}] = true
				} else if step, ok := t[1].(hcl.TraverseIndex); ok {
					used[[2]string{"job", display(step.Key)}] = true
				}
			}
		})
	}
	for _, kind := range kinds {
		for _, n := range d.root.all(kind) {
			if used[[2]string{kind, n.label}] {
				continue
			}
			user := "No cell of the matrix has"
			if kind == "job" {
				user = "No workload submits"
			}
			d.warnf(n.header, "Block that nothing uses", "%s the %s %q.", user, kind, n.label)
		}
	}
	for _, n := range d.root.all("compare") {
		i := slices.IndexFunc(s.Compares, func(c Compare) bool { return c.Range == rangeOf(n.header) })
		if i < 0 {
			continue
		}
		baseline := s.Compares[i].Baseline
		others := false
		for _, names := range policies {
			others = others || len(names) > 1 && slices.Contains(names, baseline)
		}
		if !others {
			d.warnf(n.header, "Comparison with nothing", "No other policy meets the workload and the hardware of %q, so there is nothing to compare.", baseline)
		}
	}
}
