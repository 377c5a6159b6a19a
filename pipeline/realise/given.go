package realise

import (
	"fmt"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/simulated"
)

// given is the work of a job whose run time the file gives, with the epoch
// time that was drawn for it.
func given(j *experiments.Job, epoch time.Duration) simulated.Scaling {
	rt, epochs := j.Runtime, length(j)
	if rt.Whole {
		epochs = 1
	}
	w := simulated.Training(rt.Startup, epochs, epoch, rt.Parallel)
	w.Threads = max(rt.Threads, 1)
	speedUp(&w, rt)
	return w
}

// speedUp lets a job's work depend on its threads as the file says.
func speedUp(w *simulated.Scaling, rt *experiments.Runtime) {
	w.Parallel = rt.Parallel
	if rt.SpeedUp != nil {
		w.SpeedUp = rt.SpeedUp.At
	}
}

// speedUpText describes how a job speeds up, for keys.
func speedUpText(rt *experiments.Runtime) string {
	if rt.SpeedUp != nil {
		return "speed-up " + rt.SpeedUp.String()
	}
	return fmt.Sprintf("parallel %g", rt.Parallel)
}

// runtimeText describes the run time that the file gives a job, for keys.
func runtimeText(rt *experiments.Runtime) string {
	if rt.Threads == 0 {
		return fmt.Sprintf("startup %s, epoch %s, %s", rt.Startup, rt.Epoch, speedUpText(rt))
	}
	times := make([]string, len(rt.SpeedUp.Points))
	for i, p := range rt.SpeedUp.Points {
		times[i] = fmt.Sprintf("%d = %s", p.Threads, seconds(1/p.Speed))
	}
	per := "epoch"
	if rt.Whole {
		per = "job"
	}
	return fmt.Sprintf("startup %s, by threads {%s} per %s", rt.Startup, strings.Join(times, ", "), per)
}
