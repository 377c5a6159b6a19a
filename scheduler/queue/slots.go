package queue

// slots has a number for each job in the queue. The numbers are in pages of jobs with consecutive numbers. The
// memory of a page is reused when none of its jobs is in the queue.
type slots struct {
	pages []*slotPage
	jobs  []int32 // by page, the number of its jobs in the queue
	spare []*slotPage
	empty int32 // 1 + the page that became empty last, 0 if none did; it is kept until another page is empty
}

// slotPage has the slots of jobs with consecutive numbers.
type slotPage [1 << 10]int32

func newSlots(jobs int) slots {
	n := len(slotPage{})
	pages := (jobs + n - 1) / n
	return slots{pages: make([]*slotPage, pages), jobs: make([]int32, pages)}
}

// begin makes room for the slot of a job that enters the queue.
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

// end removes the slot of a job that leaves the queue.
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
