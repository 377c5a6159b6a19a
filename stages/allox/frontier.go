package allox

// step is a position that the search can reach, with its distance.
type step struct {
	distance int64
	at       AssignmentPosition
}

func (a *step) before(b *step) bool {
	if a.distance != b.distance {
		return a.distance < b.distance
	}
	if a.at.Kind != b.at.Kind {
		return a.at.Kind < b.at.Kind
	}
	return a.at.Level < b.at.Level
}

// frontier is a binary heap of steps, sorted by distance, kind and level. Each position is in it at most once. The
// tracks store its index in the heap, because the distance of most steps is reduced several times.
type frontier struct {
	steps  []step
	tracks []track // they store the index of each step in the heap
}

// put inserts a step, or reduces the distance of a step that is already in the heap.
func (h *frontier) put(x step) {
	i := int(h.tracks[x.at.Kind].place[x.at.Level])
	if i < 0 {
		i = len(h.steps)
		h.steps = append(h.steps, x)
	}
	for i > 0 && x.before(&h.steps[(i-1)/2]) {
		h.set(i, h.steps[(i-1)/2])
		i = (i - 1) / 2
	}
	h.set(i, x)
}

// take removes the nearest step; ok is false if the heap is empty.
func (h *frontier) take() (first step, ok bool) {
	n := len(h.steps) - 1
	if n < 0 {
		return step{}, false
	}
	first = h.steps[0]
	last := h.steps[n]
	h.steps = h.steps[:n]
	i := 0
	for child := 1; child < n; child = 2*i + 1 {
		if child+1 < n && h.steps[child+1].before(&h.steps[child]) {
			child++
		}
		if !h.steps[child].before(&last) {
			break
		}
		h.set(i, h.steps[child])
		i = child
	}
	if n > 0 {
		h.set(i, last)
	}
	return first, true
}

func (h *frontier) set(i int, x step) {
	h.steps[i] = x
	h.tracks[x.at.Kind].place[x.at.Level] = int32(i)
}
