package describe

import (
	"strings"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/pipeline/store"
)

// NeighbourLines are the key lines of what jobs keep of their speed when they share GPUs; none
// for a policy that lets them share none.
func NeighbourLines(p *experiments.Policy, jobs []*experiments.Job) []string {
	var k store.Key
	if !p.Packs() {
		return nil
	}
	for _, j := range jobs {
		if j.Runtime == nil {
			continue
		}
		for _, n := range j.Runtime.Neighbours {
			k.Addf(strings.ReplaceAll("job."+j.Name+".beside."+n.Class+"."+n.GPU, " ", "_"), "%g", n.Keep)
		}
	}
	return k.Lines()
}
