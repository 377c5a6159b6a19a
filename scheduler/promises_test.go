package scheduler_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/tfexp/tfexp/hardware/simulated"
	. "github.com/tfexp/tfexp/scheduler"
	. "github.com/tfexp/tfexp/scheduler/policy"
)

// Jobs may end before their predictions. Conservative backfill must agree with its definition, second by second. First
// come the ends. After an early end, reservations move earlier in order of arrival, until none can move. Then arrivals
// take the earliest gap. No job starts later than its first reservation.
func TestConservativeKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cores := rapid.IntRange(1, 6).Draw(t, "cores")
		jobs, work := drawJobs(t, one(cores), true)
		slices.SortStableFunc(jobs, func(a, b Job) int { return int(a.Arrival - b.Arrival) })
		for i := range jobs {
			jobs[i].Number = i
			took := time.Duration(rapid.IntRange(1, 9).Draw(t, "took")) * time.Second
			jobs[i].Predicted = took + time.Duration(rapid.IntRange(0, 5).Draw(t, "early by"))*time.Second
			work[i] = simulated.FullRequest(took, jobs[i].Threads)
		}
		out, _ := execute(t, Run{Policy: Policy{Backfill: "conservative"}, Cluster: one(cores), Jobs: jobs}, work,
			simulated.Options{})
		starts, promises := bySecond(cores, jobs, work)
		for i := range jobs {
			got := int(out.Jobs[i].FirstStart / time.Second)
			if got != starts[i] {
				t.Errorf("job %d starts at %d s, by seconds at %d s", i, got, starts[i])
			}
			if got > promises[i] {
				t.Errorf("job %d starts at %d s, but was promised %d s", i, got, promises[i])
			}
		}
	})
}

// bySecond simulates that definition. It returns the starts of jobs and their first reservations.
func bySecond(cores int, jobs []Job, work []simulated.Scaling) (starts, promises []int) {
	const horizon = 1000
	used := make([]int, horizon)
	n := len(jobs)
	starts, promises = make([]int, n), make([]int, n)
	length := func(j int) int { return int(jobs[j].Predicted / time.Second) }
	book := func(j, at, sign int) {
		for s := at; s < at+length(j); s++ {
			used[s] += sign * jobs[j].Threads
		}
	}
	gap := func(j, from int) int {
		for slices.Max(used[from:from+length(j)])+jobs[j].Threads > cores {
			from++
		}
		return from
	}
	var waiting []int
	running := map[int]bool{}
	for now := range horizon - 100 {
		early := false
		for j := range jobs {
			if running[j] && starts[j]+int(work[j].Scaled/time.Second) == now {
				delete(running, j)
				for s := now; s < starts[j]+length(j); s++ {
					used[s] -= jobs[j].Threads
					early = true
				}
			}
		}
		for early {
			early = false
			for _, j := range waiting {
				book(j, starts[j], -1)
				if at := gap(j, now); at < starts[j] {
					starts[j], early = at, true
				}
				book(j, starts[j], 1)
			}
		}
		for j := range jobs {
			if int(jobs[j].Arrival/time.Second) == now {
				starts[j] = gap(j, now)
				promises[j] = starts[j]
				book(j, starts[j], 1)
				waiting = append(waiting, j)
			}
		}
		waiting = slices.DeleteFunc(waiting, func(j int) bool {
			running[j] = running[j] || starts[j] == now
			return starts[j] == now
		})
	}
	return starts, promises
}
