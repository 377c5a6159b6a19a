package describe

import (
	"crypto/sha256"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/tfexp/tfexp/experiments"
)

// speedUpText describes how a job speeds up, for keys.
func speedUpText(rt *experiments.Runtime) string {
	if rt.SpeedUp != nil {
		return "speed-up " + rt.SpeedUp.String()
	}
	return fmt.Sprintf("parallel %g", rt.Parallel)
}

// RuntimeText describes the run time that the file gives a job, for keys.
func RuntimeText(j *experiments.Job) string {
	text := timesText(j.Runtime)
	if a := j.Runtime.Accuracy; a != nil {
		text += fmt.Sprintf(", accuracy %g at its end", *a)
	}
	if l := j.Runtime.Loss; l != nil {
		text += fmt.Sprintf(", loss %g at its end", *l)
	}
	if j.TargetLoss > 0 {
		sum := sha256.Sum256(fmt.Append(nil, j.Runtime.Losses))
		text += fmt.Sprintf(", done at a loss of %g of sha256:%x", j.TargetLoss, sum[:8])
	}
	return text
}

func timesText(rt *experiments.Runtime) string {
	if e := rt.Elastic; e != nil {
		return fmt.Sprintf("startup %s, elastic: %s", rt.Startup, e.Source)
	}
	if c := rt.Cluster; c != nil {
		return fmt.Sprintf("startup %s, by its parts %+v on %q, regions %v", rt.Startup, c.Law, c.Device, c.Regions)
	}
	if rt.Threads == 0 {
		return fmt.Sprintf("startup %s, epoch %s, %s", rt.Startup, rt.Epoch, speedUpText(rt))
	}
	times := make([]string, len(rt.SpeedUp.Points))
	for i, p := range rt.SpeedUp.Points {
		times[i] = fmt.Sprintf("%d = %s", p.Threads, time.Duration(math.Round(1/p.Speed*1e9)))
	}
	per := "epoch"
	if rt.Whole {
		per = "job"
	}
	return fmt.Sprintf("startup %s, by threads {%s} per %s", rt.Startup, strings.Join(times, ", "), per)
}
