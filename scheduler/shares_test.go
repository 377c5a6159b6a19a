package scheduler_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/tfexp/tfexp/hardware/simulated"
	. "github.com/tfexp/tfexp/scheduler"
	. "github.com/tfexp/tfexp/scheduler/policy"
)

// When shares are applied under max_prop, a running job below its share grows to
// it, before re-growth can give the cores to another one. By hand, on 8 cores:
//
//   - At 2.619 s A, B and C ask for 5, 8 and 8 cores. Of 8 in proportion that is
//     1.90, 3.05 and 3.05: they hold 2, 3 and 3.
//   - At 8.576 s C ends (17.872 core-seconds on 3 cores), and its cores go to A,
//     which started first, up to its request of 5.
//   - At 8.597 s D asks for 2. Of 8 in proportion to 5, 8 and 2 that is 2.67, 4.27
//     and 1.07; the largest remainder is A's: 3, 4 and 1. A shrinks, B grows from
//     3 to 4, D starts on 1.
func TestRunningJobsGrowToTheirShares(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	var jobs []Job
	var work []simulated.Scaling
	for _, j := range []struct {
		arrival  time.Duration
		cores    int
		coreTime time.Duration
	}{{0, 5, ms(49_953)}, {ms(3), 8, ms(43_439)}, {ms(2619), 8, ms(17_872)}, {ms(8597), 2, ms(59_676)}} {
		jobs = append(jobs, malleable(Job{Arrival: j.arrival, Threads: j.cores, Deadline: Never}))
		work = append(work, simulated.Scaling{Scaled: j.coreTime, Threads: 1, Parallel: 1})
	}
	jobs = number(jobs)
	_, tr := simulate(t, Run{Policy: Policy{Order: FCFS, Allocation: MaxProp}, Cluster: one(8), Jobs: jobs}, work)
	type change struct {
		Kind EventKind
		Job  string
		Held int
	}
	var got []change
	for _, e := range tr.events {
		if e.At == ms(8597) {
			got = append(got, change{e.Kind, jobs[e.Job].Name, e.Cores.Count()})
		}
	}
	want := []change{{Arrive, "D", 0}, {ResizeJob, "A", 3}, {ResizeJob, "B", 4}, {Start, "D", 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("at 8.597 s (-want +got):\n%s", diff)
	}
}
