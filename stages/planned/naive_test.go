package planned_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/tfexp/tfexp/hardware/simulated"
	"github.com/tfexp/tfexp/hardware/simulated/schedulertest"
	"github.com/tfexp/tfexp/scheduler"
	"github.com/tfexp/tfexp/scheduler/policy"
	"github.com/tfexp/tfexp/stages/planned"
	_ "github.com/tfexp/tfexp/stages/published" // the orders
)

// room is the cores, GPUs and memory of a node.
type room [3]int

func (r room) holds(need room) bool { return r[0] >= need[0] && r[1] >= need[1] && r[2] >= need[2] }

// task is a job of the naive simulation. Times are in seconds.
type task struct {
	arrival, predicted, took int
	need                     room // on each of its nodes
	nodes                    int
	// Results of the naive simulation.
	start, promise int
	at             []int
}

// drawTasks returns a random cluster, and rigid jobs that fit on it, sorted by arrival. late is by how many seconds a
// job may take longer than predicted.
func drawTasks(random *rand.Rand, late int) (nodes []room, tasks []*task) {
	for range 1 + random.IntN(3) {
		nodes = append(nodes, room{1 + random.IntN(6), random.IntN(4), 1 + random.IntN(8)})
	}
	for range 2 + random.IntN(24) {
		on := nodes[random.IntN(len(nodes))]
		k := &task{
			arrival: random.IntN(40), predicted: 1 + random.IntN(12), nodes: 1, start: -1,
			need: room{1 + random.IntN(on[0]), random.IntN(on[1] + 1), random.IntN(on[2] + 1)},
		}
		k.took = max(k.predicted-random.IntN(6)*random.IntN(2)+random.IntN(late+1), 1)
		fit := 0
		for _, n := range nodes {
			if n.holds(k.need) {
				fit++
			}
		}
		if fit > 1 && random.IntN(3) == 0 {
			k.nodes = 2 + random.IntN(fit-1)
		}
		tasks = append(tasks, k)
	}
	slices.SortStableFunc(tasks, func(a, b *task) int { return a.arrival - b.arrival })
	return nodes, tasks
}

// execute returns the seconds at which jobs start under a policy. ways are the alternatives of a last job, which
// arrives after all others.
func execute(t *testing.T, p policy.Policy, nodes []room, tasks []*task, ways ...scheduler.Alternative) (starts []int) {
	t.Helper()
	r := scheduler.Run{Policy: p}
	for i, n := range nodes {
		r.Cluster.Nodes = append(r.Cluster.Nodes,
			scheduler.Node{Name: fmt.Sprint(i), Threads: n[0], GPUs: n[1], Memory: int64(n[2])})
	}
	var work []simulated.Scaling
	for i, k := range tasks {
		j := scheduler.Job{
			Number: i, Name: fmt.Sprint(i), Arrival: time.Duration(k.arrival) * time.Second, Deadline: scheduler.Never,
			Threads: k.need[0] * k.nodes, GPUs: k.need[1] * k.nodes, Memory: int64(k.need[2] * k.nodes),
			Predicted: time.Duration(k.predicted) * time.Second,
		}
		if k.nodes > 1 {
			j.Nodes = k.nodes
		}
		r.Jobs = append(r.Jobs, j)
		work = append(work, simulated.FullRequest(time.Duration(k.took)*time.Second, j.Threads))
	}
	if len(ways) > 0 {
		r.Jobs = append(r.Jobs, schedulertest.OnTypes(scheduler.Job{
			Number: len(tasks), Name: "last", Arrival: horizon * time.Second, Deadline: scheduler.Never, Threads: 1,
			Predicted: time.Second,
		}, ways...))
		w := simulated.FullRequest(time.Second, 1)
		for _, a := range ways {
			w.AddAlternative(simulated.FullRequest(a.Predicted, a.Threads))
		}
		work = append(work, w)
	}
	var err error
	if r.Engine, err = simulated.New(r.Jobs, work, simulated.Options{}); err != nil {
		t.Fatal(err)
	}
	o, err := r.Execute(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range o.Jobs[:len(tasks)] {
		starts = append(starts, int(j.FirstStart/time.Second))
	}
	return starts
}

// firsts returns the first nodes with room for a job.
func firsts(free []room, k *task) (nodes []int) {
	for v, r := range free {
		if len(nodes) < k.nodes && r.holds(k.need) {
			nodes = append(nodes, v)
		}
	}
	if len(nodes) < k.nodes {
		return nil
	}
	return nodes
}

// calendar has the free resources of each node for each second.
type calendar [][]room

const horizon = 2400

func newCalendar(nodes []room) calendar {
	c := make(calendar, horizon)
	for s := range c {
		c[s] = slices.Clone(nodes)
	}
	return c
}

// change adds to the free resources; with sign -1 it subtracts.
func (c calendar) change(k *task, from, to, sign int) {
	for s := from; s < to; s++ {
		for _, v := range k.at {
			for i := range k.need {
				c[s][v][i] += sign * k.need[i]
			}
		}
	}
}

// gap returns the first second at which a job has room until its end, and the nodes.
func (c calendar) gap(k *task, from int) (start int, at []int) {
	for s := from; ; s++ {
		least := slices.Clone(c[s])
		for _, rooms := range c[s : s+k.predicted] {
			for v, r := range rooms {
				for i := range r {
					least[v][i] = min(least[v][i], r[i])
				}
			}
		}
		if at := firsts(least, k); at != nil {
			return s, at
		}
	}
}

// conservative simulates conservative backfill second by second. When jobs end early, reservations move to earlier
// starts, in order, until none can move. Jobs that arrive reserve the earliest gap.
func conservative(nodes []room, tasks []*task, order func(a, b *task) int) {
	c := newCalendar(nodes)
	var waiting []*task
	running := map[*task]bool{}
	for now := range horizon / 2 {
		early := false
		for _, k := range tasks {
			if running[k] && k.start+k.took == now {
				delete(running, k)
				c.change(k, now, k.start+k.predicted, 1)
				early = early || k.took < k.predicted
			}
		}
		move := func() (again bool) {
			for _, k := range waiting {
				c.change(k, k.start, k.start+k.predicted, 1)
				if s, at := c.gap(k, now); s < k.start {
					k.start, k.at, again = s, at, true
				}
				c.change(k, k.start, k.start+k.predicted, -1)
			}
			return again
		}
		var fresh []*task
		for _, k := range tasks {
			if k.arrival == now {
				fresh = append(fresh, k)
			}
		}
		for again := early; again; {
			again = move()
		}
		slices.SortStableFunc(fresh, order)
		for _, k := range fresh {
			k.start, k.at = c.gap(k, now)
			k.promise = k.start
			c.change(k, k.start, k.start+k.predicted, -1)
			waiting = append(waiting, k)
		}
		slices.SortStableFunc(waiting, order)
		waiting = slices.DeleteFunc(waiting, func(k *task) bool {
			running[k] = running[k] || k.start == now
			return k.start == now
		})
	}
}

// TestReservationsOfManyNodes compares reservations with a simulation second by second. Jobs end as predicted or
// earlier, on nodes with GPUs and memory. No job starts later than its first reservation.
func TestReservationsOfManyNodes(t *testing.T) {
	random := rand.New(rand.NewPCG(31, 1))
	orders := map[policy.Order]func(a, b *task) int{
		policy.FCFS: func(a, b *task) int { return a.arrival - b.arrival },
		policy.SJF:  func(a, b *task) int { return cmp.Or(a.predicted-b.predicted, a.arrival-b.arrival) },
	}
	for round := range 150 {
		nodes, tasks := drawTasks(random, 0)
		for order, compare := range orders {
			got := execute(t, policy.Policy{Order: order, Backfill: "conservative"}, nodes, tasks)
			conservative(nodes, tasks, compare)
			for i, k := range tasks {
				if got[i] != k.start || got[i] > k.promise {
					t.Fatalf("round %d, %s: job %d starts at %d s, want %d s, promised %d s", round, order, i, got[i],
						k.start, k.promise)
				}
			}
		}
	}
}

// TestReservationsOfALongQueue makes the same comparison for many jobs. Some need several nodes, and request up to ten
// times their run time.
func TestReservationsOfALongQueue(t *testing.T) {
	random := rand.New(rand.NewPCG(32, 1))
	for round := range 40 {
		var nodes []room
		for range 1 + round%4 {
			nodes = append(nodes, room{16 + 16*random.IntN(2), 0, 0})
		}
		var tasks []*task
		for i := range 70 {
			took := 1 + random.IntN(4)
			k := &task{
				arrival: i / 6, predicted: min(took*(1+random.IntN(10)), 25), took: took, nodes: 1,
				need: room{1 << random.IntN(5), 0, 0},
			}
			if round%3 == 2 && random.IntN(4) == 0 {
				k.nodes = 1 + random.IntN(len(nodes))
			}
			tasks = append(tasks, k)
		}
		got := execute(t, policy.Policy{Backfill: "conservative"}, nodes, tasks)
		conservative(nodes, tasks, func(a, b *task) int { return a.arrival - b.arrival })
		for i, k := range tasks {
			if got[i] != k.start || got[i] > k.promise {
				t.Fatalf("round %d: job %d starts at %d s, want %d s, promised %d s", round, i, got[i], k.start, k.promise)
			}
		}
	}
}

// settled is conservative backfill that checks at each dispatch whether a reservation could move.
type settled struct {
	book    *planned.Reservations
	t       *testing.T
	movable bool
}

func (s *settled) Waits(job int32) { s.book.AddWaiting(job) }

func (s *settled) HeldBack(scheduler.View, int32) string { return "" }

func (s *settled) Admit(v scheduler.View, h scheduler.Actions) error {
	err := s.book.Dispatch(v, func(job, cores int32, nodes []int32) error { return h.Start(job, cores, nodes, "") })
	if job := s.book.Movable(); job >= 0 && !s.movable {
		s.t.Errorf("at %s: job %d could start before its reservation", v.Now(), job)
		s.movable = true
	}
	return err
}

// TestNoReservationCanMove checks that after each dispatch no job could start earlier than planned, even if jobs take
// longer than predicted.
func TestNoReservationCanMove(t *testing.T) {
	var last *settled
	policy.RegisterBackfill(policy.BackfillChoice{
		Choice: policy.Choice{Name: "settled", Title: "Settled", Doc: "a test", Place: 99, Estimates: true},
		Passes: true, Reserves: true, Promises: true,
		HeldBack: func(scheduler.View, *policy.Reservation) string { return "" },
		New: func(s policy.Setup) scheduler.Admitter {
			last = &settled{book: planned.NewReservations(len(s.Run.Jobs)), t: t}
			return last
		},
	})
	random := rand.New(rand.NewPCG(35, 1))
	for round := range 300 {
		nodes, tasks := drawTasks(random, round%7)
		got := execute(t, policy.Policy{Backfill: "settled"}, nodes, tasks)
		if same := execute(t, policy.Policy{Backfill: "conservative"}, nodes, tasks); !slices.Equal(got, same) {
			t.Fatalf("round %d: %v and %v", round, got, same)
		}
		if last.movable {
			t.Fatalf("round %d", round)
		}
	}
}

// easy simulates EASY backfill second by second. Jobs start in the order of arrival. The first job without room
// reserves the earliest time at which it will have room by the predicted ends. Later jobs may start if they end before
// that time, or leave it enough room.
func easy(nodes []room, tasks []*task) {
	var waiting, running []*task
	for now := range horizon {
		some := false
		free := slices.Clone(nodes)
		running = slices.DeleteFunc(running, func(k *task) bool {
			some = some || k.start+k.took == now
			return k.start+k.took == now
		})
		take := func(free []room, k *task, at []int, sign int) {
			for _, v := range at {
				for i := range k.need {
					free[v][i] -= sign * k.need[i]
				}
			}
		}
		for _, k := range running {
			take(free, k, k.at, 1)
		}
		for _, k := range tasks {
			if k.arrival == now {
				waiting, some = append(waiting, k), true
			}
		}
		if !some {
			continue
		}
		var first *task
		reserved, then := -1, []room(nil) // the reserved time, and the free resources then
		waiting = slices.DeleteFunc(waiting, func(k *task) bool {
			at := firsts(free, k)
			if at == nil {
				if first == nil {
					first = k
					ends := []int{now}
					for _, r := range running {
						ends = append(ends, max(r.start+r.predicted, now))
					}
					slices.Sort(ends)
					for _, end := range ends {
						rooms := slices.Clone(free)
						for _, r := range running {
							if max(r.start+r.predicted, now) <= end {
								take(rooms, r, r.at, -1)
							}
						}
						if reserved < 0 && firsts(rooms, k) != nil {
							reserved, then = end, rooms
						}
					}
				}
				return false
			}
			if first != nil && now+k.predicted > reserved {
				beside := slices.Clone(then)
				if take(beside, k, at, 1); firsts(beside, first) == nil {
					return false
				}
				then = beside
			}
			take(free, k, at, 1)
			k.start, k.at = now, at
			running = append(running, k)
			return true
		})
	}
}

// TestOneReservationOfManyNodes compares EASY backfill with the simulation. Jobs end before or after their prediction.
func TestOneReservationOfManyNodes(t *testing.T) {
	random := rand.New(rand.NewPCG(33, 1))
	for round := range 200 {
		nodes, tasks := drawTasks(random, 4)
		got := execute(t, policy.Policy{Backfill: policy.EASY}, nodes, tasks)
		easy(nodes, tasks)
		for i, k := range tasks {
			if got[i] != k.start {
				t.Fatalf("round %d: job %d starts at %d s, want %d s", round, i, got[i], k.start)
			}
		}
	}
}

// anew simulates plans that are made again at each arrival and end: each waiting job gets the earliest gap next to the
// jobs before it.
func anew(nodes []room, tasks []*task) {
	var waiting, running []*task
	for now := range horizon / 2 {
		some := false
		running = slices.DeleteFunc(running, func(k *task) bool {
			some = some || k.start+k.took == now
			return k.start+k.took == now
		})
		for _, k := range tasks {
			if k.arrival == now {
				waiting, some = append(waiting, k), true
			}
		}
		if !some {
			continue
		}
		c := newCalendar(nodes)
		for _, k := range running {
			c.change(k, now, k.start+k.predicted, -1)
		}
		waiting = slices.DeleteFunc(waiting, func(k *task) bool {
			k.start, k.at = c.gap(k, now)
			c.change(k, k.start, k.start+k.predicted, -1)
			if k.start == now {
				running = append(running, k)
			}
			return k.start == now
		})
	}
}

// TestPlansMadeAnew checks that, if a job has several alternatives, nothing is kept from one dispatch to the next.
func TestPlansMadeAnew(t *testing.T) {
	random := rand.New(rand.NewPCG(34, 1))
	for round := range 200 {
		nodes, tasks := drawTasks(random, 0)
		got := execute(t, policy.Policy{Backfill: "conservative"}, nodes, tasks,
			scheduler.Alternative{Threads: 1, Predicted: time.Second})
		anew(nodes, tasks)
		for i, k := range tasks {
			if got[i] != k.start {
				t.Fatalf("round %d: job %d starts at %d s, want %d s", round, i, got[i], k.start)
			}
		}
	}
}
