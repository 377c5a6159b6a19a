package plan

import (
	"math/bits"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// gap is what has become free in a plan since an instant: which jobs may start earlier by that. It leaves out those that
// surely cannot.
type gap struct {
	some bool   // a job that ended before it was predicted to, or moved, has left room
	on   []bool // nodes on which something has become free
	of   [32]hole
}

// hole is where, on some node, at least 2^i cores are free in a row that has something of what has become free: between
// which instants, and for how long at most.
type hole struct {
	stretch
	longest time.Duration
}

// stretch is a stretch of time.
type stretch struct{ from, to time.Duration }

// add notes that a stretch of a node has become free.
func (g *gap) add(p *profile, node int32, freed stretch) {
	g.on[node] = true
	most := p.mostCores(freed)
	for i := 0; most>>i > 0; i++ {
		run := p.reach(freed, 1<<i)
		h := &g.of[i]
		if h.longest == 0 {
			h.from = run.from
		}
		h.stretch = stretch{min(h.from, run.from), max(h.to, run.to)}
		h.longest = max(h.longest, run.to-run.from)
	}
}

// mayTake reports whether a reservation may move earlier by what has become free in this gap or another one, and within
// which stretch of time its start can be.
func (g *gap) mayTake(other *gap, k *booking, cores int32, length time.Duration) (starts stretch, ok bool) {
	starts.from = scheduler.Never
	level := max(bits.Len32(uint32(cores))-1, 0)
	for _, h := range []*hole{&g.of[level], &other.of[level]} {
		if h.longest > 0 && k.at > h.from && (length <= h.longest || k.at <= h.to) {
			starts, ok = stretch{min(starts.from, h.from), max(starts.to, min(h.to, k.at))}, true
		}
	}
	return starts, ok
}
