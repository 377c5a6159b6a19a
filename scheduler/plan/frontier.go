package plan

import (
	"time"

	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/queue"
)

// frontier says, by node, how long what is free now stays free.
type frontier []edge

// edge is the frontier of a node: how the least of what is free from now on falls as time goes on.
type edge struct {
	now                 scheduler.Room
	cores, gpus, memory []fall
}

// fall is an instant from which on no more than so much is sure to be free, counted from now.
type fall struct {
	at   time.Duration
	left int64
}

// frontierOf finds the frontier of a plan, in the memory of another one. Nobody starts without a
// core, so that of a node ends where none is free.
func frontierOf(p *Plan, old frontier) frontier {
	f := old[:0]
	for v, now := range p.Steps[0].free {
		f = append(f, edge{now: now})
		e := &f[v]
		if v < cap(old) {
			was := old[:cap(old)][v]
			e.cores, e.gpus, e.memory = was.cores[:0], was.gpus[:0], was.memory[:0]
		}
		cores, gpus, memory := now.Cores, now.GPUs, now.Memory
		for i := 1; i < len(p.Steps) && cores > 0; i++ {
			at, r := p.Steps[i].At, &p.Steps[i].free[v]
			if r.Cores < cores {
				cores = r.Cores
				e.cores = append(e.cores, fall{at, int64(cores)})
			}
			if r.GPUs < gpus {
				gpus = r.GPUs
				e.gpus = append(e.gpus, fall{at, int64(gpus)})
			}
			if r.Memory < memory {
				memory = r.Memory
				e.memory = append(e.memory, fall{at, memory})
			}
		}
	}
	return f
}

// limit leaves out the waiting jobs that can surely not start now and end within the frontier. last is
// the instant from which on no node has a free core.
func (f frontier) limit(now time.Duration) (within queue.Limit, last time.Duration) {
	for v := range f {
		e := &f[v]
		end := below(e.cores, 1)
		if e.now.Cores < 1 {
			end = now
		} else if n := len(e.cores); n == 0 {
			within.Spare = max(within.Spare, e.now.Cores)
		} else {
			within.Spare = max(within.Spare, int32(e.cores[n-1].left))
		}
		within.Free, last = max(within.Free, e.now.Cores), max(last, end)
	}
	within.Window = scheduler.Never
	if last < scheduler.Never {
		within.Window = last - now
	}
	return within, last
}

// until returns the first instant at which the node lacks what is needed; 0 when it does now, and
// scheduler.Never when it never will.
func (e *edge) until(need scheduler.Room) time.Duration {
	if !e.now.Holds(need) {
		return 0
	}
	return min(below(e.cores, int64(need.Cores)), below(e.gpus, int64(need.GPUs)), below(e.memory, need.Memory))
}

// below returns the instant of the first fall that leaves less than is needed.
func below(falls []fall, need int64) time.Duration {
	lo, hi := 0, len(falls)
	for lo < hi {
		if mid := (lo + hi) / 2; falls[mid].left < need {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	if lo == len(falls) {
		return scheduler.Never
	}
	return falls[lo].at
}
