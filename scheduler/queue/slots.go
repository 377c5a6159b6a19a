package queue

// slots has a number for each job in the queue. They are in pages of neighboring jobs, which are used again when none of
// their jobs is in the queue.
type slots struct {
	pages []*slotPage
	jobs  []int32 // in the queue, by page
	spare []*slotPage
	empty int32 // page whose last job has left the queue last, plus one: it stays until another one is empty; 0 for none
}

// slotPage has the slots of neighboring jobs.
type slotPage [1 << 10]int32

func newSlots(jobs int) slots {
	n := len(slotPage{})
	pages := (jobs + n - 1) / n
	return slots{pages: make([]*slotPage, pages), jobs: make([]int32, pages)}
}

// begin makes room for the number of a job that comes into the queue.
func (s *slots) begin(job int32) {
	k := uint32(job) / uint32(len(slotPage{}))
	if s.jobs[k]++; s.pages[k] != nil {
		return
	}
	if n := len(s.spare); n > 0 {
		s.pages[k], s.spare = s.spare[n-1], s.spare[:n-1]
	} else {
		s.pages[k] = &slotPage{}
	}
}

// end drops the number of a job that leaves the queue.
func (s *slots) end(job int32) {
	k := uint32(job) / uint32(len(slotPage{}))
	if s.jobs[k]--; s.jobs[k] > 0 || s.empty == int32(k)+1 {
		return
	}
	if e := s.empty - 1; e >= 0 && s.jobs[e] == 0 {
		s.pages[e], s.spare = nil, append(s.spare, s.pages[e])
	}
	s.empty = int32(k) + 1
}

func (s *slots) of(job int32) int32 {
	return s.pages[uint32(job)/uint32(len(slotPage{}))][uint32(job)%uint32(len(slotPage{}))]
}

func (s *slots) set(job, slot int32) {
	s.pages[uint32(job)/uint32(len(slotPage{}))][uint32(job)%uint32(len(slotPage{}))] = slot
}
