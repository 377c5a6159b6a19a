package simulated

import (
	"context"
	"testing"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// linear slows a job down by up to one half, if its neighbors hold all cores of the node.
func linear(_, others, cores int) float64 { return 1 + 0.5*float64(others)/float64(cores) }

func crowded(t *testing.T, nodes []int, work ...Scaling) *Engine {
	t.Helper()
	var c scheduler.Cluster
	for _, n := range nodes {
		c.Nodes = append(c.Nodes, scheduler.Node{Threads: n})
	}
	return newEngine(t, Options{Contention: &Contention{Slowdown: linear, Cluster: c}}, work...)
}

func span(lo, hi int32) scheduler.Grant {
	return scheduler.Grant{Cores: scheduler.CoreSet{{Lo: lo, Hi: hi}}}
}

const s = time.Second

// Four cores. Job a holds two for 10 s of work. Job b comes at 2 s with two
// cores and 4 s of work: both are slowed by 1 + 0.5 × 2/4 = 1.25.
//
//	cores 2-3     bbbbb
//	cores 0-1   aaaaaaaaaaa
//	            0 2    7  11
//
// b ends at 2 + 4 × 1.25 = 7; a has done 2 + 5 / 1.25 = 6 by then, and ends 4 s
// later, alone.
func TestNeighboursSlowEachOther(t *testing.T) {
	e := crowded(t, []int{4}, FullRequest(10*s, 2), FullRequest(4*s, 2))
	must(t, e.Start(0, span(0, 2)))
	until(t, e, 2*s, 2*s)
	must(t, e.Start(1, span(2, 4)))
	until(t, e, scheduler.Never, 7*s, 1)
	until(t, e, scheduler.Never, 11*s, 0)
}

// Pauses, resizes and stops of a neighbor change the speed at once. Job a has
// 20 s of work on one of eight cores; b works on four, then on two, pauses,
// and is stopped.
//
//	from 0   b holds 4: a at 1 / 1.25, 8 s of work by 10 s
//	from 10  b holds 2: a at 1 / 1.125, 8 s by 19 s
//	from 19  b is paused: a alone, 1 s by 20 s
//	from 20  b holds 4: a at 1 / 1.25, 2 s by 22.5 s
//	from 22.5 b is stopped: the last second ends at 23.5 s
func TestEveryChangeOfANeighbourCounts(t *testing.T) {
	e := crowded(t, []int{8}, FullRequest(20*s, 1), FullRequest(1000*s, 4))
	half := 500 * time.Millisecond
	must(t, e.Start(0, span(0, 1)))
	must(t, e.Start(1, span(1, 5)))
	until(t, e, 10*s, 10*s)
	must(t, e.Resize(1, span(1, 3)))
	until(t, e, 19*s, 19*s)
	must(t, e.Pause(1))
	until(t, e, 20*s, 20*s)
	must(t, e.Resume(1, span(1, 5)))
	until(t, e, 22*s+half, 22*s+half)
	must(t, e.Stop(1))
	now, ended, err := e.Next(context.Background(), scheduler.Never)
	must(t, err)
	if now != 22*s+half || len(ended) != 1 || ended[0].Job != 1 {
		t.Fatalf("at %s %v", now, ended)
	}
	until(t, e, scheduler.Never, 23*s+half, 0)
}

// A job on another node is no neighbor. A gang runs at the speed of its slowest node. Here c holds half of the cores of
// the second node.
func TestContentionIsByNode(t *testing.T) {
	e := crowded(t, []int{2, 4}, FullRequest(8*s, 2), FullRequest(8*s, 2), FullRequest(8*s, 2))
	must(t, e.Start(0, span(0, 2))) // alone on the first node
	must(t, e.Start(1, span(2, 4)))
	must(t, e.Start(2, span(4, 6)))
	until(t, e, scheduler.Never, 8*s, 0)
	until(t, e, scheduler.Never, 10*s, 1, 2)

	e = crowded(t, []int{2, 4}, FullRequest(8*s, 2), FullRequest(100*s, 2))
	must(t, e.Start(0, scheduler.Grant{Cores: scheduler.CoreSet{{Lo: 1, Hi: 3}}})) // one core on each node
	must(t, e.Start(1, span(3, 5)))
	until(t, e, scheduler.Never, 10*s, 0) // slowed by 1 + 0.5 × 2/4
}

// A job without neighbors runs at exactly its own speed, without rounding.
func TestAloneIsExact(t *testing.T) {
	const run = 1_000_000_007 * time.Nanosecond
	e := crowded(t, []int{4}, FullRequest(run, 3))
	must(t, e.Start(0, cores(3)))
	at := time.Duration(0)
	for range 1000 {
		at += 777_777
		until(t, e, at, at)
		must(t, e.Pause(0))
		at += 333_331
		until(t, e, at, at)
		must(t, e.Resume(0, cores(3)))
	}
	until(t, e, scheduler.Never, run+1000*333_331, 0)
}

// Jobs with equal holdings that began together end together, in order of number.
func TestAlikeJobsEndTogether(t *testing.T) {
	e := crowded(t, []int{4}, FullRequest(3*s, 1), FullRequest(3*s, 1), Scaling{}, FullRequest(3*s, 1))
	for i := range 4 {
		must(t, e.Start(i, span(int32(i), int32(i+1))))
	}
	until(t, e, scheduler.Never, 0, 2)
	until(t, e, scheduler.Never, 3*s+750*time.Millisecond, 0, 1, 3) // 1 + 0.5 × 2/4
}
