package scheduler

import (
	"math"
	"math/bits"
	"slices"
)

// Room is what is free on a node, or what a job needs of one.
type Room struct {
	Cores, GPUs int32
	Memory      int64
	Kind        int32 // of GPU, see MachineView.Kind; in a need 0 stands for any
}

// Holds reports whether there is room for what is needed.
func (r Room) Holds(need Room) bool {
	return need.Cores <= r.Cores && need.GPUs <= r.GPUs && need.Memory <= r.Memory && r.IsOf(need)
}

// IsOf reports whether a node has the kind of GPU that is needed.
func (r Room) IsOf(need Room) bool { return need.Kind == 0 || need.Kind == r.Kind }

// Add adds what becomes free.
func (r *Room) Add(o Room) {
	r.Cores += o.Cores
	r.GPUs += o.GPUs
	r.Memory += o.Memory
}

// Sub subtracts what is taken.
func (r *Room) Sub(o Room) {
	r.Cores -= o.Cores
	r.GPUs -= o.GPUs
	r.Memory -= o.Memory
}

// unlimited stands for memory that is not accounted for: no sum of requests
// reaches it.
const unlimited = math.MaxInt64 / 4

// machine is the free part of the cluster.
type machine struct {
	free  []Room // by node
	whole []Room // by node, when nothing runs
	idle  int32  // cores that are free, of all nodes
	cores slots
	gpus  slots
	spare []Span   // storage of the next core sets
	kinds []string // of GPUs, from 1 on
	// closed has the nodes on which nothing starts; nil until one is closed.
	closed []bool
}

func newMachine(c Cluster) *machine {
	m := &machine{}
	m.cores.bounds, m.gpus.bounds = []int32{0}, []int32{0}
	for _, n := range c.Nodes {
		r := Room{Cores: int32(n.Threads), GPUs: int32(n.GPUs), Memory: n.Memory, Kind: m.addKind(n.GPU)}
		if n.Memory == 0 {
			r.Memory = unlimited
		}
		m.whole = append(m.whole, r)
		m.idle += r.Cores
		m.cores.addNode(r.Cores)
		m.gpus.addNode(r.GPUs)
	}
	m.free = slices.Clone(m.whole)
	return m
}

// addKind returns the number of a type of GPU, and kindOf that of one that a
// job asks for: -1 when no node has it.
func (m *machine) addKind(gpu string) int32 {
	if k := m.kindOf(gpu); k >= 0 {
		return k
	}
	m.kinds = append(m.kinds, gpu)
	return int32(len(m.kinds))
}

func (m *machine) kindOf(gpu string) int32 {
	if gpu == "" {
		return 0
	}
	if i := slices.Index(m.kinds, gpu); i >= 0 {
		return int32(i) + 1
	}
	return -1
}

// Fit chooses nodes for a job that needs so much on each of count nodes: the
// lowest numbers that have room, or home if it is bound to nodes. The result
// is appended to nodes; ok is false when there is no room.
func Fit(free []Room, need Room, count int, home, nodes []int32) (_ []int32, ok bool) {
	if home != nil {
		for _, v := range home {
			if !free[v].Holds(need) {
				return nodes, false
			}
		}
		return append(nodes, home...), true
	}
	for v := range free {
		if free[v].Holds(need) {
			nodes = append(nodes, int32(v))
			if count--; count == 0 {
				return nodes, true
			}
		}
	}
	return nodes, false
}

// mostFree returns the largest number of cores that are free on one node.
func (m *machine) mostFree() int32 {
	most := int32(0)
	for i := range m.free {
		most = max(most, m.free[i].Cores)
	}
	return most
}

// choose picks cores and GPUs on each of the nodes, without taking them: the
// old ones as far as they are free and all on these nodes, then the lowest.
func (m *machine) choose(nodes []int32, need Room, old Grant) Grant {
	perNode := len(nodes)
	g := Grant{Cores: old.Cores, GPUs: old.GPUs}
	if old.Cores.Count() != int(need.Cores)*perNode || !m.cores.allFree(old.Cores) {
		g.Cores = m.lowest(&m.cores, nodes, need.Cores)
	}
	if need.GPUs == 0 {
		g.GPUs = nil
	} else if old.GPUs.Count() != int(need.GPUs)*perNode || !m.gpus.allFree(old.GPUs) {
		g.GPUs = m.lowest(&m.gpus, nodes, need.GPUs)
	}
	return g
}

// lowest returns the n lowest free slots of each node.
func (m *machine) lowest(s *slots, nodes []int32, n int32) CoreSet {
	// Sets are never changed once they are given out, so their spans can lie
	// side by side in one allocation.
	if cap(m.spare)-len(m.spare) < 64 {
		m.spare = make([]Span, 0, 512)
	}
	begin := len(m.spare)
	for _, v := range nodes {
		m.spare = s.lowest(m.spare, begin, s.bounds[v], s.bounds[v+1], n)
	}
	return CoreSet(m.spare[begin:len(m.spare):len(m.spare)])
}

// nodesOf appends the nodes on which the set has cores, in ascending order.
func (m *machine) nodesOf(set CoreSet, nodes []int32) []int32 {
	for _, p := range set {
		for lo := p.Lo; lo < p.Hi; {
			v := m.cores.nodeOf(lo)
			if len(nodes) == 0 || nodes[len(nodes)-1] != v {
				nodes = append(nodes, v)
			}
			lo = m.cores.bounds[v+1]
		}
	}
	return nodes
}

// take marks a grant as held, give as free. Memory is booked apart from it.
func (m *machine) take(g Grant) { m.mark(g, false) }

func (m *machine) give(g Grant) {
	m.mark(g, true)
	if m.closed == nil {
		return
	}
	for _, v := range m.nodesOf(g.Cores, nil) {
		if m.closed[v] {
			m.withhold(v)
		}
	}
}

func (m *machine) mark(g Grant, free bool) {
	m.cores.mark(g.Cores, free)
	m.gpus.mark(g.GPUs, free)
	for _, p := range g.Cores {
		m.idle += signed(p.Hi-p.Lo, free)
		m.cores.eachNode(p, func(v, n int32) { m.free[v].Cores += signed(n, free) })
	}
	for _, p := range g.GPUs {
		m.gpus.eachNode(p, func(v, n int32) { m.free[v].GPUs += signed(n, free) })
	}
}

func signed(n int32, positive bool) int32 {
	if positive {
		return n
	}
	return -n
}

// slots is a set of free core or GPU numbers as a bit map: a bit is 1 when
// the number is free. Taking the lowest of a thousand looks at 16 words.
type slots struct {
	words  []uint64
	bounds []int32 // node v has the numbers bounds[v] … bounds[v+1]-1
}

func (s *slots) addNode(n int32) {
	lo := s.bounds[len(s.bounds)-1]
	s.bounds = append(s.bounds, lo+n)
	for len(s.words)*64 < int(lo+n) {
		s.words = append(s.words, 0)
	}
	s.mark(CoreSet{{lo, lo + n}}, true)
}

func (s *slots) nodeOf(slot int32) int32 {
	if len(s.bounds) == 2 {
		return 0
	}
	v, found := slices.BinarySearch(s.bounds, slot)
	if !found {
		return int32(v - 1)
	}
	for s.bounds[v+1] == slot { // nodes without any
		v++
	}
	return int32(v)
}

// eachNode calls f with each node that a span lies on and how much of it.
func (s *slots) eachNode(p Span, f func(node, n int32)) {
	for lo := p.Lo; lo < p.Hi; {
		v := s.nodeOf(lo)
		hi := min(p.Hi, s.bounds[v+1])
		f(v, hi-lo)
		lo = hi
	}
}

func (s *slots) mark(set CoreSet, free bool) {
	for _, p := range set {
		for lo := p.Lo; lo < p.Hi; {
			word, hi := lo/64, min(p.Hi, (lo/64+1)*64)
			mask := ^uint64(0) >> (64 - (hi - lo)) << (lo % 64)
			if free {
				s.words[word] |= mask
			} else {
				s.words[word] &^= mask
			}
			lo = hi
		}
	}
}

func (s *slots) allFree(set CoreSet) bool {
	for _, p := range set {
		for lo := p.Lo; lo < p.Hi; {
			hi := min(p.Hi, (lo/64+1)*64)
			mask := ^uint64(0) >> (64 - (hi - lo)) << (lo % 64)
			if s.words[lo/64]&mask != mask {
				return false
			}
			lo = hi
		}
	}
	return true
}

// lowest appends the n lowest free slots of [lo, hi) as spans that join those
// of out from index begin on. The caller knows that there are so many.
func (s *slots) lowest(out []Span, begin int, lo, hi, n int32) []Span {
	for lo < hi && n > 0 {
		w := s.words[lo/64] >> (lo % 64)
		if w == 0 {
			lo = (lo/64 + 1) * 64
			continue
		}
		lo += int32(bits.TrailingZeros64(w))
		if lo >= hi {
			break
		}
		w = s.words[lo/64] >> (lo % 64)
		run := min(int32(bits.TrailingZeros64(^w)), n, hi-lo, 64-lo%64)
		if last := len(out) - 1; last >= begin && out[last].Hi == lo {
			out[last].Hi += run
		} else {
			out = append(out, Span{lo, lo + run})
		}
		lo += run
		n -= run
	}
	return out
}
