package hardware

import (
	"math"
	"testing"
	"time"
)

// A watch distinguishes times when the process was stopped from times when the
// machine slept, and small delays from both.
func TestWatchFindsGaps(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name         string
		running, all time.Duration // between two looks
		want         Gaps
	}{
		{"on time", 100 * ms, 100 * ms, Gaps{}},
		{"a little late", 340 * ms, 340 * ms, Gaps{}},
		{"clocks that differ a little", 100 * ms, 150 * ms, Gaps{}},
		{"stopped", 5100 * ms, 5100 * ms, Gaps{Stopped: 5000 * ms}},
		{"asleep", 100 * ms, 60100 * ms, Gaps{Suspended: 60000 * ms}},
		{"both", 1100 * ms, 3100 * ms, Gaps{Stopped: 1000 * ms, Suspended: 2000 * ms}},
	} {
		now := clocks{running: time.Hour, all: 2 * time.Hour}
		w := &Watch{now: func() clocks { return now }, last: now}
		now.running, now.all = now.running+c.running, now.all+c.all
		w.look()
		if w.gaps != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, w.gaps, c.want)
		}
	}
	g := Gaps{Stopped: time.Second, Suspended: 2 * time.Second}
	if !g.Any() || g.Total() != 3*time.Second || (Gaps{}).Any() {
		t.Errorf("%+v", g)
	}
	want := "the machine was suspended for 2.0 s, and tfexp could not run for 1.0 s (it was stopped, or the machine was " +
		"overloaded)"
	if g.String() != want {
		t.Errorf("got %q", g)
	}
}

func TestWatchEndsTwice(t *testing.T) {
	w := NewWatch()
	if first, again := w.End(), w.End(); first.Suspended > 0 || again.Suspended > 0 {
		t.Errorf("%v, then %v", first, again)
	}
}

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
