package queue

// Ahead says which jobs wait next, where many start at one instant: those are worth preparing for together.
type Ahead struct {
	starts, due int
	jobs        []int32
}

// Begin begins an instant.
func (a *Ahead) Begin() { a.starts, a.due = 0, 8 }

// Started notes that a job of the queue has started, and returns up to 16 that wait next; none most of the times. The slice
// holds until the next call.
func (a *Ahead) Started(q *Queue) []int32 {
	if a.starts++; a.starts < a.due {
		return nil
	}
	a.due += 16
	a.jobs = q.First(16, a.jobs[:0])
	return a.jobs
}
