package plan

import (
	"math/bits"
	"time"

	"github.com/tfexp/tfexp/scheduler"
)

// gap is the room freed in a plan since an instant. It decides which jobs may start earlier, and excludes only jobs
// that surely cannot.
type gap struct {
	some bool   // a job that ended before it was predicted to, or moved, has left room
	on   []bool // nodes on which something has become free
	of   [32]hole
}

// hole is a time span in which, on some node, at least 2^i cores are free continuously and some of them were freed. It
// has the first and last instant, and the greatest length.
type hole struct {
	stretch
	longest time.Duration
}

// stretch is a stretch of time.
type stretch struct{ from, to time.Duration }

// add records that a stretch of a node has become free.
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

// mayTake reports whether a reservation may move earlier into the room of this gap or another one, and the time span of
// its possible starts.
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
