package check

import (
	"slices"

	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Warnings warns of blocks and arguments without effect, of missing programs, and of policies with a misleading
// setting. Call it only for a file without errors.
func (c *Checker) Warnings(root *eval.Node) {
	c.unusedBlocks(root)
	c.emptyComparisons(root)
	c.unusedSamples(root)
	c.missingPrograms()
	c.memory()
	c.unweighedAlternatives()
}

// unusedBlocks warns of blocks that no cell uses.
func (c *Checker) unusedBlocks(root *eval.Node) {
	type block struct{ kind, name string }
	used := map[block]bool{}
	for _, cell := range c.Spec.Cells {
		used[block{"workload", cell.Workload.Name}] = true
		used[block{"hardware", cell.Hardware.Name}] = true
		used[block{"policy", cell.Policy.Name}] = true
	}
	for _, w := range c.workloads() {
		for _, j := range w.JobBlocks() {
			used[block{"job", j.Name}] = true
		}
	}
	c.Spec.EachProbe(func(probe experiment.Cell) {
		used[block{"hardware", probe.Hardware.Name}] = true
		for _, j := range probe.Workload.JobBlocks() {
			used[block{"job", j.Name}] = true
		}
	})
	for _, w := range root.All("workload") { // job blocks used by an unused workload, or by a trace
		names, all := eval.NamesRead(w, "job")
		for _, name := range names {
			used[block{"job", name}] = true
		}
		if all { // the reference depends on an axis, as in job[each.which]
			for _, n := range root.All("job") {
				used[block{"job", n.Label}] = true
			}
		}
	}
	for _, kind := range eval.Kinds {
		for _, n := range root.All(kind) {
			if used[block{kind, n.Label}] {
				continue
			}
			user := "No cell of the matrix has"
			if kind == "job" {
				user = "No workload submits"
			}
			c.Warnf(n.Header, "Block that nothing uses", "%s the %s %q.", user, kind, n.Label)
		}
	}
}

// workloads returns the workloads of the cells without repetitions.
func (c *Checker) workloads() []*experiment.Workload {
	var list []*experiment.Workload
	seen := map[*experiment.Workload]bool{}
	for _, cell := range c.Spec.Cells {
		if !seen[cell.Workload] {
			seen[cell.Workload] = true
			list = append(list, cell.Workload)
		}
	}
	return list
}

// emptyComparisons warns of comparisons whose baseline has the same workload and hardware as no other policy.
func (c *Checker) emptyComparisons(root *eval.Node) {
	type meeting struct{ workload, hardware string }
	policies := map[meeting]map[string]bool{}
	for _, cell := range c.Spec.Cells {
		at := meeting{cell.Workload.Name, cell.Hardware.Name}
		if policies[at] == nil {
			policies[at] = map[string]bool{}
		}
		policies[at][cell.Policy.Name] = true
	}
	for _, n := range root.All("compare") {
		i := slices.IndexFunc(c.Spec.Compares,
			func(o experiment.Compare) bool { return o.Range == eval.RangeOf(n.Header) })
		if i < 0 || c.Spec.Compares[i].At != nil {
			continue
		}
		baseline := c.Spec.Compares[i].Baseline
		others := false
		for _, names := range policies {
			others = others || len(names) > 1 && names[baseline]
		}
		if !others {
			c.Warnf(n.Header, "Nothing to compare with",
				"No other policy runs with the workload and the hardware of %q, so there is nothing to compare.", baseline)
		}
	}
}

// unusedSamples warns of arguments of the profile and estimate blocks that have no effect on these cells.
func (c *Checker) unusedSamples(root *eval.Node) {
	profile, estimate := root.First("profile"), root.First("estimate")
	s := c.Spec
	real, sampled := false, false
	for _, cell := range s.Cells {
		real = real || cell.Hardware.Real()
	}
	for _, w := range c.workloads() {
		sampled = sampled || w.Sampled()
	}
	for _, n := range []*eval.Node{profile, estimate} {
		if n != nil && !real && !sampled {
			c.Warnf(n.Header, "Block that nothing uses",
				"No job is sampled: nothing runs for real, and the file gives all run times.")
			return
		}
	}
	if profile != nil && s.Profile.Budget > 0 && !real {
		c.Warnf(profile.Attr("budget").Range, "Budget without real cells",
			"The budget is a part of the predicted time of the real cells, and there are none: all samples are taken.")
	}
	models := append([]string{s.Estimate.Model}, s.Estimate.Models...)
	if profile != nil && len(s.Profile.Threads) > 0 && !slices.ContainsFunc(models, experiment.UsesCurve) {
		c.Warnf(profile.Attr("threads").Range, "Samples that nothing uses",
			"The model %q uses only samples on the job's own request; \"scaling\" and \"auto\" use those on other "+
				"numbers of threads.",
			s.Estimate.Model)
	}
}
