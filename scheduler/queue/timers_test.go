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
		slices.SortFunc(all, CompareTimers)
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
