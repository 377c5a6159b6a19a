package cluster

import (
	"testing"
)

// Only the first resource that is short is named, in the order GPUs, cores, memory.
func TestLackOf(t *testing.T) {
	free := Room{Cores: 2, GPUs: 1, Memory: 8}
	for _, c := range []struct {
		need Room
		want string
	}{
		{Room{Cores: 2, GPUs: 1, Memory: 8}, ""},
		{Room{Cores: 3, GPUs: 2, Memory: 9}, "needs 2 GPUs, 1 are free"},
		{Room{Cores: 3, GPUs: 1, Memory: 9}, "needs 3 cores, 2 are free"},
		{Room{Cores: 1, Memory: 9}, "needs 9 bytes of memory, 8 are free"},
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
