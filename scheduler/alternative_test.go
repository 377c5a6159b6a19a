package scheduler

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler/cluster"
)

// Converted to another alternative, the remaining time is the same fraction of the whole time.
func TestConvert(t *testing.T) {
	for _, c := range []struct{ left, from, to, want time.Duration }{
		{30, 100, 200, 60}, {25, 100, 10, 3}, {100, 100, 7, 7}, // 2.5 is rounded up
		{50, 0, 80, 80}, {50, 100, 0, math.MaxInt64}, {0, 0, 0, math.MaxInt64}, {math.MaxInt64, 5, 9, math.MaxInt64}, {0, 10, 20, 0},
	} {
		if got := convertRemaining(c.left, c.from, c.to); got != c.want {
			t.Errorf("%d of %d is %d of %d, want %d", c.left, c.from, got, c.to, c.want)
		}
	}
}

// The fastest alternative has the shortest prediction. Of equal ones the first counts. Alternatives without a
// prediction come last.
func TestFastest(t *testing.T) {
	j := &Job{}
	for _, d := range []time.Duration{0, 5, 3, 3, 0} {
		j.Own().Alternatives = append(j.Alternatives(), Alternative{Predicted: d})
	}
	for _, c := range []struct {
		among []int32
		want  int32
	}{{[]int32{0, 1, 2, 3, 4}, 2}, {[]int32{0, 4}, 0}, {[]int32{4, 0}, 4}, {[]int32{1, 0}, 1}, {[]int32{0, 1}, 1}, {[]int32{3, 2}, 3}} {
		if got := fastest(j, c.among); got != c.want {
			t.Errorf("of %v the fastest is %d, want %d", c.among, got, c.want)
		}
	}
}

// A run without alternatives keeps no records. Otherwise the records have the alternatives that fit on the cluster, and
// the current one of each job.
func TestSet(t *testing.T) {
	c := cluster.Cluster{Nodes: []cluster.Node{{Threads: 4, GPUs: 1}}}
	plain := newChosenAlternatives([]Job{{Threads: 1}}, c)
	plain.Runs(0, 1)
	plain.Takes(0, 5)
	if _, ok := plain.Memory(0); plain.Any() || !slices.Equal(plain.Possible(0), only) || plain.Kind(0) != 0 || ok {
		t.Error("a run without alternatives has some")
	}
	s := newChosenAlternatives([]Job{{Threads: 1}, {Threads: 1, Special: &Special{Alternatives: []Alternative{{Threads: 8}, {Threads: 4}, {Threads: 1, GPUs: 2},
		{Threads: 1, GPUs: 1}}}}}, c)
	if !s.Any() || !slices.Equal(s.Possible(0), only) || !slices.Equal(s.Possible(1), []int32{1, 3}) {
		t.Errorf("possible: %v and %v", s.Possible(0), s.Possible(1))
	}
	s.Runs(1, 3)
	s.SetKind(1, 2)
	s.Takes(1, 7)
	if m, ok := s.Memory(1); s.Ran(1) != 3 || s.Kind(1) != 2 || m != 7 || !ok || s.Kind(0) != 0 {
		t.Errorf("%+v", s)
	}
}
