package scheduler

import (
	"math"
	"testing"
	"time"
)

// Sums and products are exact up to the greatest duration, and never exceed it.
func TestTimesStopAtTheGreatest(t *testing.T) {
	for _, c := range []struct {
		d     time.Duration
		cores int
		want  time.Duration
	}{{7, 3, 21}, {7, 0, 0}, {never, 1, never}, {never/2 + 1, 2, never}, {never / 2, 2, never - 1}, {never / 3, 3, never / 3 * 3}, {0, 5, 0},
		{-7, 3, -21}, {7, -3, -21}, {-never, 1, -never}, {1 << 62, 4, never}, {1 << 40, 1 << 30, never}} {
		if got := CoreTime(c.d, c.cores); got != c.want {
			t.Errorf("%d times %d is %d, want %d", c.d, c.cores, got, c.want)
		}
	}
	for _, c := range [][3]time.Duration{{1, 2, 3}, {never, 0, never}, {never, 1, never}, {never - 1, 1, never}, {never - 2, 1, never - 1}} {
		if got := Plus(c[0], c[1]); got != c[2] {
			t.Errorf("%d and %d are %d, want %d", c[0], c[1], got, c[2])
		}
	}
}

// Jobs progress in proportion to their cores.
func TestProportional(t *testing.T) {
	j := &Job{Threads: 4}
	var p Proportional
	for cores, want := range map[int]time.Duration{4: 100, 2: 200, 8: 50, 3: 133} {
		if got := p.Predict(j, 100, cores); got != want {
			t.Errorf("100 are %d on %d cores, want %d", got, cores, want)
		}
	}
	if got := p.Predict(j, math.MaxInt64/2, 2); got != never {
		t.Errorf("longer than can be said is %d", got)
	}
	if done := p.Done(j, 2, 30); p.Past(j, done) != 15 {
		t.Errorf("30 on half the cores stand for %d", p.Past(j, done))
	}
}

// With progress by cores, the completed work is the core time without the core time of failed attempts. Otherwise it is
// the sum of the reported progress.
func TestAccounts(t *testing.T) {
	const hour = time.Hour
	cores := newProgressAccount(Proportional{}, 2)
	if cores.Done(1, 5*hour) != 5*hour || cores.Base(1) != 0 {
		t.Error("a job whose attempts have not failed has done other than its core time")
	}
	cores.Set(1, 2*hour, hour, 5*hour)
	if d := cores.Done(1, 6*hour); d != 3*hour {
		t.Errorf("an hour after it had done two, a job has done %s", d)
	}
	if cores.Base(1) != hour || cores.Base(0) != 0 || cores.Done(0, hour) != hour {
		t.Errorf("the account of another job has changed: %s, %s", cores.Base(1), cores.Base(0))
	}
	other := newProgressAccount(SpeedCurves{}, 2)
	other.Add(0, hour)
	other.Add(0, hour)
	if d := other.Done(0, 9*hour); d != 2*hour || other.ByCores() {
		t.Errorf("after two stretches of an hour it has done %s", d)
	}
	if other.Set(0, 3*hour, 0, 9*hour); other.Done(0, 9*hour) != 3*hour {
		t.Error("what a job has done is not what it was set to")
	}
}
