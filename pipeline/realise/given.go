package realise

import (
	"math"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/pipeline/realise/program"
	"github.com/tfexp/tfexp/results/measure"
)

// given is the work of a job whose run time the file gives, with the epoch
// time that was drawn for it.
func given(j *experiments.Job, epoch time.Duration) simulated.Scaling {
	rt, epochs := j.Runtime, program.Length(j)
	if rt.Whole {
		epochs = 1
	}
	return training(j, epochs, epoch)
}

// untilTarget is the same, up to its target loss.
func untilTarget(j *experiments.Job, epoch time.Duration) simulated.Scaling {
	if j.Done() == program.Length(j) {
		return given(j, epoch)
	}
	return training(j, j.Done(), epoch)
}

func training(j *experiments.Job, epochs int, epoch time.Duration) simulated.Scaling {
	rt := j.Runtime
	if rt.Cluster != nil {
		return simulated.Scaling{Fixed: rt.Startup, Scaled: time.Duration(epochs) * epoch}
	}
	w := simulated.Training(rt.Startup, epochs, epoch, rt.Parallel)
	w.Threads = max(rt.Threads, 1)
	speedUp(&w, rt)
	return w
}

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

// speedUp lets a job's work depend on its threads as the file says.
func speedUp(w *simulated.Scaling, rt *experiments.Runtime) {
	w.Parallel = rt.Parallel
	if rt.SpeedUp != nil {
		w.SpeedUp = rt.SpeedUp.At
	}
}
