package realise

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments"
	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/pipeline/realise/program"
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
func runtimeText(j *experiments.Job) string {
	text := timesText(j.Runtime)
	if j.TargetLoss > 0 {
		sum := sha256.Sum256(fmt.Append(nil, j.Runtime.Losses))
		text += fmt.Sprintf(", done at a loss of %g of sha256:%x", j.TargetLoss, sum[:8])
	}
	return text
}

func timesText(rt *experiments.Runtime) string {
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
