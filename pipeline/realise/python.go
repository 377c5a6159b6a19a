package realise

import (
	"slices"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline/realise/program"
)

// Interpreters are the Pythons of this machine that run programs of real cells, outside containers.
func (x *Experiment) Interpreters() (found []string) {
	seen := map[*experiments.Job]bool{}
	for _, c := range x.spec.Cells {
		if k := c.Hardware.Kind(); !c.Hardware.Real() || k.Contained || !k.Here {
			continue
		}
		for _, j := range jobsOf(c) {
			if seen[j] {
				continue
			}
			seen[j] = true
			if path := program.Interpreter(j); path != "" && !slices.Contains(found, path) {
				found = append(found, path)
			}
		}
	}
	return found
}
