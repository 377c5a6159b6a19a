package cluster

import "slices"

// View is a machine that is only read. Its slices are the machine's own.
type View struct{ m *Machine }

// ViewOf returns the view of a machine.
func ViewOf(m *Machine) View { return View{m} }

// Free returns what is free, by node.
func (m View) Free() []Room { return m.m.Free }

// Whole returns what is free when nothing runs, by node.
func (m View) Whole() []Room { return m.m.Whole }

// Paused returns what would be free if all running jobs were paused, by node: these keep their
// memory. What is given back on a closed node is not free.
func (m View) Paused() []Room {
	rooms := slices.Clone(m.m.Free)
	for node := range rooms {
		if memory := rooms[node].Memory; !m.Closed(int32(node)) {
			rooms[node] = m.m.Whole[node]
			rooms[node].Memory = memory
		}
	}
	return rooms
}

// Idle returns how many cores are free, of all nodes.
func (m View) Idle() int32 { return m.m.Idle }

// Closed reports whether a node has no server, or will lose it: nothing starts there,
// and what is given back there is not free.
func (m View) Closed(node int32) bool { return m.m.Closed(node) }

// MostFree returns the largest number of cores that are free on one node.
func (m View) MostFree() int32 { return m.m.MostFree() }

// Kind returns the number of a type of GPU, as rooms have it: 0 for no type in
// particular, -1 for one that no node has.
func (m View) Kind(gpu string) int32 { return m.m.KindOf(gpu) }

// AddGPUs adds the GPUs of a grant to rooms, by node.
func (m View) AddGPUs(rooms []Room, g Grant) {
	for _, p := range g.GPUs {
		m.m.GPUs.EachNode(p, func(v, n int32) { rooms[v].GPUs += n })
	}
}
