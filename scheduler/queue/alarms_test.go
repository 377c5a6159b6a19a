package queue

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Alarms are compared with a plain list of timers.
func TestAlarmsComeUpInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var alarms Alarms
		var all []Timer
		late := time.Duration(0)
		given := map[int32]bool{} // jobs whose timers no longer count
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

// A timer for the current instant is taken in the order of job numbers, and is not put into the heap. A timer for an
// earlier instant than the last one is.
func TestAlarmsOfOneInstant(t *testing.T) {
	all := func(Timer) bool { return true }
	var a Alarms
	var got []int32
	take := func() { got = append(got, a.Take(all).Of) }
	for _, of := range []int32{5, 9, 7} {
		a.Set(Timer{1, of})
	}
	take()
	a.Set(Timer{1, 6})
	take()
	a.Set(Timer{2, 1})
	if len(a.others) > 0 {
		t.Errorf("%v were not set last", a.others)
	}
	a.Set(Timer{1, 8})
	if len(a.others) != 1 {
		t.Errorf("%v were set for an instant before another, want one", a.others)
	}
	for range 4 {
		take()
	}
	if want := []int32{5, 6, 7, 8, 9, 1}; !slices.Equal(got, want) || a.Next(all) != never {
		t.Errorf("taken are %v, want %v", got, want)
	}
}

// The row of alarms reuses its memory. It stays a few times as long as the number of timers that count at the same
// time.
func TestAlarmsUseTheirRowAgain(t *testing.T) {
	all := func(Timer) bool { return true }
	var a Alarms
	for i := range time.Duration(2000) {
		a.Set(Timer{i, 0})
		if i >= 3 {
			if x := a.Take(all); x.At != i-3 {
				t.Fatalf("taken is %v at %d", x, i)
			}
		}
	}
	if cap(a.row) > 16 {
		t.Errorf("a row of %d for four alarms", cap(a.row))
	}
}
