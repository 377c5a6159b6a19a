// Package given is the work of jobs whose run time the file of an experiment gives.
package given

import (
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/pipeline/realise/program"
)

// Work is the work of a job whose run time the file gives, with the epoch
// time that was drawn for it.
func Work(j *experiments.Job, epoch time.Duration) simulated.Scaling {
	rt, epochs := j.Runtime, program.Length(j)
	if rt.Whole {
		epochs = 1
	}
	return training(j, epochs, epoch)
}

// UntilTarget is the same, up to its target loss.
func UntilTarget(j *experiments.Job, epoch time.Duration) simulated.Scaling {
	if j.Done() == program.Length(j) {
		return Work(j, epoch)
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
	SpeedUp(&w, rt)
	return w
}

// SpeedUp lets a job's work depend on its threads as the file says.
func SpeedUp(w *simulated.Scaling, rt *experiments.Runtime) {
	w.Parallel = rt.Parallel
	if rt.SpeedUp != nil {
		w.SpeedUp = rt.SpeedUp.At
	}
}
