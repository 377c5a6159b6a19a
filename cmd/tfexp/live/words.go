package live

import (
	"fmt"
	"math"
	"time"

	"github.com/tfexp/tfexp/results/record"
)

// ProgressJobs counts the jobs of a cell by state.
func ProgressJobs(s *record.CellProgress) string {
	t := fmt.Sprintf("%d/%d jobs done", s.Done, s.Jobs)
	for _, part := range []struct {
		n    int
		what string
	}{{s.Running, "running"}, {s.Waiting, "waiting"}, {s.Failed, "failed"}} {
		if part.n > 0 {
			t += fmt.Sprintf(", %d %s", part.n, part.what)
		}
	}
	return t
}

// ProgressSimulated shows the instant that a simulated cell has reached in its own time, in seconds.
func ProgressSimulated(at float64) string {
	return "at " + ProgressSpan(time.Duration(at*float64(time.Second))) + " of its time"
}

// ProgressStanding describes the state of a running cell: "3/10 jobs done, 2 running, 1 waiting, at 12 min 05 s of
// its time".
func ProgressStanding(s *record.CellProgress, virtual bool) string {
	text := ProgressJobs(s)
	if virtual && s.At < math.MaxInt64/float64(time.Second) {
		text += ", " + ProgressSimulated(s.At)
	}
	return text
}

// Duration writes d for people: "40 ms", "0.4 s", "12 s", "3 min 05 s", "2 h 10 min".
func Duration(d time.Duration) string {
	switch {
	case d > 0 && d < 100*time.Millisecond:
		return fmt.Sprintf("%d ms", (d + time.Millisecond - 1).Milliseconds())
	case d < 10*time.Second && d%time.Second != 0:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < time.Hour:
		d = d.Round(time.Second)
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	d = d.Round(time.Minute)
	return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
}

// ProgressSpan writes a time that may be long: as Duration, from two days on "3 d 04 h".
func ProgressSpan(d time.Duration) string {
	const day = 24 * time.Hour
	if d < 2*day {
		return Duration(d)
	}
	d = d.Truncate(time.Hour)
	return fmt.Sprintf("%d d %02d h", d/day, d%day/time.Hour)
}

// Rough writes a prediction without more digits than it deserves: "8 s",
// "40 s", "5 min", "2 h 10 min".
func Rough(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return fmt.Sprintf("%d s", int((d+time.Second-1)/time.Second))
	case d < 57*time.Second:
		return fmt.Sprintf("%d s", int(d.Round(5*time.Second)/time.Second))
	case d < 10*time.Minute:
		d = d.Round(10 * time.Second)
		if d%time.Minute == 0 {
			return fmt.Sprintf("%d min", int(d.Minutes()))
		}
		return fmt.Sprintf("%d min %02d s", int(d.Minutes()), int(d.Seconds())%60)
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Round(time.Minute).Minutes()))
	}
	return Duration(d)
}
