package live

import (
	"fmt"
	"time"
)

// Duration formats d for people: "40 ms", "0.4 s", "12 s", "3 min 05 s", "2 h 10 min".
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

// Left describes the remaining time: "about 3 min left (2 min to 5 min)". It omits a narrow range.
func Left(left, least, most time.Duration) string {
	text := "about " + Rough(left) + " left"
	if from, to := Rough(least), Rough(most); float64(most) > narrow*float64(least) && least > 0 && from != to {
		text += " (" + from + " to " + to + ")"
	}
	return text
}

// narrow is the ratio of most to least below which Left omits the range.
const narrow = 1.3

// TimeLeft works as Left, with times in seconds. If between is nil, it omits the range.
func TimeLeft(left *float64, between *[2]float64) string {
	if between == nil {
		between = &[2]float64{}
	}
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	return Left(seconds(*left), seconds(between[0]), seconds(between[1]))
}

// Rough formats a predicted time with few digits: "8 s", "40 s", "5 min", "2 h 10 min".
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
