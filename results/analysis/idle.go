package analysis

import (
	"fmt"

	"github.com/tfexp/tfexp/results/measure"
	"github.com/tfexp/tfexp/results/record"
	"github.com/tfexp/tfexp/results/tell"
)

// Idle is the code of the warning that hardly any job waited.
const Idle = "idle"

// Policies differ in who waits. Where jobs wait less than mostIdle of their completion time, and this time differs by no
// more than alike between the cells of a replicate, another answer needs more load.
const (
	mostIdle = 0.02
	alike    = 1.05
)

// idle is the warning that several policies were compared while hardly any job waited.
func idle(e *record.Experiment) (record.Warning, bool) {
	type drawn struct {
		workload  string
		replicate int
	}
	least, greatest := map[drawn]float64{}, map[drawn]float64{}
	policies := map[string]bool{}
	share := 0.0
	for i := range e.Cells {
		c := &e.Cells[i]
		waiting, jct := measure.MeanWaiting.Of(&c.Metrics), measure.MeanJCT.Of(&c.Metrics)
		if !(jct > 0) || !(waiting <= mostIdle*jct) { // or one of them is not known
			return record.Warning{}, false
		}
		share = max(share, waiting/jct)
		policies[c.Policy] = true
		k := drawn{c.Workload, c.Replicate}
		if least[k] == 0 || jct < least[k] {
			least[k] = jct
		}
		greatest[k] = max(greatest[k], jct)
		if greatest[k] > alike*least[k] {
			return record.Warning{}, false
		}
	}
	if len(policies) < 2 {
		return record.Warning{}, false
	}
	how := fmt.Sprintf("at most %s of the mean completion time was waiting", tell.Share(share))
	if share == 0 {
		how = "none waited at all"
	}
	return record.Warning{Code: Idle, Text: "policies can hardly differ here: hardly any job waited (" + how +
		"); jobs that arrive closer together, or fewer cores, would show more"}, true
}
