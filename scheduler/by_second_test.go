package scheduler_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tfexp/tfexp/hardware/simulated"
	. "github.com/tfexp/tfexp/scheduler"
	. "github.com/tfexp/tfexp/scheduler/policy"
)

// secondly simulates rigid jobs on one node second by second, under round robin or the shortest remaining time first.
// It is written from the definitions of these orders in docs/language.md.
type secondly struct {
	cores, quantum int
	start, resume  int // seconds for which a job holds its cores before it makes progress
	jobs           []secondJob
	queue          []int // waiting jobs, in round robin in the order in which they are served
}

type secondJob struct {
	arrival, threads, left int
	held                   int // remaining seconds of starting or resuming
	since                  int // when its quantum began
	ran                    int
	running, done, started bool
	on                     []int    // the cores that it has or had last
	life                   []string // "start@3"
}

// free returns the cores that no job holds.
func (s *secondly) free() (free []int) {
	for core := range s.cores {
		if !slices.ContainsFunc(s.jobs, func(j secondJob) bool { return j.running && slices.Contains(j.on, core) }) {
			free = append(free, core)
		}
	}
	return free
}

// choose returns the cores for a job: its former cores if all of them are free, otherwise the first free cores.
func (s *secondly) choose(i int) []int {
	free, had := s.free(), s.jobs[i].on
	if len(had) > 0 && !slices.ContainsFunc(had, func(core int) bool { return !slices.Contains(free, core) }) {
		return had
	}
	return free[:s.jobs[i].threads]
}

func (s *secondly) note(i int, what string, now int) {
	s.jobs[i].life = append(s.jobs[i].life, fmt.Sprintf("%s@%d", what, now))
}

// run simulates all jobs, and returns for each job its events with their times.
func (s *secondly) run(each func(now int)) {
	for now := 0; slices.ContainsFunc(s.jobs, func(j secondJob) bool { return !j.done }) && now < 10_000; now++ {
		for i := range s.jobs {
			if j := &s.jobs[i]; j.running && j.left == 0 && j.held == 0 {
				j.running, j.done = false, true
				s.note(i, "finish", now)
			}
		}
		for i := range s.jobs {
			if s.jobs[i].arrival == now {
				s.queue = append(s.queue, i)
			}
		}
		each(now)
		for i := range s.jobs {
			switch j := &s.jobs[i]; {
			case !j.running:
			case j.held > 0:
				j.held--
				j.ran++
			default:
				j.left--
				j.ran++
			}
		}
	}
}

func (s *secondly) begin(i, now int) {
	j := &s.jobs[i]
	j.on = s.choose(i)
	j.running, j.since = true, now
	if what := "resume"; j.started {
		j.held = s.resume + j.held
		s.note(i, what, now)
		return
	}
	j.started, j.held = true, s.start
	s.note(i, "start", now)
}

// turns does what round robin does in one second. If jobs wait, a job whose quantum is over goes to the end of the
// queue. Then jobs start from the front of the queue while they fit. A job that gets the same cores again at once is
// not paused.
func (s *secondly) turns(now int) {
	var left []int
	for i := range s.jobs {
		j := &s.jobs[i]
		if !j.running || now == j.since || (now-j.since)%s.quantum != 0 {
			continue
		}
		if j.since = now; len(s.queue) > 0 {
			j.running = false
			s.queue = append(s.queue, i)
			left = append(left, i)
		}
	}
	for len(s.queue) > 0 && s.jobs[s.queue[0]].threads <= len(s.free()) {
		i := s.queue[0]
		s.queue = s.queue[1:]
		if at := slices.Index(left, i); at >= 0 {
			left = slices.Delete(left, at, at+1)
			if j := &s.jobs[i]; slices.Equal(j.on, s.choose(i)) {
				j.running = true
				continue
			}
			s.note(i, "pause", now)
		}
		s.begin(i, now)
	}
	for _, i := range left {
		s.note(i, "pause", now)
	}
}

// shortest acts as the shortest remaining time first in one second. Waiting jobs start in this order. A job that does
// not fit pauses jobs with more remaining time, the longest running first, if that makes enough room. Otherwise no
// other job starts.
func (s *secondly) shortest(now int) {
	for {
		slices.SortFunc(s.queue, func(a, b int) int {
			x, y := &s.jobs[a], &s.jobs[b]
			return 4*(x.left-y.left) + 2*sign(x.arrival-y.arrival) + sign(a-b)
		})
		if len(s.queue) == 0 {
			return
		}
		i := s.queue[0]
		var victims []int
		for v := range s.jobs {
			if s.jobs[v].running && s.jobs[v].left > s.jobs[i].left {
				victims = append(victims, v)
			}
		}
		slices.SortFunc(victims, func(a, b int) int {
			x, y := &s.jobs[a], &s.jobs[b]
			return 8*sign(y.ran-x.ran) + 4*sign(x.threads-y.threads) + sign(b-a)
		})
		room, n := len(s.free()), 0
		for ; n < len(victims) && room < s.jobs[i].threads; n++ {
			room += s.jobs[victims[n]].threads
		}
		if room < s.jobs[i].threads {
			return
		}
		s.queue = s.queue[1:]
		for _, v := range victims[:n] {
			s.jobs[v].running = false
			s.note(v, "pause", now)
			s.queue = append(s.queue, v)
		}
		s.begin(i, now)
	}
}

func sign(n int) int { return min(max(n, -1), 1) }

// TestPausingOrdersBySecond compares the kernel with a simulation second by second, on random workloads.
func TestPausingOrdersBySecond(t *testing.T) { rapid.Check(t, pausingOrdersBySecond) }

// FuzzPausingOrdersBySecond is the same test as a fuzz target: go test ./scheduler -fuzz PausingOrders.
func FuzzPausingOrdersBySecond(f *testing.F) { f.Fuzz(rapid.MakeFuzz(pausingOrdersBySecond)) }

func pausingOrdersBySecond(t *rapid.T) {
	s := &secondly{cores: rapid.IntRange(1, 6).Draw(t, "cores"), quantum: rapid.IntRange(1, 4).Draw(t, "quantum")}
	turns := rapid.Bool().Draw(t, "round robin")
	if turns {
		most := min(2, s.quantum-1) // otherwise no job makes progress
		s.start, s.resume = rapid.IntRange(0, most).Draw(t, "start"), rapid.IntRange(0, most).Draw(t, "resume")
	}
	n, arrival := rapid.IntRange(1, 12).Draw(t, "jobs"), 0
	var jobs []Job
	for range n {
		arrival += rapid.IntRange(0, 3).Draw(t, "later")
		j := secondJob{arrival: arrival, threads: rapid.IntRange(1, s.cores).Draw(t, "threads"),
			left: rapid.IntRange(1, 9).Draw(t, "seconds")}
		s.jobs = append(s.jobs, j)
		jobs = append(jobs, at(j.arrival, j.threads, float64(j.left)))
	}
	number(jobs)
	p := Policy{Order: "srtf", Victims: LongestRun}
	each := s.shortest
	if turns {
		p = Policy{Order: RoundRobin, Settings: Settings{"quantum": time.Duration(s.quantum) * time.Second}}
		each = s.turns
	}
	_, tr := execute(t, Run{Policy: p, Cluster: one(s.cores), Jobs: jobs}, works(jobs), simulated.Options{
		Overheads: simulated.Overheads{Start: time.Duration(s.start) * time.Second, Resume: time.Duration(s.resume) * time.Second}})
	s.run(each)
	got := make([][]string, n)
	for _, e := range tr.events {
		if e.Kind != Arrive {
			got[e.Job] = append(got[e.Job], fmt.Sprintf("%s@%g", e.Kind, e.At.Seconds()))
		}
	}
	for i := range got {
		if !slices.Equal(got[i], s.jobs[i].life) {
			t.Errorf("%s: job %d of %+v: %v, by the second %v", p, i, jobs[i], got[i], s.jobs[i].life)
		}
	}
}
