package realise

import (
	"math"

	"github.com/tfexp/tfexp/results/measure"
)

// finals are what simulated jobs report at their end, as far as the file says so; nil where it says nothing.
func finals(r realisation) []measure.Final {
	some := false
	ofBlock := make([]measure.Final, len(r.blocks))
	for k, j := range r.blocks {
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
	out := make([]measure.Final, len(r.jobs))
	for i := range out {
		if out[i] = measure.Unreported; r.block[i] >= 0 {
			out[i] = ofBlock[r.block[i]]
		}
	}
	return out
}
