package scheduler

import (
	"testing"
	"time"
)

// Within an attempt, work begins when the program has resumed, and ends with the attempt.
func TestShareOfAnAttempt(t *testing.T) {
	a := Attempt{Ran: 10, Began: 2, Done: 7, Kept: 4}
	for at, want := range map[time.Duration]float64{0: 0, 2: 0, 3: 0.1, 10: 0.8, 12: 0.8} {
		if got := a.Share(at); got != want {
			t.Errorf("after %d: %g, want %g", at, got, want)
		}
	}
	if (Attempt{}).Share(5) != 0 || a.Lost() != 3 {
		t.Errorf("nothing has %g, and %d is lost", Attempt{}.Share(5), a.Lost())
	}
	var r Result
	for range 2 {
		r.Add(&Attempt{Checkpoints: 1, Restore: 2, Redone: 3})
	}
	if r.Checkpoints != 2 || r.Restore != 4 || r.LostWork != 6 {
		t.Errorf("%+v", r)
	}
}
