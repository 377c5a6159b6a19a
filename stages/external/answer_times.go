package external

import (
	"time"
)

// answerTimes adds up the time in which the program answered.
type answerTimes struct {
	asked int
	sum   time.Duration
}

func (s *answerTimes) add(d time.Duration) { s.asked, s.sum = s.asked+1, s.sum+d }

// mean returns the mean time of an answer, in microseconds.
func (s *answerTimes) mean() float64 {
	return float64(s.sum.Nanoseconds()) / 1e3 / float64(max(s.asked, 1))
}
