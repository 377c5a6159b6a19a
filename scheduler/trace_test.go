package scheduler

import (
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Only the first resource that is short is named: cores, then GPUs, then memory.
func TestLackOf(t *testing.T) {
	free := cluster.Room{Cores: 2, GPUs: 1, Memory: 8}
	for _, c := range []struct {
		need cluster.Room
		want string
	}{
		{cluster.Room{Cores: 2, GPUs: 1, Memory: 8}, ""},
		{cluster.Room{Cores: 3, GPUs: 2, Memory: 9}, "needs 3 cores, 2 are free"},
		{cluster.Room{Cores: 2, GPUs: 2, Memory: 9}, "needs 2 GPUs, 1 are free"},
		{cluster.Room{Cores: 1, Memory: 9}, "needs 9 bytes of memory, 8 are free"},
	} {
		l, ok := LackOf(c.need, free)
		if ok != (c.want != "") || ok && l.String() != c.want {
			t.Errorf("%+v: %q, %v", c.need, l, ok)
		}
	}
	if got := (Lack{What: "cores", Need: 4, Free: 1, Where: "on one node"}).String(); got != "needs 4 cores on one node, 1 are free" {
		t.Error(got)
	}
}

func TestWhere(t *testing.T) {
	for _, c := range []struct {
		nodes, count   int
		bound, divided bool
		want           string
	}{
		{1, 1, true, true, ""}, {2, 1, false, false, "on one node"}, {2, 2, false, false, "on each of 2 nodes"},
		{2, 2, true, true, "where it was paused"}, {2, 2, false, true, "where the policy places it"},
	} {
		if got := Where(c.nodes, c.count, c.bound, c.divided); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// The part of an attempt that was work begins when the program has gone on, and ends with the attempt.
func TestShareOfAnAttempt(t *testing.T) {
	a := Attempt{Ran: 10, Began: 2, Done: 7, Kept: 4}
	for at, want := range map[time.Duration]float64{0: 0, 2: 0, 3: 0.1, 10: 0.8, 12: 0.8} {
		if got := a.Share(at); got != want {
			t.Errorf("after %d: %g, want %g", at, got, want)
		}
	}
	if (Attempt{}).Share(5) != 0 || a.Lost() != 3 {
		t.Errorf("nothing has %g, and %d is lost", Attempt{}.Share(5), a.Lost())
	}
	var r Result
	for range 2 {
		r.Add(&Attempt{Checkpoints: 1, Restore: 2, Redone: 3})
	}
	if r.Checkpoints != 2 || r.Restore != 4 || r.LostWork != 6 {
		t.Errorf("%+v", r)
	}
}
