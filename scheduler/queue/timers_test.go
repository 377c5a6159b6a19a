package queue

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestTimersComeUpInOrder takes timers out of a heap in the order of their instants and numbers.
func TestTimersComeUpInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var heap Timers
		var all []Timer
		for range rapid.IntRange(0, 40).Draw(t, "timers") {
			x := Timer{time.Duration(rapid.IntRange(0, 9).Draw(t, "at")), int32(rapid.IntRange(0, 9).Draw(t, "of"))}
			heap.Push(x)
			all = append(all, x)
		}
		at, due := time.Duration(rapid.IntRange(-1, 9).Draw(t, "until")), 0
		heap.Until(at, func(x Timer) {
			if due++; x.At > at {
				t.Fatalf("%v is after %d", x, at)
			}
		})
		slices.SortFunc(all, CompareTimers)
		if want := len(slices.DeleteFunc(slices.Clone(all), func(x Timer) bool { return x.At > at })); due != want {
			t.Fatalf("%d timers are due, want %d", due, want)
		}
		for _, want := range all {
			if heap[0] != want {
				t.Fatalf("%v comes up, want %v", heap[0], want)
			}
			heap.Pop()
		}
		if len(heap) != 0 {
			t.Fatalf("%d timers are left", len(heap))
		}
	})
}
