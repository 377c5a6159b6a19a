package queue

import (
	"testing"
	"time"
)

// Without Fixed, a round begins when the last one is over or nothing runs in it any more.
func TestRoundsFollowEachOther(t *testing.T) {
	var r Rounds
	if r.Next(5, true, true) != never || !r.Starts(true) {
		t.Error("before the first round, and without a length")
	}
	r.Length = 10
	if r.Next(5, true, true) != never || !r.Starts(true) {
		t.Error("before the first round")
	}
	r.Begin(5)
	for _, c := range []struct {
		runs, waits bool
		next        time.Duration
		starts      bool
	}{{true, false, 15, false}, {true, true, 15, false}, {false, true, never, true}, {false, false, never, true}} {
		if got := r.Next(7, c.runs, c.waits); got != c.next || r.Starts(c.runs) != c.starts {
			t.Errorf("%+v: next %d, starts %v", c, got, r.Starts(c.runs))
		}
	}
	if r.Over(); r.Next(15, true, true) != never || !r.Starts(true) {
		t.Error("after its end no round starts")
	}
}

// With Fixed, rounds begin at multiples of their length, while jobs run or wait.
func TestFixedRounds(t *testing.T) {
	r := Rounds{Length: 10, Fixed: true}
	for _, c := range []struct {
		now         time.Duration
		runs, waits bool
		want        time.Duration
	}{{0, false, true, 0}, {1, true, false, 10}, {10, true, true, 10}, {11, false, true, 20}, {3, false, false, never}} {
		if got := r.Next(c.now, c.runs, c.waits); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
	if r.Starts(false) || r.Starts(true) {
		t.Error("a fixed round starts before its instant")
	}
	if r.Over(); !r.Starts(true) || r.Next(10, true, true) != never {
		t.Error("at its instant it does not start")
	}
	r.Begin(20)
	if r.Starts(true) {
		t.Error("a round that has begun starts again")
	}
	for now, want := range map[time.Duration]time.Duration{20: 30, 19: 30, 29: 30, 30: 30, 31: 40} {
		if got := r.Next(now, true, false); got != want {
			t.Errorf("at %d the next one is at %d, want %d", now, got, want)
		}
	}
}

// Keys are ordered by rank, then by the second value, then by number.
func TestKeysAreOrdered(t *testing.T) {
	keys := []Key{Front, {-1, 5, 3}, {0, 1, 2}, {0, 1, 4}, {0, 2, 1}, {1, 0, 0}}
	for i, a := range keys {
		for k, b := range keys {
			want := 0
			switch {
			case i < k:
				want = -1
			case i > k:
				want = 1
			}
			if got := a.Compare(b); got != want || a.Less(b) != (want < 0) {
				t.Errorf("%v and %v: %d", a, b, got)
			}
		}
	}
}
