package check

import (
	"slices"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/experiments/eval"
	"github.com/tfexp/tfexp/experiments/schema"
	"github.com/tfexp/tfexp/stages/experiment"
)

// Warnings warns of blocks and arguments without effect, of missing programs, and of policies with a misleading
// setting. Call it only for a file without errors.
func (c *Checker) Warnings(root *eval.Node) {
	c.unusedBlocks(root)
	c.emptyComparisons()
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
			c.Warnf(n.Header, "Unused block", "%s the %s %q.", user, kind, n.Label)
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

// emptyComparisons reports baselines that no cell is at, and warns of those that no other cell is compared with.
func (c *Checker) emptyComparisons() {
	for _, o := range c.Spec.Compares {
		at := o.At
		if at == nil {
			at = []schema.Setting{{Name: "policy", Value: o.Baseline}}
		}
		bases := schema.Where(c.Spec.Cells, func(cell experiment.Cell) bool { return isAt(cell, at) })
		text := schema.SettingsText(at, " ")
		switch {
		case len(bases) == 0:
			c.Add(experiments.ErrorAt(o.Range, "Baseline that never runs", "No cell has all of %s.", text))
		case !slices.ContainsFunc(bases, func(base experiment.Cell) bool {
			return slices.ContainsFunc(c.Spec.Cells, func(cell experiment.Cell) bool { return compared(base, cell, at) })
		}):
			c.Add(experiments.WarningAt(o.Range, "Nothing to compare with", "No other cell differs from the baseline %s in this setting alone.", text))
		}
	}
}

// isAt reports whether a cell has some values of axes.
func isAt(cell experiment.Cell, at []schema.Setting) bool {
	settings := cell.Settings()
	return !slices.ContainsFunc(at, func(s schema.Setting) bool { return !slices.Contains(settings, s) })
}

// compared reports whether a cell differs from a baseline in the axes of the baseline alone.
func compared(base, cell experiment.Cell, at []schema.Setting) bool {
	for _, a := range base.Settings() {
		named := slices.ContainsFunc(at, func(s schema.Setting) bool { return s.Name == a.Name })
		for _, b := range cell.Settings() {
			if a.Name == b.Name && a.Value != b.Value && !named {
				return false
			}
		}
	}
	return !isAt(cell, at)
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
			c.Warnf(n.Header, "Unused block",
				"No job is sampled, since no cell is a real run and the file gives all run times.")
			return
		}
	}
	if profile != nil && s.Profile.Budget > 0 && !real {
		c.Warnf(profile.Attr("budget").Range, "Budget without real cells",
			"The budget is a share of the predicted time of the real cells. There are no real cells, so all samples are taken.")
	}
	models := append([]string{s.Estimate.Model}, s.Estimate.Models...)
	if profile != nil && len(s.Profile.Threads) > 0 && !slices.ContainsFunc(models, experiment.UsesCurve) {
		c.Warnf(profile.Attr("threads").Range, "Unused samples",
			"The model %q uses only samples on the job's own request; \"scaling\" and \"auto\" use those on other "+
				"numbers of threads.",
			s.Estimate.Model)
	}
}
