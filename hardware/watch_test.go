package hardware

import (
	"testing"
	"time"
)

// A watch tells the time in which the process was stopped from that in which
// the machine slept, and small delays from both.
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
