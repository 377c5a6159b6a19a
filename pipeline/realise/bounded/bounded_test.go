package bounded

import "testing"

func TestMap(t *testing.T) {
	m := Map[string, int]{Most: 10}
	check := func(want ...string) {
		t.Helper()
		for i, k := range want {
			if v, ok := m.Get(k); !ok || v != len(k) {
				t.Errorf("%s: %d, %v", k, v, ok)
			}
			if m.order[i] != k {
				t.Errorf("kept %q, want %q", m.order, want)
			}
		}
		if len(m.kept) != len(want) {
			t.Errorf("kept %q, want %q", m.order, want)
		}
	}
	m.Put("a", 1, 5)
	m.Put("bb", 2, 5)
	check("a", "bb")
	m.Put("ccc", 3, 1)
	check("bb", "ccc")
	m.Put("dddd", 4, 20)
	check("dddd")
	m.Put("e", 1, 10)
	check("e")
}
