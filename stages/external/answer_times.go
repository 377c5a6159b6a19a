package external

import (
	"time"
)

// answerTimes is the total time of the program for its answers.
type answerTimes struct {
	asked int
	sum   time.Duration
}

func (s *answerTimes) add(d time.Duration) { s.asked, s.sum = s.asked+1, s.sum+d }

// mean is that for an answer, in microseconds.
func (s *answerTimes) mean() float64 {
	return float64(s.sum.Nanoseconds()) / 1e3 / float64(max(s.asked, 1))
}
