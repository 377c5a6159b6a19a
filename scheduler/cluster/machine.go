package cluster

import (
	"math"
	"math/bits"
	"slices"
)

// Room is the free resources of a node, or the resources that a job needs on a node.
type Room struct {
	Cores, GPUs int32
	Memory      int64
	Kind        int32 // number of a type of GPU, see View.Kind; in a need, 0 means any type
	Market      int32 // of a node, the bit of its market; of a need, the bits of excluded markets
	// Parts is set only in the need of a job with unlike parts. The fields above are then the largest need of any
	// part.
	Parts *Parts
}

// Holds reports whether the room is enough for a need.
func (r Room) Holds(need Room) bool {
	return need.Cores <= r.Cores && need.GPUs <= r.GPUs && need.Memory <= r.Memory && r.IsOf(need) &&
		r.Market&need.Market == 0
}

// IsOf reports whether the node has the type of GPU that is needed.
func (r Room) IsOf(need Room) bool { return need.Kind == 0 || need.Kind == r.Kind }

// Times returns how many times the need fits into the room at once.
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

// Add adds resources to the room.
func (r *Room) Add(o Room) {
	r.Cores += o.Cores
	r.GPUs += o.GPUs
	r.Memory += o.Memory
}

// Sub subtracts resources from the room.
func (r *Room) Sub(o Room) {
	r.Cores -= o.Cores
	r.GPUs -= o.GPUs
	r.Memory -= o.Memory
}

// unlimited is the memory of a node whose memory is not limited. No sum of requests reaches it.
const unlimited = math.MaxInt64 / 4

// Machine records which resources of a cluster are free.
type Machine struct {
	Free  []Room // free resources by node
	Whole []Room // total resources by node
	Idle  int32  // number of free cores on all nodes
	Cores Slots
	GPUs  Slots
	spare []Span   // storage for the next core sets
	read  Span     // written by Fetch, never read
	ones  []Span   // one span for each number, used by core sets with a single core
	kinds []string // types of GPU; the type with number k is kinds[k-1]
	// Racks has the rack number of each node. A node without a rack has a number that no other node has.
	Racks []int32
	// closed says by node whether the node is closed; nil until a node is closed.
	closed []bool
	// doubled says by GPU whether two jobs hold it; nil until a GPU is shared.
	doubled []bool
}

// NewMachine returns the machine of a cluster on which no job runs.
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

// racksOf returns the rack number of each node.
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

// addKind returns the number of a type of GPU. A new type gets the next number.
func (m *Machine) addKind(gpu string) int32 {
	if k := m.KindOf(gpu); k >= 0 {
		return k
	}
	m.kinds = append(m.kinds, gpu)
	return int32(len(m.kinds))
}

// KindOf returns the number of a type of GPU: 0 for an empty type, -1 for a type that no node has.
func (m *Machine) KindOf(gpu string) int32 {
	if gpu == "" {
		return 0
	}
	if i := slices.Index(m.kinds, gpu); i >= 0 {
		return int32(i) + 1
	}
	return -1
}

// Fit finds count nodes that each have room for need: the nodes with the lowest numbers or, if home is not nil, the
// nodes in home. The result is appended to nodes; ok is false if there is no room.
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

// HoldEach reports whether each of the nodes, which are in ascending order, has room for need. A node that is listed
// n times must have room for n needs.
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

// MaxFree returns the most cores, the most GPUs and the most memory that are free on any one node, each by itself.
// It considers nodes with the needed type of GPU; if home is not nil, only the first node of home.
func MaxFree(free []Room, need Room, home []int32) Room {
	var most Room
	for v, r := range free {
		if (home == nil || home[0] == int32(v)) && r.IsOf(need) {
			most = Room{Cores: max(most.Cores, r.Cores), GPUs: max(most.GPUs, r.GPUs), Memory: max(most.Memory, r.Memory)}
		}
	}
	return most
}

// MostFree returns the largest number of free cores on one node.
func (m *Machine) MostFree() int32 {
	most := int32(0)
	for i := range m.Free {
		most = max(most, m.Free[i].Cores)
	}
	return most
}

// Choose returns cores and GPUs for need on each of the nodes: the numbers in old if they are free and all on these
// nodes, else the lowest free ones. It does not mark them as held.
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

// ChooseCores is Choose for n cores on each of the nodes.
func (m *Machine) ChooseCores(nodes []int32, n int32, old CoreSet) CoreSet {
	if m.Cores.AllFree(old) && old.Count() == int(n)*len(nodes) {
		return old
	}
	return m.Lowest(&m.Cores, nodes, n)
}

// Fetch reads memory of a grant, so that it is in the processor's cache when it is needed.
func (m *Machine) Fetch(g Grant) {
	if len(g.Cores) > 0 {
		m.read = g.Cores[0]
	}
}

// Lowest returns the n lowest free slots of each node. For a node that is listed k times in a row it returns k × n
// slots.
func (m *Machine) Lowest(s *Slots, nodes []int32, n int32) CoreSet {
	if n == 1 && len(nodes) == 1 {
		if slot := s.first(s.Bounds[nodes[0]], s.Bounds[nodes[0]+1]); slot >= 0 {
			return CoreSet(m.ones[slot : slot+1 : slot+1])
		}
	}
	// A set does not change once it is returned, so several sets can share one allocation.
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

// NodesOf appends the nodes of the cores in set, in ascending order.
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

// AddHeld adds to rooms the resources of a grant, except on closed nodes.
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

// Touches reports whether a grant has cores on any of the nodes.
func (m *Machine) Touches(g Grant, nodes []int32) bool {
	if len(m.Free) == 1 {
		return true
	}
	return slices.ContainsFunc(m.NodesOf(g.Cores, nil), func(v int32) bool { return slices.Contains(nodes, v) })
}

// EachUnit appends the node of each unit of a divided job. set has the cores of the job; each unit has the given
// number of cores.
func (m *Machine) EachUnit(set CoreSet, cores int32, nodes []int32) []int32 {
	nodes = nodes[:0]
	for _, p := range set {
		m.Cores.EachNode(p, func(v, n int32) {
			for ; n > 0; n-- {
				nodes = append(nodes, v)
			}
		})
	}
	kept := nodes[:0] // a node is listed once for each unit, in a row
	for i := 0; i < len(nodes); i += int(cores) {
		kept = append(kept, nodes[i])
	}
	return kept
}

// Take marks the cores and GPUs of a grant as held. The scheduler counts memory separately.
func (m *Machine) Take(g Grant) {
	if g.Beside != nil {
		m.double(g.GPUs)
		g.GPUs = nil
	}
	m.mark(g.Cores, g.GPUs, false)
}

// double records that a second job holds GPUs that are already held.
func (m *Machine) double(gpus CoreSet) {
	if m.doubled == nil {
		m.doubled = make([]bool, m.GPUs.Bounds[len(m.GPUs.Bounds)-1])
	}
	gpus.Each(func(n int) { m.doubled[n] = true })
}

// single records that one of two jobs no longer holds GPUs. It returns false if only one job held them.
func (m *Machine) single(gpus CoreSet) bool {
	if m.doubled == nil || len(gpus) == 0 || !m.doubled[gpus[0].Lo] {
		return false
	}
	gpus.Each(func(n int) { m.doubled[n] = false })
	return true
}

// Give marks the resources of a grant as free, except GPUs that another job also holds.
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

// mark marks cores and GPUs as free or held, on closed nodes too.
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

// Close closes a node: its free resources no longer count as free, nor do resources that are freed there later.
func (m *Machine) Close(v int32) {
	if m.closed == nil {
		m.closed = make([]bool, len(m.Whole))
	}
	m.closed[v] = true
	m.withhold(v)
}

// Open opens a closed node. No job may hold resources on it.
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

// Slots is a set of free core or GPU numbers. It has one bit for each number; 1 means free.
type Slots struct {
	words  []uint64
	busy   uint32  // number of leading words that are 0
	Bounds []int32 // node v has the numbers Bounds[v] … Bounds[v+1]-1
}

// AddNode adds n slots of the next node; they are free.
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
	for s.Bounds[v+1] == slot { // skip nodes without slots
		v++
	}
	return int32(v)
}

// EachNode calls f for each node of a span, with the number of the span's slots on the node.
func (s *Slots) EachNode(p Span, f func(node, n int32)) {
	for lo := p.Lo; lo < p.Hi; {
		v := s.NodeOf(lo)
		hi := min(p.Hi, s.Bounds[v+1])
		f(v, hi-lo)
		lo = hi
	}
}

// within returns a word with bits set for the slots lo … hi-1, which must belong to one word.
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

// skipBusy updates busy.
func (s *Slots) skipBusy() {
	for s.busy < uint32(len(s.words)) && s.words[s.busy] == 0 {
		s.busy++
	}
}

// first returns the lowest free slot of lo … hi-1; -1 if none is free.
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

// Lowest appends the n lowest free slots of lo … hi-1 to out as spans. It extends spans of out from index begin on,
// where they touch. At least n of the slots must be free.
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

// Closed reports whether a node is closed. No job starts on it, and resources that are freed there do not count as
// free.
func (m *Machine) Closed(v int32) bool { return m.closed != nil && m.closed[v] }

// Usable returns n, or 0 if the node is closed.
func (m *Machine) Usable(v, n int32) int32 {
	if m.Closed(v) {
		return 0
	}
	return n
}
