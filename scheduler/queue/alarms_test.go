package queue

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Alarms are a list of timers, of which the first that counts comes up.
func TestAlarmsComeUpInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var alarms Alarms
		var all []Timer
		late := time.Duration(0)
		given := map[int32]bool{} // the jobs whose timers do not count
		counts := func(x Timer) bool { return !given[x.Of] }
		t.Repeat(map[string]func(*rapid.T){
			"late": func(t *rapid.T) {
				late += time.Duration(rapid.IntRange(0, 1).Draw(t, "after"))
				for range rapid.IntRange(1, 5).Draw(t, "timers") {
					x := Timer{late, int32(len(all))}
					if rapid.Bool().Draw(t, "first") {
						x.Of = -x.Of
					}
					alarms.Set(x)
					all = append(all, x)
				}
			},
			"any": func(t *rapid.T) {
				x := Timer{time.Duration(rapid.IntRange(0, 9).Draw(t, "at")), int32(1000 + len(all))}
				late = max(late, x.At)
				alarms.Set(x)
				all = append(all, x)
			},
			"give up": func(t *rapid.T) {
				if len(all) > 0 {
					given[all[rapid.IntRange(0, len(all)-1).Draw(t, "timer")].Of] = true
				}
			},
			"take": func(t *rapid.T) {
				if len(given) == len(all) {
					t.Skip("none counts")
				}
				alarms.Next(counts)
				x := alarms.Take(counts)
				given[x.Of] = true
				for _, y := range all {
					if !given[y.Of] && y.Before(x) {
						t.Fatalf("%v is taken before %v", x, y)
					}
				}
				if !slices.Contains(all, x) {
					t.Fatalf("%v was never set", x)
				}
			},
			"": func(t *rapid.T) {
				want := never
				for _, x := range all {
					if counts(x) {
						want = min(want, x.At)
					}
				}
				if at := alarms.Next(counts); at != want {
					t.Fatalf("the next is at %d, want %d", at, want)
				}
			},
		})
	})
}
