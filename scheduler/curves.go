package scheduler

import (
	"math"
	"time"
)

// Curves is the outlook in which each job has a speed by the number of its cores. What is done is
// run time on the full request.
type SpeedCurves struct {
	// Speed returns how fast a job is on so many cores, in any unit of its own; above 0.
	Speed func(job *Job, cores int) float64
}

// Done implements Outlook.
func (c SpeedCurves) Done(job *Job, a Allotment, stretch time.Duration) time.Duration {
	return scaled(stretch, c.Speed(job, int(a.Cores)), c.Speed(job, job.Threads))
}

// Past implements Outlook.
func (SpeedCurves) Past(_ *Job, done time.Duration) time.Duration { return done }

// Predict implements Outlook.
func (c SpeedCurves) Predict(job *Job, left time.Duration, a Allotment) time.Duration {
	return scaled(left, c.Speed(job, job.Threads), c.Speed(job, int(a.Cores)))
}

// scaled returns d times a ratio, and stops at the greatest duration.
func scaled(d time.Duration, by, of float64) time.Duration {
	if by == of || d == never {
		return d
	}
	if t := math.Round(float64(d) * by / of); t < float64(never) {
		return time.Duration(t)
	}
	return never
}
