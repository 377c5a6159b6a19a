package hardware

import (
	"testing"
	"time"
)

// Where a process may use two cores, an exchange takes between some nanoseconds and some microseconds.
func TestWatchExchange(t *testing.T) {
	var none *ExchangeWatch
	if none.End() != 0 {
		t.Error("nothing was measured, and has a time")
	}
	w := WatchCoreLatency()
	if w == nil {
		t.Skip("this process may use one core")
	}
	for range 20 { // others may keep one of the two cores busy for some time
		time.Sleep(100 * time.Millisecond)
		if s := w.End(); s > 0 {
			if s < 5e-9 || s > 1e-3 {
				t.Errorf("an exchange took %g s", s)
			}
			return
		}
		w = WatchCoreLatency()
	}
	t.Skip("the two cores never ran at the same time")
}
