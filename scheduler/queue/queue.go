// Package queue keeps waiting jobs in the order of a policy.
package queue

import (
	"math"
	"math/bits"
	"slices"
	"time"
)

// Key is the sort key of a waiting job; the smallest is first in the queue.
type Key struct {
	Rank   int64 // sort key by the policy
	Second int64 // breaks ties of Rank; for most policies, the arrival
	Job    int32
}

// Less reports whether key a comes before key b.
func (a Key) Less(b Key) bool {
	if a.Rank != b.Rank {
		return a.Rank < b.Rank
	}
	if a.Second != b.Second {
		return a.Second < b.Second
	}
	return a.Job < b.Job
}

// Compare returns a negative number if a comes before b, a positive one if it comes after b, and 0 if they are
// equal.
func (a Key) Compare(b Key) int {
	switch {
	case a.Less(b):
		return -1
	case b.Less(a):
		return 1
	}
	return 0
}

// Max returns the later of two keys.
func (a Key) Max(b Key) Key {
	if a.Less(b) {
		return b
	}
	return a
}

// Front is a key before the keys of all jobs.
var Front = Key{math.MinInt64, math.MinInt64, -1}

// Ask is the smallest request with which a waiting job can start. Searches use it to skip many jobs that cannot
// start.
type Ask struct {
	Cores  int32         // on each node
	Length time.Duration // predicted run time on the full request
}

// Queue is the waiting jobs in the order of their keys. While jobs are added in this order, it is a line. It becomes
// a tree when a job must go before another one, or a search in the line takes too long. It is a line again once it
// is empty. Operations take O(log n) expected time. Memory is kept for the longest queue so far.
type Queue struct {
	line line // has all jobs while the tree is empty
	tree tree
	slot slots // of jobs in the queue: the index in the line, or the block in the tree
}

// shortest has the shortest lengths of some jobs: element k, of jobs that need less than 2^(k+1) cores; the last
// element, of all jobs. Lengths are encoded by code.
type shortest [8]uint16

// code encodes a length in 16 bits, with eleven significant bits. It rounds down. Codes have the order of the
// lengths.
func code(length time.Duration) uint16 {
	n := uint64(max(length, 0))
	shift := max(bits.Len64(n)-11, 0)
	return uint16(shift<<10) + uint16(n>>shift)
}

// class returns the index in shortest for a number of cores, which is at least 1.
func class(cores int32) int { return min(bits.Len32(uint32(cores))-1, len(shortest{})-1) }

// Nobody is the job number that means no job.
const Nobody = int32(-1)

// never is the length of a job without a prediction, longer than all others.
const never = time.Duration(math.MaxInt64)

// New returns an empty queue for jobs with numbers below jobs. With byLength the queue keeps the lengths of jobs (8
// bytes a job), and a Limit may have a Window.
func New(jobs int, byLength bool) *Queue {
	return &Queue{slot: newSlots(jobs), tree: newTree(byLength)}
}

// Len returns the number of jobs in the queue.
func (q *Queue) Len() int {
	if q.tree.empty() {
		return q.line.len()
	}
	return q.tree.len()
}

// Insert adds a job that is not in the queue.
func (q *Queue) Insert(k Key, a Ask) {
	q.slot.begin(k.Job)
	if q.tree.empty() {
		if q.line.takes(k) {
			q.line.add(k, a, &q.slot)
			return
		}
		q.plant()
	}
	q.tree.insert(k, a, &q.slot)
}

// plant moves the jobs of the line into the tree.
func (q *Queue) plant() {
	q.line.each(func(p *place) { q.tree.insert(p.key, p.ask, &q.slot) })
	q.line = line{}
}

// Remove removes a job that is in the queue.
func (q *Queue) Remove(job int32) {
	if q.tree.empty() {
		q.line.remove(q.slot.of(job))
	} else {
		q.tree.remove(job, &q.slot)
	}
	q.slot.end(job)
}

// KeyOf returns the key of a job in the queue.
func (q *Queue) KeyOf(job int32) Key {
	if q.tree.empty() {
		return q.line.ring[q.slot.of(job)].key
	}
	return q.tree.keyOf(job, &q.slot)
}

// AskOf returns the Ask with which a job was inserted.
func (q *Queue) AskOf(job int32) Ask {
	if q.tree.empty() {
		return q.line.ring[q.slot.of(job)].ask
	}
	return q.tree.askOf(job, &q.slot)
}

// First appends the first jobs of the queue to jobs; most is the greatest number of jobs to append.
func (q *Queue) First(most int, jobs []int32) []int32 {
	if q.tree.empty() {
		return q.line.firstOf(most, jobs)
	}
	return q.tree.firstOf(most, jobs)
}

// Limit selects the jobs that a search considers. Their requests need at most Free cores. In addition, they run for
// at most Window, or need at most Spare cores.
type Limit struct {
	Free   int32
	Window time.Duration
	Spare  int32
}

// AnyAsk is greater than the Ask of any job.
var AnyAsk = Ask{math.MaxInt32, never}

// Anyone is the limit that selects all jobs.
var Anyone = Limit{math.MaxInt32, never, math.MaxInt32}

func (l Limit) allows(a Ask) bool {
	return a.Cores <= l.Free && (a.Length <= l.Window || a.Cores <= l.Spare)
}

// allowsAny reports whether the limit may select a job whose request is not below the given lower bounds.
func (l Limit) allowsAny(least *least) bool {
	return least.cores <= l.Free &&
		(l.Window == never || least.cores <= l.Spare || least.shortest[class(l.Free)] <= code(l.Window))
}

// Next returns the first job after a key that the limit selects, or Nobody.
func (q *Queue) Next(after Key, l Limit) int32 {
	if q.tree.empty() {
		if job, ok := q.line.next(after, l); ok {
			return job
		}
		q.plant()
	}
	return q.tree.next(after, l)
}

// Before returns the number of jobs before key k.
func (q *Queue) Before(k Key) int {
	if q.tree.empty() {
		if n, ok := q.line.before(k); ok {
			return n
		}
		q.plant()
	}
	return q.tree.before(k)
}

// Ahead finds the jobs that will probably start next when many start at one instant. Their data can then be loaded
// together, which is faster.
type Ahead struct {
	starts, due int
	jobs        []int32
}

// Begin starts the count of an instant.
func (a *Ahead) Begin() { a.starts, a.due = 0, 8 }

// Started records that a job has started. At the eighth start of an instant, and at each sixteenth start after it, it
// returns the first 16 jobs of the queue; at other starts, nil. The slice is valid until the next call.
func (a *Ahead) Started(q *Queue) []int32 {
	if a.starts++; a.starts < a.due {
		return nil
	}
	a.due += 16
	a.jobs = q.First(16, a.jobs[:0])
	return a.jobs
}

// InsertSorted inserts x into a list that is sorted by compare.
func InsertSorted[T any](list []T, x T, compare func(a, b T) int) []T {
	i, _ := slices.BinarySearchFunc(list, x, compare)
	return slices.Insert(list, i, x)
}

// DeleteSorted deletes x from a list that is sorted by compare and has it. It moves the elements on the shorter side
// of x: usually x is near the front, because jobs usually end in the expected order.
func DeleteSorted[T any](list []T, x T, compare func(a, b T) int) []T {
	i, _ := slices.BinarySearchFunc(list, x, compare)
	if i < len(list)/2 {
		copy(list[1:i+1], list[:i])
		return list[1:]
	}
	return slices.Delete(list, i, i+1)
}

// Rounds computes the starts of rounds, for a policy that decides once a round.
type Rounds struct {
	Length time.Duration // 0 means no rounds
	// Fixed says that rounds start at the multiples of Length. Other rounds start when the last one is over.
	Fixed bool
	begun bool
	end   time.Duration // end of the present round; never if the next one may start at any instant
	last  time.Duration // start of the last fixed round
}

// Next returns the end of the present round if a job runs. For fixed rounds, it returns the start of the next one if
// a job runs or waits. Otherwise it returns an instant that is not reached.
func (r *Rounds) Next(now time.Duration, runs, waits bool) time.Duration {
	switch {
	case r.Length > 0 && r.Fixed && (runs || waits) && r.end != never:
		next := (now + r.Length - 1) / r.Length * r.Length
		if r.begun && next <= r.last {
			next = r.last + r.Length
		}
		return next
	case r.Length == 0 || r.Fixed || !r.begun || !runs:
		return never
	}
	return r.end
}

// Over ends the present round.
func (r *Rounds) Over() { r.end = never }

// Starts reports whether a round may start: the last one is over, or no job runs.
func (r *Rounds) Starts(runs bool) bool {
	if r.Fixed {
		return r.end == never
	}
	return !r.begun || !runs || r.end == never
}

// Begin begins a round.
func (r *Rounds) Begin(now time.Duration) { r.begun, r.end, r.last = true, now+r.Length, now }
