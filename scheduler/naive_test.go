package scheduler_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tfexp/tfexp/hardware/simulated"
	. "github.com/tfexp/tfexp/scheduler"
	. "github.com/tfexp/tfexp/scheduler/policy"
)

// naive simulates rigid jobs on one node as simply as possible. Whenever a job arrives or ends, a rule chooses the next
// job to start, until it chooses none.
type naive struct {
	node    Node
	jobs    []Job
	waiting []int // in order of arrival
	ends    map[int]time.Duration
	now     time.Duration
	passed  map[string]bool // users that start no further job at this instant
}

// free returns the resources of the node that are free at a time if no further job starts.
func (n *naive) free(at time.Duration) Node {
	left := n.node
	for j, end := range n.ends {
		if end > at {
			left.Threads, left.GPUs, left.Memory = left.Threads-n.jobs[j].Threads, left.GPUs-n.jobs[j].GPUs,
				left.Memory-n.jobs[j].Memory
		}
	}
	return left
}

func fitsIn(j *Job, left Node) bool {
	return j.Threads <= left.Threads && j.GPUs <= left.GPUs && j.Memory <= left.Memory
}

// run returns the starts in order, such as "job@instant".
func (n *naive) run(next func(*naive) int) (starts []string) {
	arrived := 0
	n.ends = map[int]time.Duration{}
	for {
		at := Never
		if arrived < len(n.jobs) {
			at = n.jobs[arrived].Arrival
		}
		for _, end := range n.ends {
			at = min(at, end)
		}
		if at == Never {
			return starts
		}
		n.now = at
		for j, end := range n.ends {
			if end <= at {
				delete(n.ends, j)
			}
		}
		for arrived < len(n.jobs) && n.jobs[arrived].Arrival <= at {
			n.waiting = append(n.waiting, arrived)
			arrived++
		}
		n.passed = map[string]bool{}
		for j := next(n); j >= 0; j = next(n) {
			starts = append(starts, fmt.Sprintf("%d@%s", j, at))
			n.ends[j] = at + n.jobs[j].Predicted
			n.waiting = slices.DeleteFunc(n.waiting, func(w int) bool { return w == j })
		}
	}
}

// inOrder returns a rule that starts jobs in an order. pass reports whether a job may pass the first job without room.
func inOrder(less func(a, b *Job) int, pass func(n *naive, first, j int) bool) func(*naive) int {
	return func(n *naive) int {
		queue := slices.Clone(n.waiting)
		slices.SortStableFunc(queue, func(a, b int) int { return less(&n.jobs[a], &n.jobs[b]) })
		for i, j := range queue {
			if fitsIn(&n.jobs[j], n.free(n.now)) && (i == 0 || pass(n, queue[0], j)) {
				return j
			}
		}
		return -1
	}
}

// easy lets job j pass if the first job can still start as early as without j.
func easy(n *naive, first, j int) bool {
	at := Never
	for _, end := range n.ends {
		if fitsIn(&n.jobs[first], n.free(end)) {
			at = min(at, end)
		}
	}
	left := n.free(at)
	if n.now+n.jobs[j].Predicted > at {
		left.Threads, left.GPUs, left.Memory = left.Threads-n.jobs[j].Threads, left.GPUs-n.jobs[j].GPUs,
			left.Memory-n.jobs[j].Memory
	}
	return fitsIn(&n.jobs[first], left)
}

// holds returns the holdings of a user's jobs, as fractions of the node's cores, GPUs and memory.
func (n *naive) holds(user string) (parts [3]float64) {
	for j := range n.ends {
		if n.jobs[j].User == user {
			parts[0] += float64(n.jobs[j].Threads) / float64(n.node.Threads)
			parts[1] += float64(n.jobs[j].GPUs) / float64(max(n.node.GPUs, 1))
			parts[2] += float64(n.jobs[j].Memory) / float64(n.node.Memory)
		}
	}
	return parts
}

// leastShare is the rule of dominant resource fairness.
func leastShare(n *naive) int {
	for {
		best, least := -1, 0.0
		seen := map[string]bool{}
		for _, j := range n.waiting {
			if user := n.jobs[j].User; !seen[user] && !n.passed[user] {
				seen[user] = true
				parts := n.holds(user)
				if share := slices.Max(parts[:]); best < 0 || share < least {
					best, least = j, share
				}
			}
		}
		if best < 0 || fitsIn(&n.jobs[best], n.free(n.now)) {
			return best
		}
		n.passed[n.jobs[best].User] = true
	}
}

// equalParts returns a rule that gives each user the same fraction of the node. The first job of a user may be larger.
func equalParts(names []string) func(*naive) int {
	return func(n *naive) int {
		for _, user := range names {
			for _, j := range n.waiting {
				if n.jobs[j].User != user {
					continue
				}
				held, more := n.holds(user), [3]float64{float64(n.jobs[j].Threads) / float64(n.node.Threads),
					float64(n.jobs[j].GPUs) / float64(max(n.node.GPUs, 1)), float64(n.jobs[j].Memory) / float64(n.node.Memory)}
				within := fitsIn(&n.jobs[j], n.free(n.now))
				for i := range held {
					if held != [3]float64{} && more[i] > 0 && (held[i]+more[i])*float64(len(names)) > 1+1e-12 {
						within = false
					}
				}
				if within {
					return j
				}
				break
			}
		}
		return -1
	}
}

// Rigid jobs on one node start at the same times and in the same order as in the simple simulation.
func TestRigidJobsByTheBook(t *testing.T) {
	arrival := func(*Job, *Job) int { return 0 } // order of arrival
	shortest := func(a, b *Job) int { return cmp.Compare(a.Predicted, b.Predicted) }
	never := func(*naive, int, int) bool { return false }
	always := func(*naive, int, int) bool { return true }
	rapid.Check(t, func(t *rapid.T) {
		node := Node{Name: "n", Threads: rapid.IntRange(1, 8).Draw(t, "cores"), GPUs: rapid.IntRange(0, 2).Draw(t, "GPUs"),
			Memory: int64(rapid.IntRange(4, 12).Draw(t, "memory"))}
		jobs := make([]Job, rapid.IntRange(1, 14).Draw(t, "jobs"))
		var names []string
		arrives := 0
		for i := range jobs {
			arrives += rapid.IntRange(0, 2).Draw(t, "later")
			j := at(arrives, rapid.IntRange(1, node.Threads).Draw(t, "threads"), float64(rapid.IntRange(1, 8).Draw(t, "seconds")))
			j.GPUs = rapid.IntRange(0, node.GPUs).Draw(t, "of GPUs")
			j.Memory = int64(rapid.IntRange(0, int(node.Memory)).Draw(t, "of memory"))
			j.User = rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "user")
			if !slices.Contains(names, j.User) {
				names = append(names, j.User)
			}
			jobs[i] = j
		}
		number(jobs)
		for _, c := range []struct {
			policy Policy
			next   func(*naive) int
		}{
			{Policy{Order: FCFS}, inOrder(arrival, never)},
			{Policy{Order: FCFS, Backfill: FirstFit}, inOrder(arrival, always)},
			{Policy{Order: FCFS, Backfill: EASY}, inOrder(arrival, easy)},
			{Policy{Order: SJF}, inOrder(shortest, never)},
			{Policy{Order: SJF, Backfill: FirstFit}, inOrder(shortest, always)},
			{Policy{Order: SJF, Backfill: EASY}, inOrder(shortest, easy)},
			{Policy{Order: "drf"}, leastShare},
			{Policy{Order: "equal_share"}, equalParts(names)},
		} {
			n := &naive{node: node, jobs: jobs}
			want := n.run(c.next)
			r := Run{Policy: c.policy, Cluster: Cluster{Nodes: []Node{node}}, Jobs: slices.Clone(jobs)}
			_, tr := execute(t, r, works(jobs), simulated.Options{})
			var got []string
			for _, e := range tr.events {
				if e.Kind == Start {
					got = append(got, fmt.Sprintf("%d@%s", e.Job, e.At))
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: starts %v, by the book %v", c.policy, got, want)
			}
		}
	})
}
