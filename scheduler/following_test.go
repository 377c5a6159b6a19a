package scheduler

import (
	"slices"
	"testing"
	"time"
)

// Times on the same number of cores are merged, and entries without time are dropped.
func TestSeenAdds(t *testing.T) {
	var s seenUnits
	for _, h := range []Held{{0, 1}, {3, 1}, {2, 1}, {0, 2}, {-1, 1}, {4, 2}, {-1, 3}, {1, 1}} {
		s.Add(h.Time, h.Cores)
	}
	if want := []Held{{5, 1}, {4, 2}, {1, 1}}; !slices.Equal(s.Held, want) {
		t.Errorf("held %v, want %v", s.Held, want)
	}
}

// A job requests 2 cores. Its speeds are 1, 1.5 and 1.8 on 1, 2 and 3 cores. So 12 s on two cores are 18 s on one core
// and 10 s on three.
func TestCurves(t *testing.T) {
	speeds := []float64{1, 1.5, 1.8}
	c := SpeedCurves{func(_ *Job, cores int) float64 { return speeds[cores-1] }}
	j := &Job{Threads: 2}
	for cores, want := range map[int]time.Duration{1: 18 * time.Second, 2: 12 * time.Second, 3: 10 * time.Second} {
		if got := c.Predict(j, 12*time.Second, cores); got != want {
			t.Errorf("on %d cores it takes %s, want %s", cores, got, want)
		}
		if got := c.Past(j, c.Done(j, cores, want)); got != 12*time.Second {
			t.Errorf("%s on %d cores count for %s, want 12 s", want, cores, got)
		}
	}
	if got := c.Predict(j, never, 1); got != never {
		t.Errorf("never on one core is %s", got)
	}
	if got := c.Predict(j, never, 3); got != never {
		t.Errorf("never on three cores is %s", got)
	}
	double := SpeedCurves{func(_ *Job, cores int) float64 { return float64(cores) }}
	if got := double.Predict(j, 1<<62, 1); got != never {
		t.Errorf("twice a half of the greatest is %s", got)
	}
	if got := c.Predict(j, never-1, 1); got != never {
		t.Errorf("nearly never on one core is %s", got)
	}
}
