// Package bounded keeps values that can be made again, up to a bound on their sizes.
package bounded

// Map keeps the newest values: those that go beyond Most together are dropped, the oldest first. One that is larger by
// itself is kept alone. The zero value with a bound is ready to use.
type Map[K comparable, V any] struct {
	// Most bounds the sum of the sizes, in the unit of Put.
	Most int

	kept  map[K]entry[V]
	order []K // the oldest first
	size  int
}

type entry[V any] struct {
	value V
	size  int
}

// Get returns a value, if it is kept.
func (m *Map[K, V]) Get(k K) (V, bool) {
	e, ok := m.kept[k]
	return e.value, ok
}

// Put keeps a value of a size. Its key must not be kept yet.
func (m *Map[K, V]) Put(k K, v V, size int) {
	for len(m.order) > 0 && m.size+size > m.Most {
		m.size -= m.kept[m.order[0]].size
		delete(m.kept, m.order[0])
		m.order = m.order[1:]
	}
	if m.kept == nil {
		m.kept = map[K]entry[V]{}
	}
	m.kept[k], m.order, m.size = entry[V]{v, size}, append(m.order, k), m.size+size
}
