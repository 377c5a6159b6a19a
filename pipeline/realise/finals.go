package realise

import (
	"math"

	"github.com/tfexp/tfexp/pipeline/realise/drawn"
	"github.com/tfexp/tfexp/results/measure"
)

// finals are what simulated jobs report at their end, as far as the file says so; nil where it says nothing.
func finals(r drawn.Workload) []measure.Final {
	some := false
	ofBlock := make([]measure.Final, len(r.Blocks))
	for k, j := range r.Blocks {
		ofBlock[k] = measure.Unreported
		if rt := j.Runtime; rt != nil {
			loss, accuracy := math.NaN(), math.NaN()
			if n := j.Done(); n <= len(rt.Losses) && n > 0 {
				loss = rt.Losses[n-1]
			}
			if rt.Loss != nil {
				loss = *rt.Loss
			}
			if rt.Accuracy != nil {
				accuracy = *rt.Accuracy
			}
			ofBlock[k] = measure.Final{Loss: loss, Accuracy: accuracy}
			some = some || !math.IsNaN(loss) || !math.IsNaN(accuracy)
		}
	}
	if !some {
		return nil
	}
	out := make([]measure.Final, len(r.Jobs))
	for i := range out {
		if out[i] = measure.Unreported; r.Block[i] >= 0 {
			out[i] = ofBlock[r.Block[i]]
		}
	}
	return out
}
