package simulated

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// choose gives a job that starts the work of the alternative that it is to run
// with. The noise is the same in all of a job's ways.
func (e *Engine) choose(job int, t *task, g scheduler.Grant) error {
	ways := e.work[job].Alternatives
	if len(ways) == 0 {
		return nil
	}
	if g.Alternative < 0 || g.Alternative >= len(ways) {
		return fmt.Errorf("start job %d: it has no alternative %d", job, g.Alternative)
	}
	if !e.chosen { // the work belongs to the caller
		e.work, e.chosen = slices.Clone(e.work), true
	}
	w := ways[g.Alternative]
	e.work[job] = w
	f := 1.0
	if e.opts.Noise > 0 {
		f = noise(e.opts, e.names[job])
	}
	t.lead = time.Duration(math.Round(f * float64(w.Fixed)))
	t.scaled = time.Duration(math.Round(f * float64(w.Scaled)))
	return nil
}
