// Package queue keeps waiting jobs in the order of a policy.
package queue

import (
	"math"
	"math/bits"
	"slices"
	"time"
)

// Key places a waiting job in the policy's order: smaller is earlier.
type Key struct {
	Rank   int64 // the policy's sort key
	Second int64 // the arrival, for most
	Job    int32
}

// Less reports whether a job with key a comes before one with key b.
func (a Key) Less(b Key) bool {
	if a.Rank != b.Rank {
		return a.Rank < b.Rank
	}
	if a.Second != b.Second {
		return a.Second < b.Second
	}
	return a.Job < b.Job
}

// Compare is negative for a key that comes before another one.
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

// Front is a key before all others.
var Front = Key{math.MinInt64, math.MinInt64, -1}

// Ask is the least that a waiting job needs in order to start, for passing
// over whole stretches of the queue at once.
type Ask struct {
	Cores  int32         // on one node
	Length time.Duration // expected run time on the full request
}

// Queue holds the waiting jobs in the policy's order. While jobs arrive in that order, it is a line. The first
// job that must go before another, or a search that is too slow on a line, turns it into a tree until the
// queue is empty. All operations take O(log n) expected time, and the memory is that for the longest queue so
// far.
type Queue struct {
	line line // all jobs while the tree is empty
	tree tree
	slot slots // of jobs in the queue: the block, or the place in the line
}

// shortest has, for each k, the least length of the jobs that ask for less
// than 2^(k+1) cores; the last one of all jobs. Lengths are coded: see code.
type shortest [8]uint16

// code writes a length with eleven significant bits, rounded down, such that
// codes compare as the lengths do.
func code(length time.Duration) uint16 {
	n := uint64(max(length, 0))
	shift := max(bits.Len64(n)-11, 0)
	return uint16(shift<<10) + uint16(n>>shift)
}

// class is the index of a number of cores, from 1 on, in shortest.
func class(cores int32) int { return min(bits.Len32(uint32(cores))-1, len(shortest{})-1) }

// Nobody is the number of no job.
const Nobody = int32(-1)

// never is a length that is not known: longer than all others.
const never = time.Duration(math.MaxInt64)

// New returns an empty queue for jobs with numbers below jobs. Their lengths are kept, and limits may have a window,
// only with byLength, which costs 8 bytes a job.
func New(jobs int, byLength bool) *Queue {
	return &Queue{slot: newSlots(jobs), tree: newTree(byLength)}
}

// Len returns how many jobs are in the queue.
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

// plant makes the line a tree.
func (q *Queue) plant() {
	q.line.each(func(p *place) { q.tree.insert(p.key, p.ask, &q.slot) })
	q.line = line{}
}

// Remove takes a job out that is in the queue.
func (q *Queue) Remove(job int32) {
	if q.tree.empty() {
		q.line.remove(q.slot.of(job))
	} else {
		q.tree.remove(job, &q.slot)
	}
	q.slot.end(job)
}

// KeyOf returns the key that a job in the queue was inserted with.
func (q *Queue) KeyOf(job int32) Key {
	if q.tree.empty() {
		return q.line.ring[q.slot.of(job)].key
	}
	return q.tree.keyOf(job, &q.slot)
}

// AskOf returns the ask with which a job in the queue was inserted.
func (q *Queue) AskOf(job int32) Ask {
	if q.tree.empty() {
		return q.line.ring[q.slot.of(job)].ask
	}
	return q.tree.askOf(job, &q.slot)
}

// First appends the first jobs of the queue to a list; most bounds their number.
func (q *Queue) First(most int, jobs []int32) []int32 {
	if q.tree.empty() {
		return q.line.firstOf(most, jobs)
	}
	return q.tree.firstOf(most, jobs)
}

// Limit says which jobs are worth a look: those that ask for at most Free
// cores, and either run for at most Window or ask for at most Spare cores.
type Limit struct {
	Free   int32
	Window time.Duration
	Spare  int32
}

// AnyAsk is more than any job needs.
var AnyAsk = Ask{math.MaxInt32, never}

// Anyone is a limit that excludes no job.
var Anyone = Limit{math.MaxInt32, never, math.MaxInt32}

func (l Limit) allows(a Ask) bool {
	return a.Cores <= l.Free && (a.Length <= l.Window || a.Cores <= l.Spare)
}

// allowsAny reports whether the limit may allow a job with at least the given request.
func (l Limit) allowsAny(least *least) bool {
	return least.cores <= l.Free &&
		(l.Window == never || least.cores <= l.Spare || least.shortest[class(l.Free)] <= code(l.Window))
}

// Next returns the first job after k that is within the limit, or Nobody.
func (q *Queue) Next(after Key, l Limit) int32 {
	if q.tree.empty() {
		if job, ok := q.line.next(after, l); ok {
			return job
		}
		q.plant()
	}
	return q.tree.next(after, l)
}

// Before returns how many jobs of the queue come before k.
func (q *Queue) Before(k Key) int {
	if q.tree.empty() {
		if n, ok := q.line.before(k); ok {
			return n
		}
		q.plant()
	}
	return q.tree.before(k)
}

// Ahead says which jobs wait next, where many start at one instant: those are worth preparing for together.
type Ahead struct {
	starts, due int
	jobs        []int32
}

// Begin begins an instant.
func (a *Ahead) Begin() { a.starts, a.due = 0, 8 }

// Started notes that a job of the queue has started, and returns up to 16 that wait next; usually none. The slice is
// valid until the next call.
func (a *Ahead) Started(q *Queue) []int32 {
	if a.starts++; a.starts < a.due {
		return nil
	}
	a.due += 16
	a.jobs = q.First(16, a.jobs[:0])
	return a.jobs
}

// InsertSorted puts x into a list that is sorted by compare.
func InsertSorted[T any](list []T, x T, compare func(a, b T) int) []T {
	i, _ := slices.BinarySearchFunc(list, x, compare)
	return slices.Insert(list, i, x)
}

// DeleteSorted takes x, which it has, out of a list that is sorted by compare. It moves the elements on the shorter
// side of x: usually the job that is expected to end first does end first.
func DeleteSorted[T any](list []T, x T, compare func(a, b T) int) []T {
	i, _ := slices.BinarySearchFunc(list, x, compare)
	if i < len(list)/2 {
		copy(list[1:i+1], list[:i])
		return list[1:]
	}
	return slices.Delete(list, i, i+1)
}

// Rounds are the rounds of a policy that decides at their starts.
type Rounds struct {
	Length time.Duration // 0 for none
	// Fixed rounds start at the multiples of Length; others when the last one is over.
	Fixed bool
	begun bool
	end   time.Duration // never when the next one may start at any instant
	last  time.Duration // start of the last fixed round
}

// Next returns the instant at which the present round ends, while something runs in it; of
// fixed rounds, the instant at which the next one starts, while something runs or waits.
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

// Starts reports whether a round can start: the last one is over, or nothing runs in it any more.
func (r *Rounds) Starts(runs bool) bool {
	if r.Fixed {
		return r.end == never
	}
	return !r.begun || !runs || r.end == never
}

// Begin begins a round.
func (r *Rounds) Begin(now time.Duration) { r.begun, r.end, r.last = true, now+r.Length, now }
