package measure

import (
	"math"

	"github.com/tfexp/tfexp/results/table"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/cluster"
)

// gpus records who holds the GPUs of a cluster: which GPUs two jobs share, and which are free on nodes where no job
// of the workload fits.
type gpus struct {
	asks    []cluster.Room // the different requests of jobs to one node, including GPUs
	weights []int64        // number of jobs with each request
	jobs    int64          // number of jobs that request GPUs
	free    []cluster.Room // free resources by node
	holders []uint8        // number of holders by GPU
	nodes   []int32        // node of each core
	onGPU   []int32        // node of each GPU
	held    map[int]held
	at      table.Micros

	shared int   // GPUs that two jobs hold now
	lost   int   // free GPUs on nodes where no job of the workload fits
	missed int64 // sum over jobs of the free GPUs on nodes where the job does not fit

	sharedTime, lostTime, missedTime int64 // integrals over time, in microseconds
	byNode                           []unfit
}

// held is the allotment of a job.
type held struct{ cores, gpus scheduler.CoreSet }

// unfit is the current part of a node in lost and missed.
type unfit struct {
	lost   int
	missed int64
}

// newGPUs returns nil if no job of the workload requests GPUs, or if nodes come and go.
func newGPUs(s *Setup) *gpus {
	if s.Cluster.Changes() {
		return nil
	}
	m := cluster.NewMachine(s.Cluster)
	g := &gpus{free: m.Free, held: map[int]held{}, at: table.Micros(math.MaxInt64), byNode: make([]unfit, len(m.Free))}
	known := map[cluster.Room]int{}
	for i := range s.Jobs {
		g.at = min(g.at, table.ToMicros(s.Jobs[i].Arrival))
		if s.Jobs[i].GPUs == 0 && len(s.Jobs[i].Alternatives()) == 0 {
			continue
		}
		seen := map[int]bool{}
		for _, ask := range asksOf(&s.Jobs[i], m) {
			k, ok := known[ask]
			if !ok {
				k = len(g.asks)
				known[ask], g.asks, g.weights = k, append(g.asks, ask), append(g.weights, 0)
			}
			if !seen[k] {
				seen[k] = true
				g.weights[k]++
			}
		}
		if len(seen) > 0 {
			g.jobs++
		}
	}
	if g.jobs == 0 {
		return nil
	}
	for v, n := range s.Cluster.Nodes {
		for range n.Threads {
			g.nodes = append(g.nodes, int32(v))
		}
		for range n.GPUs {
			g.onGPU = append(g.onGPU, int32(v))
		}
	}
	g.holders = make([]uint8, len(g.onGPU))
	for v := range g.free {
		g.look(int32(v))
	}
	return g
}

// asksOf returns the resources that a job needs on one node with GPUs, for each alternative. This is one unit if the
// job can be divided, and one GPU if it is elastic.
func asksOf(j *scheduler.Job, m *cluster.Machine) []cluster.Room {
	var asks []cluster.Room
	add := func(j scheduler.Job, gpu string) {
		if j.GPUs == 0 {
			return
		}
		if j.Elastic {
			j.Threads, j.GPUs = max(j.Threads/j.GPUs, 1), 1
		}
		need, _ := j.Needs(int32(j.Threads))
		kind := m.KindOf(gpu)
		if need.GPUs > 0 && kind >= 0 {
			asks = append(asks, cluster.Room{Cores: need.Cores, GPUs: need.GPUs, Kind: kind})
		}
	}
	if len(j.Alternatives()) == 0 {
		add(*j, "")
	}
	for _, a := range j.Alternatives() {
		one := j.WithAlternative(a)
		add(one, a.GPU)
	}
	return asks
}

// change records the allotment of a job from a time on.
func (g *gpus) change(job int, now held, at table.Micros) {
	span := int64(at - g.at)
	g.at = at
	g.sharedTime = plus(g.sharedTime, times(span, int64(g.shared)))
	g.lostTime = plus(g.lostTime, times(span, int64(g.lost)))
	g.missedTime = plus(g.missedTime, times(span, g.missed))
	before := g.held[job]
	g.count(before, -1)
	g.count(now, 1)
	if g.held[job] = now; now.cores == nil {
		delete(g.held, job)
	}
}

// count adds the allotment of a job, or subtracts it.
func (g *gpus) count(h held, sign int) {
	last := int32(-1)
	h.cores.Each(func(c int) {
		v := g.nodes[c]
		if g.free[v].Cores -= int32(sign); v != last && last >= 0 {
			g.look(last)
		}
		last = v
	})
	h.gpus.Each(func(n int) {
		before := g.holders[n]
		g.holders[n] += uint8(sign)
		switch after := g.holders[n]; {
		case before+after == 1: // from or to zero jobs
			g.free[g.onGPU[n]].GPUs -= int32(sign)
		case before+after == 3: // from or to two
			g.shared += sign
		}
		if v := g.onGPU[n]; v != last {
			if last >= 0 {
				g.look(last)
			}
			last = v
		}
	})
	if last >= 0 {
		g.look(last)
	}
}

// look counts the free GPUs of a node that no job of the workload can use.
func (g *gpus) look(v int32) {
	now, fits := unfit{}, false
	if free := g.free[v]; free.GPUs > 0 {
		fitting := int64(0)
		for k, ask := range g.asks {
			if free.Holds(ask) {
				fits = true
				fitting += g.weights[k]
			}
		}
		if now.missed = int64(free.GPUs) * max(g.jobs-fitting, 0); !fits {
			now.lost = int(free.GPUs)
		}
	}
	old := g.byNode[v]
	g.byNode[v] = now
	g.lost += now.lost - old.lost
	g.missed += now.missed - old.missed
}
