package hardware

import (
	"math"
	"testing"
	"time"
)

// Of four cores that are busy for two seconds, two jobs use one and a half, and this process a quarter.
func TestToldLoad(t *testing.T) {
	var used, own float64
	l := newToldLoad(time.Second, func() (float64, float64) { return used, own })
	if got := l.Others(); got != UnknownLoad {
		t.Errorf("of nothing: %g", got)
	}
	used = 50 // before the first word: a container that is made
	l.Add("a", time.Second, 9)
	l.Add("b", time.Second, 9)
	if got := l.Others(); got != UnknownLoad {
		t.Errorf("at one instant: %g", got)
	}
	used, own = 54, 0.25
	l.Add("a", 2*time.Second, 1)
	l.Add("b", 2*time.Second, 0.5)
	used, own = 58, 0.5
	l.Add("a", 3*time.Second, 1)
	l.Add("b", 3*time.Second, 0.5)
	if got := l.Others(); math.Abs(got-2.25) > 1e-9 {
		t.Errorf("others used %g cores, want 2.25", got)
	}
	used = 0 // clocks that went back
	l.Add("a", 4*time.Second, 1)
	if got := l.Others(); got != 0 {
		t.Errorf("less than nothing: %g", got)
	}
	used = math.NaN()
	l.Add("a", 5*time.Second, 1)
	if got := l.Others(); got != UnknownLoad {
		t.Errorf("of an unknown load: %g", got)
	}
	short := newToldLoad(time.Second, func() (float64, float64) { return 0, 0 })
	short.Add("a", 0, 1)
	short.Add("a", time.Second-1, 1)
	if got := short.Others(); got != UnknownLoad {
		t.Errorf("of less than a second: %g", got)
	}
}
