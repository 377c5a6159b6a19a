package cluster

import (
	"math"
	"math/bits"
	"slices"
)

// Room is the free resources of a node, or a job's need on one.
type Room struct {
	Cores, GPUs int32
	Memory      int64
	Kind        int32 // of GPU, see MachineView.Kind; in a need 0 means any
	Market      int32 // of a node the bit of where it is rented, of a need the bits of where it must not be
	// Parts is set in the need of a job whose parts differ; the fields above then are
	// the most that any of them needs.
	Parts *Parts
}

// Holds reports whether there is room for a need.
func (r Room) Holds(need Room) bool {
	return need.Cores <= r.Cores && need.GPUs <= r.GPUs && need.Memory <= r.Memory && r.IsOf(need) &&
		r.Market&need.Market == 0
}

// IsOf reports whether a node has the kind of GPU that is needed.
func (r Room) IsOf(need Room) bool { return need.Kind == 0 || need.Kind == r.Kind }

// Times returns how many times the need fits into the room.
func (r Room) Times(need Room) int {
	if !r.Holds(need) {
		return 0
	}
	n := int64(math.MaxInt32)
	for _, of := range [][2]int64{
		{int64(r.Cores), int64(need.Cores)}, {int64(r.GPUs), int64(need.GPUs)}, {r.Memory, need.Memory},
	} {
		if of[1] > 0 {
			n = min(n, of[0]/of[1])
		}
	}
	return int(n)
}

// Add adds freed resources.
func (r *Room) Add(o Room) {
	r.Cores += o.Cores
	r.GPUs += o.GPUs
	r.Memory += o.Memory
}

// Sub subtracts taken resources.
func (r *Room) Sub(o Room) {
	r.Cores -= o.Cores
	r.GPUs -= o.GPUs
	r.Memory -= o.Memory
}

// unlimited is memory that is not counted: no sum of requests reaches it.
const unlimited = math.MaxInt64 / 4

// Machine is the free part of the cluster.
type Machine struct {
	Free  []Room // by node
	Whole []Room // by node, when nothing runs
	Idle  int32  // cores that are free, of all nodes
	Cores Slots
	GPUs  Slots
	spare []Span   // storage of the next core sets
	read  Span     // the last value read by Fetch
	ones  []Span   // each core and GPU number alone: the sets of one are parts of it
	kinds []string // of GPUs, from 1 on
	// Racks has the number of each node's rack; each node without a rack has a separate number.
	Racks []int32
	// closed has the nodes on which nothing starts; nil until one is closed.
	closed []bool
	// doubled has the GPUs that two jobs hold; nil until two do.
	doubled []bool
}

// NewMachine returns a free cluster.
func NewMachine(c Cluster) *Machine {
	m := &Machine{}
	m.Cores.Bounds, m.GPUs.Bounds = []int32{0}, []int32{0}
	for _, n := range c.Nodes {
		r := Room{Cores: int32(n.Threads), GPUs: int32(n.GPUs), Memory: n.Memory, Kind: m.addKind(n.GPU)}
		if n.Memory == 0 {
			r.Memory = unlimited
		}
		m.Whole = append(m.Whole, r)
		m.Idle += r.Cores
		m.Cores.AddNode(r.Cores)
		m.GPUs.AddNode(r.GPUs)
	}
	for n := range max(m.Cores.Bounds[len(c.Nodes)], m.GPUs.Bounds[len(c.Nodes)]) {
		m.ones = append(m.ones, Span{n, n + 1})
	}
	m.Free = slices.Clone(m.Whole)
	m.Racks = racksOf(c)
	return m
}

// racksOf numbers the racks of a cluster, by node.
func racksOf(c Cluster) []int32 {
	racks, known := make([]int32, len(c.Nodes)), map[string]int32{}
	for i, n := range c.Nodes {
		rack, ok := known[n.Rack]
		if !ok || n.Rack == "" {
			rack = int32(i)
			known[n.Rack] = rack
		}
		racks[i] = rack
	}
	return racks
}

// addKind returns the number of a type of GPU, which is new if no node had it.
func (m *Machine) addKind(gpu string) int32 {
	if k := m.KindOf(gpu); k >= 0 {
		return k
	}
	m.kinds = append(m.kinds, gpu)
	return int32(len(m.kinds))
}

// KindOf returns the number of a type of GPU that a job asks for: 0 for any, -1
// when no node has it.
func (m *Machine) KindOf(gpu string) int32 {
	if gpu == "" {
		return 0
	}
	if i := slices.Index(m.kinds, gpu); i >= 0 {
		return int32(i) + 1
	}
	return -1
}

// Fit chooses nodes for a job that has the need on each of count nodes: the
// lowest numbers that have room, or home if it is bound to nodes. The result
// is appended to nodes; ok is false when there is no room.
func Fit(free []Room, need Room, count int, home, nodes []int32) (_ []int32, ok bool) {
	if need.Parts != nil {
		return need.Parts.fit(free, need, home, nodes)
	}
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

// HoldEach reports whether there is room for need on each of the nodes, which are in ascending
// order. A node that is listed n times must have room for n needs.
func HoldEach(free []Room, need Room, nodes []int32) bool {
	for i, k := 0, 0; i < len(nodes); i = k {
		for k = i + 1; k < len(nodes) && nodes[k] == nodes[i]; k++ {
		}
		if free[nodes[i]].Times(need) < k-i {
			return false
		}
	}
	return true
}

// MaxFree returns the most cores, GPUs and memory that are free on one node, each on its own,
// among the nodes of the kind that is needed, or on the first of home.
func MaxFree(free []Room, need Room, home []int32) Room {
	var most Room
	for v, r := range free {
		if (home == nil || home[0] == int32(v)) && r.IsOf(need) {
			most = Room{Cores: max(most.Cores, r.Cores), GPUs: max(most.GPUs, r.GPUs), Memory: max(most.Memory, r.Memory)}
		}
	}
	return most
}

// MostFree returns the largest number of cores that are free on one node.
func (m *Machine) MostFree() int32 {
	most := int32(0)
	for i := range m.Free {
		most = max(most, m.Free[i].Cores)
	}
	return most
}

// Choose picks cores and GPUs on each of the nodes, without taking them: the
// old ones if they are free and all on these nodes, then the lowest.
func (m *Machine) Choose(nodes []int32, need Room, old Grant) Grant {
	if need.Parts != nil {
		return need.Parts.choose(m, nodes, old)
	}
	perNode := len(nodes)
	g := Grant{Cores: m.ChooseCores(nodes, need.Cores, old.Cores), GPUs: old.GPUs}
	if need.GPUs == 0 {
		g.GPUs = nil
	} else if old.GPUs.Count() != int(need.GPUs)*perNode || !m.GPUs.AllFree(old.GPUs) {
		g.GPUs = m.Lowest(&m.GPUs, nodes, need.GPUs)
	}
	return g
}

// ChooseCores is Choose for n cores of each node.
func (m *Machine) ChooseCores(nodes []int32, n int32, old CoreSet) CoreSet {
	if m.Cores.AllFree(old) && old.Count() == int(n)*len(nodes) {
		return old
	}
	return m.Lowest(&m.Cores, nodes, n)
}

// Fetch reads the start of a grant, so that it is in the processor's cache when the job is looked at.
func (m *Machine) Fetch(g Grant) {
	if len(g.Cores) > 0 {
		m.read = g.Cores[0]
	}
}

// Lowest returns the n lowest free slots of each node; for a node that is listed k times in a row,
// k × n slots.
func (m *Machine) Lowest(s *Slots, nodes []int32, n int32) CoreSet {
	if n == 1 && len(nodes) == 1 {
		if slot := s.first(s.Bounds[nodes[0]], s.Bounds[nodes[0]+1]); slot >= 0 {
			return CoreSet(m.ones[slot : slot+1 : slot+1])
		}
	}
	// Sets never change once they are returned, so their spans can share one
	// allocation.
	if cap(m.spare)-len(m.spare) < 64 {
		m.spare = make([]Span, 0, 512)
	}
	begin := len(m.spare)
	for i, k := 0, 0; i < len(nodes); i = k {
		v := nodes[i]
		for k = i + 1; k < len(nodes) && nodes[k] == v; k++ {
		}
		m.spare = s.Lowest(m.spare, begin, s.Bounds[v], s.Bounds[v+1], n*int32(k-i))
	}
	if set := m.spare[begin:]; len(set) == 1 && set[0].Hi == set[0].Lo+1 {
		m.spare = m.spare[:begin]
		return CoreSet(m.ones[set[0].Lo:set[0].Hi:set[0].Hi])
	}
	return CoreSet(m.spare[begin:len(m.spare):len(m.spare)])
}

// NodesOf appends the nodes on which the set has cores, in ascending order.
func (m *Machine) NodesOf(set CoreSet, nodes []int32) []int32 {
	if len(m.Free) == 1 && len(set) > 0 && len(nodes) == 0 {
		return append(nodes, 0)
	}
	for _, p := range set {
		for lo := p.Lo; lo < p.Hi; {
			v := m.Cores.NodeOf(lo)
			if len(nodes) == 0 || nodes[len(nodes)-1] != v {
				nodes = append(nodes, v)
			}
			lo = m.Cores.Bounds[v+1]
		}
	}
	return nodes
}

// AddHeld adds to rooms the resources that would be free if a grant were given back. Resources on closed nodes are
// left out.
func (m *Machine) AddHeld(rooms []Room, g Grant) {
	if len(rooms) == 1 && m.closed == nil {
		rooms[0].Cores += int32(g.Cores.Count())
		rooms[0].GPUs += int32(g.GPUs.Count())
		return
	}
	for _, p := range g.Cores {
		m.Cores.EachNode(p, func(v, n int32) { rooms[v].Cores += m.Usable(v, n) })
	}
	for _, p := range g.GPUs {
		m.GPUs.EachNode(p, func(v, n int32) { rooms[v].GPUs += m.Usable(v, n) })
	}
}

// Touches reports whether a grant has cores on one of the nodes.
func (m *Machine) Touches(g Grant, nodes []int32) bool {
	if len(m.Free) == 1 {
		return true
	}
	return slices.ContainsFunc(m.NodesOf(g.Cores, nil), func(v int32) bool { return slices.Contains(nodes, v) })
}

// EachUnit returns the nodes of a set, one entry per unit; a unit has the given number of cores.
func (m *Machine) EachUnit(set CoreSet, cores int32, nodes []int32) []int32 {
	nodes = nodes[:0]
	for _, p := range set {
		m.Cores.EachNode(p, func(v, n int32) {
			for ; n > 0; n-- {
				nodes = append(nodes, v)
			}
		})
	}
	kept := nodes[:0] // one per unit: equal nodes are adjacent
	for i := 0; i < len(nodes); i += int(cores) {
		kept = append(kept, nodes[i])
	}
	return kept
}

// Take marks a grant as held. Memory is booked apart from it.
func (m *Machine) Take(g Grant) {
	if g.Beside != nil {
		m.double(g.GPUs)
		g.GPUs = nil
	}
	m.mark(g.Cores, g.GPUs, false)
}

// double records that held GPUs get a second holder.
func (m *Machine) double(gpus CoreSet) {
	if m.doubled == nil {
		m.doubled = make([]bool, m.GPUs.Bounds[len(m.GPUs.Bounds)-1])
	}
	gpus.Each(func(n int) { m.doubled[n] = true })
}

// single takes one of two holders from GPUs. It reports whether they had two.
func (m *Machine) single(gpus CoreSet) bool {
	if m.doubled == nil || len(gpus) == 0 || !m.doubled[gpus[0].Lo] {
		return false
	}
	gpus.Each(func(n int) { m.doubled[n] = false })
	return true
}

// Give marks a grant as free, except GPUs that another job holds as well.
func (m *Machine) Give(g Grant) {
	if m.single(g.GPUs) {
		g.GPUs = nil
	}
	m.mark(g.Cores, g.GPUs, true)
	if m.closed == nil {
		return
	}
	for _, v := range m.NodesOf(g.Cores, nil) {
		if m.closed[v] {
			m.withhold(v)
		}
	}
}

// mark marks cores and GPUs as free or held, closed nodes or not.
func (m *Machine) mark(cores, gpus CoreSet, free bool) {
	m.Cores.Mark(cores, free)
	n := signed(int32(cores.Count()), free)
	m.Idle += n
	if len(m.Free) == 1 {
		m.Free[0].Cores += n
	} else {
		for _, p := range cores {
			m.Cores.EachNode(p, func(v, n int32) { m.Free[v].Cores += signed(n, free) })
		}
	}
	if len(gpus) == 0 {
		return
	}
	m.GPUs.Mark(gpus, free)
	for _, p := range gpus {
		m.GPUs.EachNode(p, func(v, n int32) { m.Free[v].GPUs += signed(n, free) })
	}
}

// Close takes the free resources of a node out of use, and those that become free there later.
func (m *Machine) Close(v int32) {
	if m.closed == nil {
		m.closed = make([]bool, len(m.Whole))
	}
	m.closed[v] = true
	m.withhold(v)
}

// Open lets a node be used on which nothing is held.
func (m *Machine) Open(v int32) {
	m.closed[v] = false
	m.mark(m.Cores.ofNode(v), m.GPUs.ofNode(v), true)
}

// withhold marks the free resources of a node as held.
func (m *Machine) withhold(v int32) {
	node := []int32{v}
	m.mark(m.Lowest(&m.Cores, node, m.Free[v].Cores), m.Lowest(&m.GPUs, node, m.Free[v].GPUs), false)
}

func signed(n int32, positive bool) int32 {
	if positive {
		return n
	}
	return -n
}

// Slots is a set of free core or GPU numbers as a bit map: a bit is 1 when
// the number is free. Taking the lowest of a thousand looks at 16 words.
type Slots struct {
	words  []uint64
	busy   uint32  // number of leading words without a free slot
	Bounds []int32 // node v has the numbers bounds[v] … bounds[v+1]-1
}

// AddNode adds the slots of the next node, all free.
func (s *Slots) AddNode(n int32) {
	lo := s.Bounds[len(s.Bounds)-1]
	s.Bounds = append(s.Bounds, lo+n)
	for len(s.words)*64 < int(lo+n) {
		s.words = append(s.words, 0)
	}
	s.Mark(CoreSet{{lo, lo + n}}, true)
}

// NodeOf returns the node of a slot.
func (s *Slots) NodeOf(slot int32) int32 {
	if len(s.Bounds) == 2 {
		return 0
	}
	v, found := slices.BinarySearch(s.Bounds, slot)
	if !found {
		return int32(v - 1)
	}
	for s.Bounds[v+1] == slot { // nodes without any
		v++
	}
	return int32(v)
}

// EachNode calls f with each node that a span lies on and how much of it.
func (s *Slots) EachNode(p Span, f func(node, n int32)) {
	for lo := p.Lo; lo < p.Hi; {
		v := s.NodeOf(lo)
		hi := min(p.Hi, s.Bounds[v+1])
		f(v, hi-lo)
		lo = hi
	}
}

// within returns a word with a 1 for each slot from lo on and before hi, which are all of one word.
func within(lo, hi uint32) uint64 { return ^uint64(0) >> ((lo - hi) % 64) << (lo % 64) }

// Mark marks slots as free or held.
func (s *Slots) Mark(set CoreSet, free bool) {
	for _, p := range set {
		for lo, end := uint32(p.Lo), uint32(p.Hi); lo < end; {
			word, hi := lo/64, min(end, (lo/64+1)*64)
			if free {
				s.words[word] |= within(lo, hi)
				s.busy = min(s.busy, word)
			} else {
				s.words[word] &^= within(lo, hi)
			}
			lo = hi
		}
	}
}

// AllFree reports whether all slots of a set are free.
func (s *Slots) AllFree(set CoreSet) bool {
	for _, p := range set {
		for lo, end := uint32(p.Lo), uint32(p.Hi); lo < end; {
			hi := min(end, (lo/64+1)*64)
			if ^s.words[lo/64]&within(lo, hi) != 0 {
				return false
			}
			lo = hi
		}
	}
	return true
}

// skipBusy counts the leading words without a free slot.
func (s *Slots) skipBusy() {
	for s.busy < uint32(len(s.words)) && s.words[s.busy] == 0 {
		s.busy++
	}
}

// first returns the lowest free slot of [lo, hi); -1 for none.
func (s *Slots) first(lo, hi int32) int32 {
	s.skipBusy()
	for at, end := max(uint32(lo), s.busy*64), uint32(hi); at < end; at = (at/64 + 1) * 64 {
		if w := s.words[at/64] >> (at % 64); w != 0 {
			if at += uint32(bits.TrailingZeros64(w)); at < end {
				return int32(at)
			}
			return -1
		}
	}
	return -1
}

// Lowest appends the n lowest free slots of [lo, hi) as spans, joined to the
// spans of out from index begin on. The caller must know that n slots are
// free.
func (s *Slots) Lowest(out []Span, begin int, lo, hi, n int32) []Span {
	s.skipBusy()
	at, end, left := max(uint32(lo), s.busy*64), uint32(hi), uint32(n)
	for at < end && left > 0 {
		w := s.words[at/64] >> (at % 64)
		if w == 0 {
			at = (at/64 + 1) * 64
			continue
		}
		first := uint32(bits.TrailingZeros64(w))
		if at += first; at >= end {
			break
		}
		run := min(uint32(bits.TrailingZeros64(^(w >> (first % 64)))), left, end-at)
		if last := len(out) - 1; last >= begin && out[last].Hi == int32(at) {
			out[last].Hi += int32(run)
		} else {
			out = append(out, Span{int32(at), int32(at + run)})
		}
		at += run
		left -= run
	}
	return out
}

// ofNode returns all slots of a node.
func (s *Slots) ofNode(v int32) CoreSet {
	if s.Bounds[v] == s.Bounds[v+1] {
		return nil
	}
	return CoreSet{{s.Bounds[v], s.Bounds[v+1]}}
}

// Closed reports whether a node is closed: nothing starts there, and resources freed
// there are not free.
func (m *Machine) Closed(v int32) bool { return m.closed != nil && m.closed[v] }

// Usable returns n, or 0 for a node that is closed.
func (m *Machine) Usable(v, n int32) int32 {
	if m.Closed(v) {
		return 0
	}
	return n
}
